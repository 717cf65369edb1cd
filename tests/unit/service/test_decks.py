"""Decks through the service: kept until answered, checked against the store, logged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from kaczmatch import InvalidInput
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import StoredDeck
from kaczmatch.service.domain.refusals import Conflict, NotFound, TooMany
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town, about


def ids(town: Town, user: str, size: int | None = None) -> list[str]:
    return [card.person.id for card in town.deck(user, size).cards]


def overtaken(town: Town, happens: Callable[[], object]) -> Decks:
    """Decks of a process in which something happens each time between reading the store and writing to it."""
    store = town.context.store

    class Overtaken:
        read = staticmethod(store.read)

        def write(self, work: Callable[[Transaction], Any], **options: Any) -> Any:
            happens()
            return store.write(work, **options)

    return Decks(replace(town.context, store=Overtaken()), town.world, lambda: town.rng)


def test_a_deck_is_logged_card_by_card_with_its_probability(town: Town) -> None:
    town.couples(8)
    hand = town.deck("w0")
    assert hand.deck is not None
    logged = town.cards(user="w0")
    assert [card.candidate for card in logged] == [card.person.id for card in hand.cards]
    assert all(0.0 < card.propensity <= 1.0 for card in logged)
    [deck] = town.find(StoredDeck)
    assert (deck.policy, deck.sampler, deck.eligible) == ("mutual", "mutual", 8)
    assert deck.reason


def test_a_reload_costs_nothing(town: Town) -> None:
    town.couples(8)
    first = town.deck("w0")
    town.wait(minutes=5)
    again = town.deck("w0")
    assert again.deck == first.deck
    assert [card.impression for card in again.cards] == [card.impression for card in first.cards]
    assert len(town.find(StoredDeck)) == 1


def test_answered_cards_leave_the_deck_and_a_new_one_follows(town: Town) -> None:
    town.couples(8)
    hand = town.deck("w0")
    assert hand.deck is not None
    seen = [card.person.id for card in hand.cards]
    for left in range(len(seen), 0, -1):
        assert len(town.deck("w0").cards) == left
        town.swipe("w0", seen[-left], "pass", deck=hand.deck.id)
    after = town.deck("w0")
    assert after.deck != hand.deck
    assert set(seen).isdisjoint(card.person.id for card in after.cards)


def test_a_deck_expires(town: Town) -> None:
    town.couples(8)
    first = town.deck("w0").deck
    town.wait(hours=1)
    assert town.deck("w0").deck != first


def test_who_blocks_is_gone_from_the_open_deck_and_from_new_ones(town: Town) -> None:
    town.couples(3)
    assert set(ids(town, "w0")) == {"m0", "m1", "m2"}
    town.safety.block("m0", "w0").result()
    town.safety.block("w0", "m1").result()
    assert ids(town, "w0") == ["m2"]
    town.wait(hours=2)
    assert ids(town, "w0") == ["m2"]
    town.safety.unblock("w0", "m1").result()
    town.wait(hours=2)
    assert set(ids(town, "w0")) == {"m1", "m2"}


def test_who_is_gone_from_the_store_is_in_no_deck_though_memory_still_has_them(town: Town) -> None:
    town.couples(4)
    town.erasing.erase("m0")
    town.people.pause("m1", paused=True).result()
    town.people.put("m2", about("M2", man=True, i_look_for=frozenset({"man"}))).result()
    assert "m0" in town.world.recommender.index  # it has not followed yet
    assert ids(town, "w0") == ["m3"]


def test_who_is_erased_while_a_deck_is_stored_is_neither_in_the_log_nor_in_the_deck(town: Town) -> None:
    town.couples(3)
    hand = overtaken(town, lambda: town.erasing.erase("m0")).deck("w0", 3)
    assert {card.person.id for card in hand.cards} == {"m1", "m2"}
    assert {card.candidate for card in town.cards(user="w0")} == {"m1", "m2"}


def test_a_deck_in_which_everybody_was_erased_costs_no_quota() -> None:
    town = Town(MemoryStore(), decks=QuotaLimit(1, timedelta(days=1)))
    town.couples(1)
    hand = overtaken(town, lambda: town.erasing.erase("m0")).deck("w0")
    assert (hand.deck, hand.cards) == (None, ())
    assert town.find(StoredDeck) == []
    town.move_in("m1", man=True)
    assert ids(town, "w0") == ["m1"]


def test_a_deck_that_is_overtaken_again_and_again_is_refused_with_the_advice_to_try_again(town: Town) -> None:
    town.couples(4)

    def another_deck() -> None:
        town.deck("w0")
        town.wait(hours=2)

    with pytest.raises(Conflict, match="try again"):
        overtaken(town, another_deck).deck("w0")


def test_a_deck_whose_vocabulary_changes_again_and_again_is_refused_with_the_advice_to_try_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.couples(2)

    def too_late(*_: Any, **__: Any) -> Any:
        raise InvalidInput("viewer", "has a state over 6 terms, the index has 7")

    monkeypatch.setattr(Recommender, "deck", too_late)
    with pytest.raises(Conflict, match="try again"):
        town.deck("w0")


def test_a_deck_with_its_reasons_comes_from_one_snapshot(town: Town) -> None:
    town.couples(3)
    store, opened = town.context.store, 0

    class Counted:
        write = staticmethod(store.write)

        def read(self) -> Any:
            nonlocal opened
            opened += 1
            return store.read()

    decks = Decks(replace(town.context, store=Counted()), town.world, lambda: town.rng)
    for _ in ("new", "open"):
        opened = 0
        assert all(card.reason.text and card.tags for card in decks.deck("w0").cards)
        assert opened == 1


def test_memory_follows_the_store(town: Town) -> None:
    town.couples(2)
    town.erasing.erase("m0")
    town.people.pause("m1", paused=True).result()
    town.world.follow()
    index = town.world.recommender.index
    assert ("m0" in index, "m1" in index, "w0" in index) == (False, False, True)
    town.people.pause("m1", paused=False).result()
    town.world.follow()
    assert "m1" in index


def test_another_process_comes_to_the_same_memory(town: Town) -> None:
    from kaczmatch.service.meeting.serving_index import ServingIndex

    town.couples(3)
    other = ServingIndex(town.context)
    other.load()
    town.swipe("w0", "m0")
    town.move_in("m9", man=True)
    town.erasing.erase("m1")
    other.follow()
    assert sorted(str(one) for one in ("w0", "m0", "m1", "m9") if one in other.recommender.index) == ["m0", "m9", "w0"]
    theirs = other.recommender.states(["w0"])
    town.world.follow()
    assert theirs == town.world.recommender.states(["w0"])


def test_paused_people_see_nobody(town: Town) -> None:
    town.couples(1)
    town.people.pause("w0", paused=True).result()
    with pytest.raises(Conflict, match="resume"):
        town.deck("w0")
    with pytest.raises(NotFound):
        town.deck("nobody")


def test_matched_and_unmatched_people_never_return(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0")
    match = town.swipe("m0", "w0").match
    town.wait(days=30)
    assert ids(town, "w0") == ["m1"]
    assert match is not None
    town.matching.unmatch("m0", match).result()
    town.wait(days=30)
    assert ids(town, "w0") == ["m1"]


def test_the_cooldown_lasts_fourteen_days_exactly() -> None:
    town = Town(MemoryStore(), repeats=True)
    town.couples(1)
    town.swipe("w0", "m0", "pass")
    decided = town.now
    town.clock.now = decided + timedelta(days=14) - timedelta(microseconds=1)
    assert ids(town, "w0") == []
    town.clock.now = decided + timedelta(days=14)
    assert ids(town, "w0") == ["m0"]


def test_an_empty_deck_says_what_to_widen(town: Town) -> None:
    town.move_in("ann", youngest=50, oldest=60)
    town.move_in("bob", man=True)
    hand = town.deck("ann")
    assert (hand.deck, hand.cards) == (None, ())
    assert [(one.filter, one.people) for one in hand.hints] == [("age", 1)]


def test_birthdays_count(town: Town) -> None:
    town.move_in("ann", youngest=31)
    town.move_in("bob", man=True, born=date(1995, 11, 17))
    assert ids(town, "ann") == []
    town.wait(days=2)
    assert ids(town, "ann") == ["bob"]


def test_admirers_come_soon(town: Town) -> None:
    town.couples(30)
    town.swipe("m7", "w0", "like")
    assert "m7" in ids(town, "w0", 4)


def test_a_quota_of_decks() -> None:
    town = Town(MemoryStore(), decks=QuotaLimit(1, timedelta(days=1)))
    town.couples(3)
    town.deck("w0")
    town.deck("w0")  # the same one
    town.wait(hours=2)
    with pytest.raises(TooMany):
        town.deck("w0")


def test_ranking_leaves_out_who_may_not_be_shown_and_tells_no_blocks(town: Town) -> None:
    town.couples(4)
    town.safety.block("m1", "w0").result()
    town.swipe("w0", "m2", "pass")
    ranking = town.ranking.rank("w0", ["m0", "m1", "m2", "w1", "nobody", "m0"])
    assert [who for who, _ in ranking.ranked] == ["m0"]
    assert dict(ranking.left_out) == {
        "m1": ("not found",),
        "m2": ("cooldown",),
        "nobody": ("not found",),
        "w1": ("looks for",),
    }


def test_why_names_my_tags_and_my_swipes(town: Town) -> None:
    town.move_in("ann")
    town.move_in("bob", man=True, tags=["chess"])
    town.move_in("carl", man=True, tags=["jazz", "chess"])
    town.swipe("ann", "bob", "like", id="chess-man")
    told = town.ranking.why("ann", "carl")
    assert [name for name, _ in told.explanation.raising] == ["chess"]
    assert [event.id for event, _ in told.swipes] == ["chess-man"]
    with pytest.raises(NotFound):
        town.ranking.why("carl", "bob")


def test_a_preference_in_words(town: Town) -> None:
    town.couples(12)
    for _ in range(3):
        for card in town.deck("w0").cards:
            jazz = card.person.features[:2] == b"\x00\x00"  # the first name
            town.swipe("w0", card.person.id, "like" if jazz else "pass", deck=card.impression.deck)
    told = town.preferences.of("w0")
    assert told.liked[0].term == "jazz"
    assert told.liked[0].confidence is not None
    assert 0.5 < told.liked[0].confidence <= 1.0
    assert told.certainty is not None
    assert 0.0 < told.certainty < 1.0
    grew = town.preferences.growth("w0")
    assert [preference.swipes for _, preference in grew] == list(range(1, 13))
    assert grew[-1][1] == told
    assert "like jazz" in told.sentences[0]
    assert 0 < told.clear <= told.terms
    assert told.model == 1


def test_right_after_an_import_nobody_is_told_that_nobody_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town(MemoryStore())
    town.move_in("ann")
    assert (town.deck("ann").empty_code, town.deck("ann").empty) == ("nobody-here", "there is nobody else here yet")
    for user in ("bob", "carl"):
        town.people.put(user, about(man=True, name=user)).result()  # by another process: this one has not read it yet
    with monkeypatch.context() as busy:
        busy.setattr("kaczmatch.service.meeting.decks._WAITED_FOR", 1)
        assert (town.deck("ann").empty_code, town.deck("ann").cards) == ("still-loading", ())
    assert set(ids(town, "ann")) == {"bob", "carl"}
