"""People who have not been there for a while leave decks, and return with their next request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.records import Change, Person
from kaczmatch.service.experiments.hindsight import Hindsight
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town, about


@pytest.fixture
def town() -> Town:
    town = Town(MemoryStore(), away_days=30)
    town.couples(3)
    return town


def ids(town: Town, user: str = "w0") -> set[str]:
    return {card.person.id for card in town.deck(user, 10).cards}


def test_who_has_been_away_leaves_decks_and_memory(town: Town) -> None:
    town.wait(days=30)
    assert ids(town) == {"m0", "m1", "m2"}  # just long enough
    town.wait(days=1)
    assert ids(town) == set()  # the store is asked, whatever memory has
    town.world.follow()
    index = town.world.recommender.index
    assert [user for user in ("w0", "w1", "m0", "m1") if user in index] == ["w0"]
    other = ServingIndex(town.context)
    other.load()
    assert len(other) == 1


@pytest.mark.parametrize("request_of", ["deck", "swipe", "edit", "resume"])
def test_they_return_with_their_next_request(town: Town, request_of: str) -> None:
    card = Swipe(user="m0", id="s", candidate="w1", decision="pass", deck=town.shown("m0", "w1"))
    town.wait(days=31)
    town.world.follow()
    requests: dict[str, Callable[[], Any]] = {
        "deck": lambda: town.deck("m0"),  # an empty one: nobody else is there
        "swipe": lambda: town.swiping.swipe(card).result(),
        "edit": lambda: town.people.put("m0", about("M0", man=True)).result(),
        "resume": lambda: town.people.pause("m0", paused=False).result(),
    }
    requests[request_of]()
    town.world.follow()
    assert "m0" in town.world.recommender.index
    assert ids(town) == {"m0"}


def test_an_import_counts_for_new_people_only(town: Town) -> None:
    town.wait(days=31)
    town.people.put("m0", about("Another name", man=True), limited=False).result()
    town.people.put("m9", about("M9", man=True), limited=False).result()
    town.import_swipe("m1", "w0", "like")
    town.world.follow()
    assert ids(town) == {"m9"}


def test_presence_is_written_once_a_day(town: Town) -> None:
    written: list[object] = []
    store = town.context.store

    class Counted:
        read = staticmethod(store.read)

        def write(self, work: Any, **options: Any) -> Any:
            written.append(work)
            return store.write(work, **options)

    decks = Decks(replace(town.context, store=Counted()), town.world, lambda: town.rng)
    decks.deck("w0")
    assert len(written) == 1  # the deck: they came today
    changes, version = len(town.find(Change)), town.find(Person, id="w0")[0].version
    town.wait(days=1)
    for _ in range(3):
        decks.deck("w0")
    assert len(written) == 2  # a new deck, which also tells that they were there
    [person] = town.find(Person, id="w0")
    assert (person.seen, person.version, len(town.find(Change))) == (town.now.date(), version, changes)


def test_rank_says_who_is_away_and_tells_no_blocks(town: Town) -> None:
    town.safety.block("m1", "w0").result()
    town.wait(days=31)
    town.deck("m0")
    ranking = town.ranking.rank("w0", ["m0", "m1", "m2"])
    assert [who for who, _ in ranking.ranked] == ["m0"]
    assert dict(ranking.left_out) == {"m1": ("not found",), "m2": ("away",)}


def test_without_the_setting_nobody_is_away() -> None:
    town = Town(MemoryStore(), away_days=None)
    town.couples(2)
    town.wait(days=4_000)
    town.world.follow()
    assert ids(town) == {"m0", "m1"}


def test_hindsight_knows_who_was_away() -> None:
    town = Town(MemoryStore(), away_days=30, deck_size=2, repeats=True)
    town.couples(6)
    for day in range(0, 120, 8):
        for place in range(6):
            if (day // 8 + place) % 6 < 2:  # everybody comes for two weeks, then not for a month
                for user in (f"w{place}", f"m{place}"):
                    for card in town.deck(user).cards[: 1 + place % 2]:
                        town.swipe(user, card.person.id, "pass", deck=card.impression.deck)
                    town.world.follow()
        town.wait(days=8)
        town.world.follow()
    eligible = []
    with town.context.store.read() as reader:
        for past in Hindsight(town.context, reader, MutualPolicy()).past_decks():
            rng, rules = np.random.default_rng(0), {"now": past.deck.at, "exposure": past.exposure}
            about_viewer = {"blocked": past.matched_or_blocked, "answers": past.answers, "admirers": past.admirers}
            again = past.recommender.deck(past.viewer, 2, rng=rng, **rules, **about_viewer)
            eligible.append((again.eligible, past.deck.eligible))
    assert all(again == then for again, then in eligible)
    assert len({then for _, then in eligible}) > 2
