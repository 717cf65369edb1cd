"""Another model, more tags, a slow load: decks go on meanwhile, nothing is missed, and nothing is done for everybody at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kaczmatch.learners.state import EncodedState
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.records import (
    ActiveVersions,
    Change,
    Person,
    PersonCounters,
    ServingProcess,
    StoredDeck,
    StoredState,
)
from kaczmatch.service.meeting import index_loading, serving_index
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations import maintenance, relearning
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.operations.verification import verify
from worlds.stores import open_store
from worlds.town import Town, about


@pytest.fixture(params=["memory", "sqlite"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


class Watched:
    """A store that counts the records that are read, and calls something before each look."""

    def __init__(self, context: Context, before: Callable[[], None] = lambda: None) -> None:
        self._store, self._before, self.loaded = context.store, before, Counter[type]()
        self.write = context.store.write

    @contextmanager
    def read(self) -> Iterator[Any]:
        self._before()
        with self._store.read() as reader:

            def find(kind: type, **equal: Any) -> Any:
                found = reader.find(kind, **equal)
                self.loaded[kind] += len(found)
                return found

            def many(kind: type, keys: Any) -> Any:
                found = reader.many(kind, keys)
                self.loaded[kind] += len(found)
                return found

            log = reader.became_visible
            yield SimpleNamespace(get=reader.get, find=find, many=many, count=reader.count, became_visible=log, committed=True)


def everybody_swipes(town: Town) -> None:
    for place in range(4):
        for card in town.deck(f"w{place}").cards[:3]:
            decision = "like" if card.person.id in ("m0", "m1") else "pass"
            town.swipe(f"w{place}", card.person.id, decision, deck=card.impression.deck)
    town.world.follow()


def relearn(town: Town) -> int:
    return town.relearning.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6))


def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_loading, "AT_ONCE", 2)
    for name, value in (("_BESIDE", 1), ("_PER_TURN", 2)):
        monkeypatch.setattr(serving_index, name, value)


def shown_people(world: ServingIndex, town: Town) -> set[str]:
    return {person.id for person in town.find(Person) if person.id in world.recommender.index}


def test_a_load_of_more_than_ten_minutes_under_steady_edits_loads_once_and_misses_nothing(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_steps(monkeypatch)
    town.couples(6)
    made, turns, began = dict[int, str](), list[int](), town.now

    def meanwhile() -> None:
        turn = len(turns)
        turns.append(turn)
        town.wait(minutes=2)
        town.people.pause(f"m{turn % 6}", turn % 2 == 0).result()
        town.move_in(f"a{turn}", man=True)  # before everybody who was loaded already
        town.erasing.erase(f"a{turn}") if turn % 3 == 0 else None
        town.world.follow()
        Maintenance(town.context).run()
        made.update({change.number: change.user for change in town.find(Change)})

    slow = ServingIndex(replace(town.context, store=Watched(town.context, meanwhile)))
    slow.load()
    assert (town.now - began).total_seconds() > 600
    kept, here = {change.number for change in town.find(Change)}, {person.id for person in town.find(Person)}
    unread = {number for number, user in made.items() if number > slow._changes.settled and user in here}
    assert unread <= kept, "a change was dropped before the process that loads had read it"
    assert len(unread) > 5
    quick = ServingIndex(town.context)
    quick.load()
    slow.context = town.context
    loaded = slow.recommender
    slow.follow()
    assert slow.recommender is loaded
    assert shown_people(slow, town) == shown_people(quick, town) != set()


def test_decks_are_dealt_by_the_old_model_until_the_new_index_is_complete(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    small_steps(monkeypatch)
    town.couples(4)
    everybody_swipes(town)
    number = relearn(town)
    town.world.follow()  # two of four states
    dealt = town.deck("w3", 2)
    assert dealt.deck is not None
    assert dealt.deck.model == 1
    town.swipe("w3", dealt.cards[0].person.id, deck=dealt.deck.id)
    learned = {one.model: one.swipes for one in town.find(StoredState, user="w3")}
    assert learned[1] == learned[number] == 4, "a model that decks are dealt by goes on learning"
    town.people.pause("m1", True).result()
    town.move_in("m9", man=True)
    town.erasing.erase("m2")
    town.world.remove(["m2"])
    assert town.world.current.model == 1
    for _ in range(4):
        town.world.follow()
    assert town.world.current == ActiveVersions(model=number, building=0, vocabulary=1)
    fresh = ServingIndex(town.context)
    fresh.load()
    people = sorted(shown_people(fresh, town))
    assert "m9" in people
    assert not {"m1", "m2"} & set(people)
    assert shown_people(town.world, town) == set(people)
    assert town.world.recommender.states(people) == fresh.recommender.states(people)
    town.wait(hours=1)
    dealt = town.deck("w3")
    assert dealt.deck is not None
    assert dealt.deck.model == number


def test_the_old_states_stay_until_no_process_deals_by_them(town: Town) -> None:
    town.couples(3)
    other = ServingIndex(town.context)
    other.load()
    town.swipe("w0", "m0")
    number = relearn(town)
    town.world.follow()
    town.relearning.resume()
    assert {one.model for one in town.find(StoredState)} == {1, number}
    other.follow()
    town.relearning.resume()
    assert {one.model for one in town.find(StoredState)} == {number}
    other.close()
    assert len(town.find(ServingProcess)) == 1


def test_a_new_tag_widens_the_index_without_loading_anybody(town: Town) -> None:
    town.couples(4)
    everybody_swipes(town)
    town.models.change_vocabulary(lambda words: words.add(tags=["opera"]).rename("jazz", "bebop").retire("chess"))
    store = Watched(town.context)
    town.world.context = replace(town.context, store=store)
    town.world.follow()
    assert store.loaded[Person] == store.loaded[StoredState] == store.loaded[PersonCounters] == 0
    town.world.context = town.context
    assert town.world.recommender.index.vocabulary.dimensions == 7
    town.move_in("m9", man=True, tags=["opera", "bebop"])
    fresh = ServingIndex(town.context)
    fresh.load()
    people = sorted(shown_people(fresh, town))
    assert town.world.recommender.states(people) == fresh.recommender.states(people)
    with town.world.recommender.index.reading() as mine, fresh.recommender.index.reading() as theirs:
        ours, others = mine.candidate_rows(mine.numbers(people)), theirs.candidate_rows(theirs.numbers(people))
    assert (ours.features == others.features).all()
    assert ours.squared_norms == pytest.approx(others.squared_norms)
    assert town.deck("w0").cards


def test_a_person_with_a_tag_that_this_process_does_not_know_yet_gets_a_deck(town: Town) -> None:
    town.couples(3)
    town.models.change_vocabulary(lambda words: words.add(tags=["opera"]))
    for user in ("w0", "m0"):
        town.people.put(user, about(user.title(), man=user == "m0", tags=["opera"])).result()
    assert "m0" in {card.person.id for card in town.deck("w0").cards}


def test_states_over_fewer_terms_are_rewritten_once(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relearning, "_STATES", 1)
    town.couples(4)
    everybody_swipes(town)
    town.models.change_vocabulary(lambda words: words.add(tags=["opera"]))
    town.relearning.resume()
    assert {EncodedState.read(one.state).dimensions for one in town.find(StoredState)} == {7}
    assert verify(town.context).problems == ()
    store = Watched(town.context)
    Relearning(replace(town.context, store=store)).resume()
    assert store.loaded[StoredState] == 0
    town.wait(hours=2)
    town.world.follow()
    town.swipe("w0", "m3")
    assert verify(town.context).problems == ()


def test_a_swipe_between_the_fold_of_a_log_and_its_commit_is_not_lost(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.couples(4)
    everybody_swipes(town)
    keep, swiped = relearning._replace, []

    def late(context: Context, read: Any, made: Any) -> None:
        if not swiped:
            swiped.append(town.swipe("w0", town.deck("w0").cards[0].person.id))
        keep(context, read, made)

    monkeypatch.setattr(relearning, "_replace", late)
    relearn(town)
    assert verify(town.context).problems == ()


def test_one_process_relearns_at_a_time_and_rests_after_each_batch(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relearning, "_PEOPLE", 1)
    town.couples(4)
    everybody_swipes(town)
    rests: list[int] = []

    def crash(done: int, _: int) -> None:
        if done == 2:
            assert Relearning(town.context).resume() == 0, "two processes fold the same people"
            raise KeyboardInterrupt

    relearner = Relearning(replace(town.context, rest=lambda: rests.append(1)))
    with pytest.raises(KeyboardInterrupt):
        relearner.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6), crash)
    assert len(rests) == 4  # after each fold, and after each commit
    assert {one.user for one in town.find(StoredState, model=2)} == {"w0", "w1"}
    assert Relearning(town.context).resume() == 2
    assert verify(town.context).problems == ()


def test_old_records_are_dropped_in_short_ranges_with_a_rest_after_each(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_AT_ONCE", 3)
    town.couples(7)
    for place in range(7):
        town.deck(f"w{place}")
        town.wait(seconds=1)
    town.wait(days=181)
    kept = town.deck("m0")
    rests: list[int] = []
    store = Watched(town.context)
    Maintenance(replace(town.context, store=store, rest=lambda: rests.append(1))).run()
    assert {card.deck for card in town.cards()} == {kept.cards[0].impression.deck}
    assert [deck.user for deck in town.find(StoredDeck)] == ["m0"]
    assert store.loaded[StoredDeck] < 7, "a range is dropped by its end, without loading what lies before"
    assert len(rests) >= 7 // 3, "decks go in threes"


def test_one_process_tidies_at_a_time(town: Town) -> None:
    other = Lease(town.context, "maintenance")
    assert other.take()
    assert Maintenance(town.context).run() == {}
    other.let_go()
    assert Maintenance(town.context).run()
