"""Many at once, on real databases: nothing is lost, doubled or missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from threading import Event as Signal
from typing import Any

import pytest

from kaczmatch.recommend.people.schema import DATING
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain import refolding
from kaczmatch.service.domain.catalogue import model_learner, neutral_prior
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import models_that_learn
from kaczmatch.service.domain.records import (
    RECORDS,
    ActiveVersions,
    Change,
    ErasedId,
    Event,
    MatchSide,
    OutboxMessage,
    PersonCounters,
    PersonNumber,
    StoredDeck,
)
from kaczmatch.service.domain.refusals import Conflict, Full, TooMany
from kaczmatch.service.domain.store import Reader, Store, StoreUnavailable, Transaction
from kaczmatch.service.meeting import swipes
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.matches import Matches
from kaczmatch.service.meeting.people_search import suffixes_of
from kaczmatch.service.meeting.profiles import new_person, snapshot_of
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.swipes import RecordedSwipe, Swipe, Swipes
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import SqlStore
from worlds.cards import put_deck
from worlds.clock import NOON
from worlds.town import TAGS, Town, about

PAIRS = 500


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two processes' views of one database."""
    url = f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with closing(SqlStore(url)) as one, closing(SqlStore(url)) as other:
        yield one, other


def settle(town: Town, number: int) -> None:
    """Couples who have each other's card in hand."""
    words = town.world.recommender.index.vocabulary

    def work(transaction: Transaction) -> None:
        for place in range(number):
            for me in (f"w{place}", f"m{place}"):
                said = about(me, man=me.startswith("m"))
                person = new_person(me, said, words, town.context.config.schema, NOON, None)
                for record in (person, *suffixes_of(person), snapshot_of(person), PersonCounters(user=me)):
                    transaction.put(record)

    def deal(transaction: Transaction) -> None:
        for place in range(number):
            for me, other in ((f"w{place}", f"m{place}"), (f"m{place}", f"w{place}")):
                put_deck(transaction, me, "d", [other], NOON)

    town.context.store.write(work).result()
    town.context.store.write(deal).result()


def other_process(town: Town, store: Store) -> Context:
    return replace(town.context, store=store, catalogue=type(town.context.catalogue)())


def test_two_mutual_likes_make_exactly_one_match(
    stores: tuple[Store, Store], record_property: Callable[[str, object], None]
) -> None:
    town = Town(stores[0])
    settle(town, PAIRS)
    sides = Swipes(town.context), Swipes(other_process(town, stores[1]))
    together = Barrier(2)

    def like(side: int) -> list[RecordedSwipe]:
        answers = []
        for place in range(PAIRS):
            me, other = (f"w{place}", f"m{place}") if side else (f"m{place}", f"w{place}")
            together.wait(60)
            answers.append(sides[side].swipe(Swipe(user=me, id="s", candidate=other, decision="like", deck="d")))
        return [answer.result() for answer in answers]

    with ThreadPoolExecutor(2) as threads:
        men, women = threads.map(like, (0, 1))
    made_by = [(man.match is not None) + (woman.match is not None) for man, woman in zip(men, women, strict=True)]
    record_property("found", f"{PAIRS} mutual likes at once, {made_by.count(1)} of them made exactly one match")
    assert made_by == [1] * PAIRS
    assert len(town.find(MatchSide)) == len(town.find(OutboxMessage)) == 2 * PAIRS
    assert verify(town.context).problems == ()


def at_once(number: int, work: Callable[[int], Any]) -> list[Any]:
    """Answers, or what was raised."""
    together = Barrier(number)

    def one(place: int) -> Any:
        together.wait(60)
        try:
            return work(place)
        except Exception as error:
            return error

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(one, range(number)))


def test_concurrent_swipes_of_one_person_are_ordered_and_none_is_lost(stores: tuple[Store, Store]) -> None:
    town = Town(stores[0])
    number = 40
    settle(town, number)

    def cards(transaction: Transaction) -> None:
        put_deck(transaction, "w0", "e", [f"m{place}" for place in range(number)], NOON)

    town.context.store.write(cards).result()
    sides = Swipes(town.context), Swipes(other_process(town, stores[1]))

    def swipe(place: int) -> RecordedSwipe:
        said = Swipe(user="w0", id=f"s{place}", candidate=f"m{place}", decision="like" if place % 2 else "pass", deck="e")
        return sides[place % 2].swipe(said).result()

    assert all(isinstance(answer, RecordedSwipe) for answer in at_once(number, swipe))
    events = town.find(Event, user="w0")
    assert {event.id for event in events} == {f"s{place}" for place in range(number)}
    learned = town.learned("w0")
    assert learned is not None
    assert learned.swipes == number
    assert verify(town.context).problems == ()


