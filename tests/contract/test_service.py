"""The whole service against a model in plain dictionaries, on every store, with restarts in between."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from kaczmatch.learners.prior import Prior
from kaczmatch.service.domain import refolding
from kaczmatch.service.domain.records import Block, LatestDecision, MatchSide
from kaczmatch.service.domain.refusals import Conflict, NotFound, Refusal, Reused
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.open_deck import OpenDeck
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations import trait_pass
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import MemoryStore, SqlStore
from worlds.town import Town

pytestmark = pytest.mark.slow  # many random histories

WOMEN, MEN = ("w0", "w1", "w2"), ("m0", "m1", "m2")
EVERYBODY = WOMEN + MEN
COOLDOWN = timedelta(days=14)


class Life(RuleBasedStateMachine):
    """What a few people may do to each other; `decisions`, `matches` and `blocks` are what must come of it."""

    learner: ClassVar[tuple[str, dict[str, Any]]] = ("probit-diag", {"appeal": True})
    open: Callable[[], Store]
    again: Callable[[Store], Store]

    @initialize()
    def begin(self) -> None:
        self.town = self.town_on(type(self).open())
        self.decisions: dict[tuple[str, str], list[str]] = {}
        self.matches: set[frozenset[str]] = set()
        self.ended: set[frozenset[str]] = set()
        self.blocks: set[tuple[str, str]] = set()
        self.swipes: dict[tuple[str, str], tuple[Swipe, str | None]] = {}
        self.last: dict[str, str] = {}
        self.here: set[str] = set()
        self.paused: set[str] = set()
        self.hands: dict[str, OpenDeck] = {}
        self.sent = 0
        for user in EVERYBODY:
            self.move_in(user)

    def town_on(self, store: Store, before: Town | None = None) -> Town:
        slug, settings = self.learner
        return Town(store, learner=slug, settings=settings, before=before)

    def teardown(self) -> None:
        if hasattr(self, "town"):
            self.town.relearning.resume()
            assert verify(self.town.context).problems == ()
            self.town.context.store.close()

    @rule(user=st.sampled_from(EVERYBODY))
    def move_in(self, user: str) -> None:
        self.town.move_in(user, man=user in MEN, tags=["jazz" if user[1] == "0" else "chess"])
        self.here.add(user)

    @rule(user=st.sampled_from(EVERYBODY), paused=st.booleans())
    def pause(self, user: str, paused: bool) -> None:
        if user in self.here:
            self.town.people.pause(user, paused=paused).result()
            (self.paused.add if paused else self.paused.discard)(user)

    @rule(user=st.sampled_from(EVERYBODY))
    def deal(self, user: str) -> None:
        if user not in self.here or user in self.paused:
            with pytest.raises(Refusal):
                self.town.deck(user)
            return
        hand = self.town.deck(user)
        self.hands[user] = hand
        shown = {card.person.id for card in hand.cards}
        others = set(WOMEN if user in MEN else MEN)
        assert shown <= (others & self.here) - self.paused
        for other in shown:
            assert frozenset({user, other}) not in self.matches | self.ended, "matched people met again"
            assert not {(user, other), (other, user)} & self.blocks, "blocked people met"

    @precondition(lambda self: any(hand.cards for hand in self.hands.values()))
    @rule(data=st.data(), decision=st.sampled_from(["like", "like", "pass", "skip"]))
    def swipe(self, data: st.DataObject, decision: str) -> None:
        user = data.draw(st.sampled_from(sorted(user for user, hand in self.hands.items() if hand.cards)))
        chosen = data.draw(st.sampled_from(self.hands[user].cards))
        card, other = chosen.impression, chosen.person
        self.town.wait(seconds=1)
        self.sent += 1
        identifier = f"s{self.sent}"
        swipe = Swipe(user=user, id=identifier, candidate=other.id, decision=decision, deck=card.deck)
        pair = frozenset({user, other.id})
        gone = user not in self.here or other.id not in self.here or {(user, other.id), (other.id, user)} & self.blocks
        try:
            answer = self.town.swiping.swipe(swipe).result()
        except NotFound:
            assert gone, "a card that could be answered was refused"
            return
        except Conflict:
            answered = any(
                one.candidate == other.id and one.deck == card.deck for one, _ in self.swipes.values() if one.user == user
            )
            assert user in self.paused or pair in self.matches | self.ended or answered
            return
        assert not gone
        self.decisions.setdefault((user, other.id), []).append(decision)
        mutual = decision == "like" and (self.decisions.get((other.id, user)) or [""])[-1] == "like"
        assert (answer.match is not None) == mutual
        if mutual:
            self.matches.add(pair)
        self.swipes[user, identifier] = swipe, answer.match
        self.last[user] = identifier

    @precondition(lambda self: self.swipes)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        swipe, match = data.draw(st.sampled_from(sorted(self.swipes.values(), key=lambda one: one[0].id)))
        answer = self.town.swiping.swipe(swipe).result()
        assert answer.repeated
        assert answer.match == match
        with pytest.raises(Reused):
            self.town.swiping.swipe(replace(swipe, deck="another")).result()

    @precondition(lambda self: self.last)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        user = data.draw(st.sampled_from(sorted(self.last)))
        swipe, _ = self.swipes[user, self.last[user]]
        if frozenset({user, swipe.candidate}) in self.matches | self.ended:
            with pytest.raises(Conflict):
                self.town.undoing.undo(user, swipe.id).result()
            return
        self.town.undoing.undo(user, swipe.id).result()
        self.decisions[user, swipe.candidate].pop()
        del self.last[user], self.swipes[user, swipe.id]
        self.hands.pop(user, None)

    @rule(user=st.sampled_from(EVERYBODY), other=st.sampled_from(EVERYBODY), take_back=st.booleans())
    def block(self, user: str, other: str, take_back: bool) -> None:
        if user == other or not {user, other} <= self.here:
            return
        if take_back:
            self.town.safety.unblock(user, other).result()
            self.blocks.discard((user, other))
            return
        self.town.safety.block(user, other).result()
        self.blocks.add((user, other))
        pair = frozenset({user, other})
        if pair in self.matches:
            self.matches.discard(pair)
            self.ended.add(pair)

    @rule(user=st.sampled_from(EVERYBODY))
    def end_session(self, user: str) -> None:
        if user in self.here:
            self.town.swiping.end_session(user).result()

    @rule(user=st.sampled_from(EVERYBODY))
    def reset(self, user: str) -> None:
        if user in self.here:
            self.town.undoing.reset(user).result()
            self.last.pop(user, None)

    @rule(user=st.sampled_from(EVERYBODY))
    def erase(self, user: str) -> None:
        if user not in self.here:
            with pytest.raises(NotFound):
                self.town.erasing.erase(user)
            return
        self.town.erasing.erase(user)
        self.here.discard(user)
        self.paused.discard(user)
        self.decisions = {pair: said for pair, said in self.decisions.items() if user not in pair}
        self.swipes = {key: one for key, one in self.swipes.items() if user not in (one[0].user, one[0].candidate)}
        self.last = {who: swipe for who, swipe in self.last.items() if (who, swipe) in self.swipes}
        self.matches, self.ended = ({pair for pair in some if user not in pair} for some in (self.matches, self.ended))
        self.blocks = {pair for pair in self.blocks if user not in pair}
        # Their cards went with them; if they come back, it is as somebody new.
        self.hands = {
            who: replace(hand, cards=tuple(one for one in hand.cards if one.person.id != user))
            for who, hand in self.hands.items()
            if who != user
        }

    @rule(days=st.sampled_from([0.01, 1.0, 14.0, 40.0]))
    def wait(self, days: float) -> None:
        self.town.wait(days=days)
        Maintenance(self.town.context).run()
        self.hands.clear() if days > 1.0 else None

    @rule(add=st.booleans())
    def change_words(self, add: bool) -> None:
        number = self.town.world.current.vocabulary
        if add and number < 4:
            self.town.models.change_vocabulary(lambda words: words.add(tags=[f"new {number}"]))
            self.town.world.follow()

    @rule()
    def restart(self) -> None:
        """Nothing but the store outlives a process."""
        self.town = self.town_on(type(self).again(self.town.context.store), before=self.town)

    @invariant()
    def the_store_says_what_happened(self) -> None:
        if not hasattr(self, "town"):
            return
        stored = {(pair.user, pair.candidate): pair.decision for pair in self.town.find(LatestDecision)}
        assert stored == {pair: said[-1] for pair, said in self.decisions.items() if said}
        sides = {(one.user, one.other): one.ended for one in self.town.find(MatchSide)}
        for pair in self.matches | self.ended:
            one, other = sorted(pair)
            assert {(one, other), (other, one)} <= set(sides)
            assert (sides[one, other] is None) == (pair in self.matches)
        assert len(sides) == 2 * len(self.matches | self.ended)
        assert {(one.user, one.other) for one in self.town.find(Block)} == self.blocks


class _Killed(Exception):
    pass


class LifeWithTraits(Life):
    """The same with traits; and now and then another fit, whose pass through the log is killed on the way and goes on later."""

    learner = ("probit-traits", {"traits": 2})

    @rule(seed=st.integers(0, 999), traits=st.integers(0, 3), steps=st.integers(0, 4))
    def refit(self, seed: int, traits: int, steps: int) -> None:
        with suppress(_Killed, Conflict):  # of which the second says that another is being built
            self.town.relearning.relearn(*fitted(seed, traits, self.town.models.vocabulary().dimensions), dies_after(steps))
        assert verify(self.town.context).problems == ()

    @rule(steps=st.integers(0, 9))
    def go_on(self, steps: int) -> None:
        with suppress(_Killed):
            self.town.relearning.resume(dies_after(steps))
        assert verify(self.town.context).problems == ()

    @rule(user=st.sampled_from(EVERYBODY), other=st.sampled_from(EVERYBODY), decision=st.sampled_from(["like", "pass", "skip"]))
    def import_swipe(self, user: str, other: str, decision: str) -> None:
        pair = frozenset({user, other})
        if user == other or not pair <= self.here or pair in self.matches | self.ended:
            return
        if decision == "like" and (self.decisions.get((other, user)) or [""])[-1] == "like":
            return
        self.town.import_swipe(user, other, decision)
        self.decisions.setdefault((user, other), []).append(decision)
        self.last.pop(user, None)


def dies_after(steps: int) -> Callable[[int, int], None]:
    left = iter(range(steps))

    def watch(done: int, total: int) -> None:
        if next(left, None) is None:
            raise _Killed

    return watch


def fitted(seed: int, traits: int, dimensions: int) -> tuple[str, dict[str, Any], Prior]:
    """What a fit may find."""
    if not traits:
        return "probit-diag", {"appeal": True}, Prior(np.zeros(dimensions), f"fit-{seed}-{dimensions}", threshold=0.1)
    rng = np.random.default_rng(seed)
    prior = Prior(
        rng.normal(size=dimensions),
        f"fit-{seed}-{traits}-{dimensions}",
        threshold=float(rng.normal()),
        covariance=np.diag(rng.uniform(0.2, 2.0, dimensions + 1 + 2 * traits)),
        traits=rng.normal(size=traits),
        trait_map=rng.normal(size=(dimensions + 1, 2 * traits)),
    )
    return "probit-traits", {"traits": traits, "directions": traits}, prior


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def urls(kind: str, request: pytest.FixtureRequest) -> Iterator[Callable[[], str]]:
    """Addresses of empty databases."""
    if kind == "postgres":
        server, url = request.getfixturevalue("postgres"), request.getfixturevalue("postgres_url")

        def emptied() -> str:
            server.clear(url)
            return str(url)

        yield emptied
        return
    folder = Path(tempfile.mkdtemp(prefix="kaczmatch-"))
    numbers = iter(range(1_000_000))
    yield lambda: f"sqlite:///{folder}/{next(numbers)}.db"
    shutil.rmtree(folder)


@pytest.mark.parametrize("life", [Life, LifeWithTraits])
def test_life_goes_as_the_model_says(
    kind: str, life: type[Life], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = None if kind == "memory" else request.getfixturevalue("urls")
    monkeypatch.setattr(trait_pass, "_AT_ONCE", 3)  # events
    monkeypatch.setattr(trait_pass, "FEW", 1)
    monkeypatch.setattr(refolding, "PAGE", 2)

    class On(life):  # type: ignore[misc, valid-type]
        address = ""

        @staticmethod
        def open() -> Store:  # type: ignore[override]
            if urls is None:
                return MemoryStore()
            On.address = urls()
            return SqlStore(On.address)

        @staticmethod
        def again(store: Store) -> Store:  # type: ignore[override]
            if urls is None:
                return store
            store.close()
            return SqlStore(On.address)

    examples = {"memory": 50, "sqlite": 8, "postgres": 3}[kind]
    how = settings(max_examples=examples, stateful_step_count=40, deadline=None, phases=[Phase.generate])
    run_state_machine_as_test(On, settings=how)
