"""Another policy judged by the service's own log: the past is what it was, estimates hit the truth, silence is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.decks.policy import Always, DeckPlan, MutualPolicy, PaperPolicy
from kaczmatch.recommend.samplers.registry import sampler
from kaczmatch.service.domain import appearances
from kaczmatch.service.domain.records import Event, StoredDeck, StoredExposure
from kaczmatch.service.domain.store import Snapshot
from kaczmatch.service.experiments import past_log
from kaczmatch.service.experiments.hindsight import Hindsight
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.open_deck import OpenDeck
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe, Swipes
from kaczmatch.service.meeting.viewer_context import ViewerContext, ViewerState, load_viewer_context, load_viewer_state
from worlds.simulated import SimulatedTown, logged


class Watched(SimulatedTown):
    """Notes what each deck was dealt from."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.seen: dict[str, tuple[ViewerState, ViewerContext]] = {}

    def deck(self, user: str, size: int | None = None) -> OpenDeck:
        with self.context.store.read() as reader:
            known = load_viewer_state(reader, self.context, user)
            around = load_viewer_context(reader, self.context, known, self.now)
        hand = super().deck(user, size)
        if hand.deck is not None:
            self.seen.setdefault(hand.deck.id, (known, around))
        return hand


@pytest.fixture(scope="module")
def town() -> SimulatedTown:
    return logged(0, couples=25, days=2)


def judge(town: SimulatedTown, policy: Any, **options: Any) -> Any:
    rule = options.pop("learner", None)
    return OffPolicyEvaluation(town.context).evaluate(TargetPolicy(policy, rule), np.random.default_rng(1), **options)


def test_hindsight_is_what_was_seen_then() -> None:
    """State, appeal, cooldown, admirers and who is kept apart, at every deck, as they were when it was dealt."""
    town = Watched(3, couples=11, deck_size=3)
    town.day()
    town.day()
    town.safety.block("w0", "m1").result()
    other = {"appeal": True, "label_noise": 0.1}
    fitted = town.models.fit("probit-diag", other) or pytest.fail("no prior")
    town.relearning.relearn("probit-diag", other, fitted.prior)
    town.world.follow()
    town.day()
    hand = town.deck("w0")
    assert hand.deck is not None
    swipe = town.swipe("w0", hand.cards[0].person.id, "pass", deck=hand.deck.id).event
    town.undoing.undo("w0", swipe.id).result()
    town.wait(hours=2)
    town.day()
    with town.context.store.read() as reader:
        met = list(Hindsight(town.context, reader, MutualPolicy()).past_decks())
    assert [one.deck.id for one in met] == [deck.id for deck in town.find(StoredDeck)]
    for one in met:
        known, then = town.seen[one.deck.id]
        assert one.viewer.state == then.viewer.state
        assert one.viewer.learner == then.viewer.learner
        assert one.viewer.others == pytest.approx(then.viewer.others)
        assert (one.matched_or_blocked, one.admirers) == (then.matched_or_blocked, then.admirers)
        assert one.answers == then.answers
        assert one.experience.swipes == known.tracked.swipes
    assert any(one.admirers for one in met)
    assert any(one.answers.liked and one.answers.passed for one in met)
    assert any(one.matched_or_blocked for one in met)
    assert {one.deck.model for one in met} == {1, 2}