def test_one_id_sent_many_times_at_once_has_one_effect(stores: tuple[Store, Store]) -> None:
    town = Town(stores[0])
    settle(town, 1)
    sides = Swipes(town.context), Swipes(other_process(town, stores[1]))
    swipe = Swipe(user="w0", id="s", candidate="m0", decision="like", deck="d")
    answers = at_once(16, lambda place: sides[place % 2].swipe(swipe).result())
    assert sorted(answer.repeated for answer in answers) == [False] + [True] * 15
    assert len(town.find(Event)) == 1


def test_a_quota_of_k_lets_exactly_k_through(stores: tuple[Store, Store]) -> None:
    town = Town(stores[0], swipes=QuotaLimit(7, timedelta(days=1)))
    settle(town, 20)

    def cards(transaction: Transaction) -> None:
        put_deck(transaction, "w0", "e", [f"m{place}" for place in range(20)], NOON)

    town.context.store.write(cards).result()
    sides = Swipes(town.context), Swipes(other_process(town, stores[1]))

    def swipe(place: int) -> RecordedSwipe:
        said = Swipe(user="w0", id=f"s{place}", candidate=f"m{place}", decision="pass", deck="e")
        return sides[place % 2].swipe(said).result()

    answers = at_once(20, swipe)
    assert sum(isinstance(answer, RecordedSwipe) for answer in answers) == 7
    assert sum(isinstance(answer, TooMany) for answer in answers) == 13


def test_a_capacity_of_k_lets_exactly_k_matches_through(stores: tuple[Store, Store]) -> None:
    """All of them like w0, who likes all of them and takes three: whoever comes too late is told, and nothing is kept of it."""
    town = Town(stores[0], schema=replace(DATING, capacity={"woman": 3}))
    number = 16
    settle(town, number)
    men = [f"m{place}" for place in range(number)]
    town.context.store.write(lambda tx: put_deck(tx, "w0", "e", men, NOON)).result()
    for man in men:
        town.context.store.write(lambda tx, man=man: put_deck(tx, man, "e", ["w0"], NOON)).result()
        town.swipe("w0", man, deck="e")
    sides = Swipes(town.context), Swipes(other_process(town, stores[1]))

    def like(place: int) -> RecordedSwipe:
        return sides[place % 2].swipe(Swipe(user=f"m{place}", id="s", candidate="w0", decision="like", deck="e")).result()

    answers = at_once(number, like)
    assert sum(isinstance(answer, RecordedSwipe) and answer.match is not None for answer in answers) == 3
    assert sum(isinstance(answer, Full) for answer in answers) == number - 3
    matches = town.find(MatchSide, user="w0")
    assert len(matches) == town.standing("w0").open_matches == 3
    assert {event.user for event in town.find(Event, candidate="w0")} == {match.other for match in matches}
    # Two end at once, and everybody who was late tries again: two get in.
    ends = at_once(2, lambda place: Matches(town.context).unmatch("w0", matches[place].id).result())
    assert ends == [None, None]
    late = [place for place, answer in enumerate(answers) if isinstance(answer, Full)]
    again = at_once(len(late), lambda place: like(late[place]))
    assert sum(isinstance(answer, RecordedSwipe) and answer.match is not None for answer in again) == 2
    assert sum(isinstance(answer, Full) for answer in again) == len(late) - 2
    assert town.standing("w0").open_matches == 3
    assert verify(town.context).problems == ()


def test_decks_asked_for_at_once_are_one_deck(stores: tuple[Store, Store]) -> None:
    town = Town(stores[0])
    town.couples(8)
    there = other_process(town, stores[1])
    sides = town.decks, Decks(there, town.world, lambda: town.rng)
    hands = at_once(8, lambda place: sides[place % 2].deck("w0"))
    assert len({hand.deck.id for hand in hands}) == 1
    assert len(town.find(StoredDeck)) == 1


def test_erasing_somebody_while_they_are_swiped_on_brings_nothing_back(stores: tuple[Store, Store]) -> None:
    town = Town(stores[0], deck_size=8)
    town.couples(8)
    swiping = Swipes(other_process(town, stores[1]))
    decks = {f"w{place}": town.shown(f"w{place}", "m0") for place in range(8)}

    def act(place: int) -> Any:
        if place == 3:
            return town.erasing.erase("m0")
        user = f"w{place}"
        return swiping.swipe(Swipe(user=user, id="s", candidate="m0", decision="like", deck=decks[user])).result()

    at_once(8, act)
    assert not [record for kind in (Event, MatchSide, PersonCounters) for record in town.find(kind) if "'m0'" in repr(record)]
    assert "m0" not in {card.candidate for card in town.cards()}
    assert verify(town.context).problems == ()


class Slow:
    """A store whose works have looked and written when `erased` is waited for, and are committed afterwards."""

    def __init__(self, store: Store) -> None:
        self._store, self.read = store, store.read
        self.looked, self.erased = Signal(), Signal()

    def write(self, work: Callable[[Transaction], Any], **more: Any) -> Any:
        def slowly(transaction: Transaction) -> Any:
            answer = work(transaction)
            self.looked.set()
            self.erased.wait(0.5)
            return answer

        return self._store.write(slowly, **more)

    def close(self) -> None:
        self._store.close()


@pytest.mark.parametrize("what", ["outcome", "report"])
def test_what_is_said_about_somebody_who_is_erased_meanwhile_brings_nothing_back(stores: tuple[Store, Store], what: str) -> None:
    town = Town(stores[0])
    town.couples(1)
    town.swipe("w0", "m0")
    match = town.swipe("m0", "w0").match or ""
    report = town.safety.report("w0", "m0", "rude").result().id if what == "report" else ""
    slow = Slow(stores[1])
    there = other_process(town, slow)

    def say() -> None:
        if what == "report":
            Safety(there, ErasedTokens(there, b"secret")).close(report, "talked to them", "operator").result()
        else:
            Matches(there).record_outcome("w0", match, "met").result()

    saying = Thread(target=say)
    saying.start()
    slow.looked.wait(30)
    town.erasing.erase("m0")
    slow.erased.set()
    saying.join()
    known = {OutboxMessage, Change, ErasedId, PersonNumber}  # that somebody was erased
    assert not [one for kind in RECORDS if kind not in known for one in town.find(kind) if "'m0'" in repr(one)]


def test_a_swipe_under_way_when_a_new_model_begins_is_learned_by_it_too(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    town = Town(stores[0])
    settle(town, 1)
    swiping, go_on = Signal(), Signal()

    def slow(reader: Reader, current: ActiveVersions, user: str) -> list[int]:
        """It has read which models learn, and somebody else is faster."""
        swiping.set()
        go_on.wait(10)
        return models_that_learn(reader, current, user)

    monkeypatch.setattr(swipes, "models_that_learn", slow)
    swipe = Swipe(user="w0", id="first", candidate="m0", decision="like", deck="d")
    first = Swipes(other_process(town, stores[1])).swipe(swipe)
    swiping.wait(10)
    relearning = Thread(
        target=town.relearning.relearn, args=("probit", {}, neutral_prior(model_learner("probit", {}), len(TAGS)))
    )
    relearning.start()
    relearning.join(1.0)  # it could be through by now, if it did not wait
    go_on.set()
    first.result()
    relearning.join()
    assert verify(town.context).problems == ()


def test_swipes_undos_resets_and_ends_of_sessions_at_once_leave_the_replay(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same person, by two processes; and the other side of each pair does the same at the same time."""
    monkeypatch.setattr(refolding, "PAGE", 3)
    town = Town(stores[0], settings={"half_life_days": 30.0, "appeal": True})
    settle(town, 3)
    contexts = town.context, other_process(town, stores[1])
    done, refused = [0] * 4, [0] * 4

    def live(thread: int) -> None:
        context = contexts[thread % 2]
        swiping, undoing = Swipes(context), Undo(context)
        me, others = ("w0", ["m0", "m1", "m2"]) if thread < 2 else ("m0", ["w0", "w1", "w2"])
        for place in range(24):
            swipe = Swipe(
                user=me, id=f"s{thread}-{place}", candidate=others[place % 3], decision=("pass", "skip")[place % 2], deck=""
            )
            swiping.swipe(swipe).result()
            try:
                undoing.undo(me, swipe.id).result()
                done[thread] += 1
            except (Conflict, StoreUnavailable):
                refused[thread] += 1
            if place % 10 == thread:
                undoing.reset(me).result()
            if place % 7 == thread:
                swiping.end_session(me).result()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(live, range(4)))
    assert all(done)
    undone = [event for event in town.find(Event) if event.kind == "undone"]
    assert len(undone) == sum(done)
    assert verify(town.context).problems == ()