def test_every_logged_probability_is_found_again_deck_by_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same chance. The process that dealt was started again meanwhile, and knew exposure from what is stored of it."""
    monkeypatch.setattr(appearances, "DECKS_AT_LEAST", 20)
    monkeypatch.setattr(appearances, "PEOPLE_PER_DECK", 10**6)
    town, seeds = SimulatedTown(3, couples=20, policy=MutualPolicy(uniform_floor=0.3), exposure_cap=1.0), list[int]()

    def fresh_rng() -> np.random.Generator:
        seeds.append(len(seeds))
        return np.random.default_rng(seeds[-1])

    for _ in range(3):
        town.world = ServingIndex(town.context)
        town.world.load()
        town.decks = Decks(town.context, town.world, fresh_rng)
        town.day()
        assert appearances.file_decks(town.context) > 0
    assert town.find(StoredExposure)
    rated, capped = 0, 0
    with town.context.store.read() as reader:
        past_decks = Hindsight(town.context, reader, town.context.config.policy).past_decks()
        for one, seed in zip(past_decks, seeds, strict=True):
            again = one.recommender.simulate(
                one.viewer,
                len(one.cards),
                [card.candidate for card in one.cards],
                now=one.deck.at,
                rng=np.random.default_rng(seed),
                blocked=one.matched_or_blocked,
                answers=one.answers,
                admirers=one.admirers,
                experience=one.experience,
                exposure=one.exposure,
            )
            assert again.propensities == pytest.approx([card.propensity for card in one.cards], rel=1e-12, abs=0.0)
            rated += bool((again.propensities < 1.0).any())
            capped += bool(one.exposure.over_cap(40, one.deck.at))
    assert rated > 100, "probabilities of one would be found by anybody"
    assert capped > 100, "nobody over the cap, and exposure would not matter"


def test_swipes_that_were_imported_later_are_not_known_before() -> None:
    """They say when they were made; a deck that was dealt before that cannot have known them."""
    town = SimulatedTown(8, couples=4)
    town.deck("w0")
    town.wait(days=2)
    swipe = Swipe(user="w0", id="i", candidate="m1", decision="like", deck="")
    Swipes(town.context).import_swipe(swipe, town.now - timedelta(days=1)).result()
    town.deck("w0")
    with town.context.store.read() as reader:
        swipes = [one.experience.swipes for one in Hindsight(town.context, reader, MutualPolicy()).past_decks()]
    assert swipes == [0, 1]


class PagesRead:
    """A reader, and the most records that one question has found."""

    def __init__(self, reader: Snapshot) -> None:
        self._reader, self.most, self.viewers = reader, Counter[type[Any]](), 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def find(self, kind: type[Any], **asked: Any) -> list[Any]:
        found = self._reader.find(kind, **asked)
        self.most[kind] = max(self.most[kind], len(found))
        return found

    def of_people(self, kind: type[Any], field: str, people: Collection[str]) -> dict[str, list[Any]]:
        self.viewers = max(self.viewers, len(people))
        return self._reader.of_people(kind, field, people)


def test_of_the_log_only_pages_are_read(town: SimulatedTown, monkeypatch: pytest.MonkeyPatch) -> None:
    with town.context.store.read() as reader:
        whole = [one.viewer.state for one in Hindsight(town.context, reader, MutualPolicy()).past_decks()]
        monkeypatch.setattr(past_log, "_EVENTS", 20)
        monkeypatch.setattr(past_log, "_DECKS", 5)
        pages: Any = PagesRead(reader)
        paged = [one.viewer.state for one in Hindsight(town.context, pages, MutualPolicy()).past_decks()]
    assert paged == whole
    assert len(paged) == 100
    assert (pages.most[Event], pages.most[StoredDeck], pages.viewers) == (20, 5, 5)


def test_the_policy_that_dealt_is_judged_as_it_did(town: SimulatedTown) -> None:
    """Its own weights are 1, but for what chance makes of single decks."""
    found = judge(town, town.context.config.policy)
    assert found.mean_weight.value == pytest.approx(1.0, abs=0.05)
    assert found.effective_cards > 0.9 * found.cards
    for one in (found.ips, found.snips, found.doubly_robust):
        assert one.value == pytest.approx(found.logged.value, abs=0.03)
    assert (found.people, found.decks, found.cards) == (50, 100, 600)


def test_another_policy_and_another_learner_are_judged_by_the_same_log(town: SimulatedTown) -> None:
    uniform = Always(deck_plan=DeckPlan(sampler=sampler("uniform"), reason="test"))
    for policy in (uniform, PaperPolicy()):
        found = judge(town, policy)
        truth = town.truth(policy, deals=3)
        assert found.ips.covers(truth)
        assert found.doubly_robust.covers(truth)
    other = judge(town, PaperPolicy(cosine_from_swipes=0), learner=learner("tk"))
    assert 0.0 < other.snips.value < 1.0


def test_decks_that_are_open_or_older_are_left_out(town: SimulatedTown) -> None:
    first = town.find(StoredDeck)[0]
    assert judge(town, town.context.config.policy, since=first.at).decks == 100
    with pytest.raises(InvalidInput, match="no deck"):
        judge(town, town.context.config.policy, since=town.now)


def test_a_log_without_a_floor_is_refused() -> None:
    town = logged(1, couples=20, days=1, floor=0.0)
    with pytest.raises(InvalidInput, match="no chance at all"):
        judge(town, MutualPolicy())
