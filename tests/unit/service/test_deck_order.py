"""Who comes first in a deck, who never comes back, and how a deck ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kaczmatch.recommend.decks.policy import PaperPolicy
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town

COOLDOWN = timedelta(days=14)


def ids(town: Town, user: str, size: int | None = None) -> set[str]:
    return {card.person.id for card in town.deck(user, size).cards}


def answer_all(town: Town, user: str, decision: str) -> list[str]:
    hand = town.deck(user)
    for card in hand.cards:
        town.swipe(user, card.person.id, decision, deck=card.impression.deck)
    return [card.person.id for card in hand.cards]


@pytest.fixture
def repeating() -> Town:
    town = Town(MemoryStore(), repeats=True)
    town.couples(6)
    return town


def test_new_people_come_first_even_if_the_deck_is_short(repeating: Town) -> None:
    first = answer_all(repeating, "w0", "pass")
    assert len(first) == 4
    repeating.wait(days=15)
    assert ids(repeating, "w0", 4) == {f"m{place}" for place in range(6)} - set(first)  # two of four: nobody comes twice yet


def test_people_who_were_passed_come_back_the_longest_ago_first_and_marked(repeating: Town) -> None:
    order = [one for _ in range(2) for one in answer_all(repeating, "w0", "pass")]
    assert len(set(order)) == 6
    repeating.wait(days=15)
    hand = repeating.deck("w0", 3)
    assert {card.person.id for card in hand.cards} == set(order[:3])
    assert {card.how_dealt for card in hand.cards} == {"repeat"}
    logged = repeating.cards(user="w0", id=hand.deck.id if hand.deck else "")
    assert {(card.propensity, card.reason) for card in logged} == {(1.0, "repeat")}


def test_without_the_setting_nobody_comes_twice(town: Town) -> None:
    town.couples(3)
    answer_all(town, "w0", "pass")
    town.wait(days=400)
    hand = town.deck("w0")
    assert (hand.cards, hand.empty, hand.hints, hand.next_at) == ((), "everybody who fits has been answered", (), None)


def test_an_open_like_never_comes_back(repeating: Town) -> None:
    liked = {one for _ in range(2) for one in answer_all(repeating, "w0", "like")}
    repeating.wait(days=15)
    assert (len(liked), ids(repeating, "w0")) == (6, set())
    answer_all(repeating, "w1", "pass")
    answer_all(repeating, "w1", "like")
    repeating.wait(days=15)
    assert len(ids(repeating, "w1")) == 4


def test_an_empty_deck_says_when_somebody_comes_again_and_what_to_widen(repeating: Town) -> None:
    started = repeating.now
    answer_all(repeating, "w0", "pass")
    answer_all(repeating, "w0", "pass")
    repeating.move_in("old", man=True, born=started.date().replace(year=1950), tags=["jazz"])
    repeating.move_in("ann", youngest=20, oldest=40)
    answer_all(repeating, "ann", "pass")
    answer_all(repeating, "ann", "pass")
    first = min(pair.at for pair in repeating.cards(user="ann")) + timedelta(seconds=1)
    hand = repeating.deck("ann")
    assert hand.empty == "everybody who fits has been answered; widening 'age' would help most"
    assert [(hint.filter, hint.people) for hint in hand.hints] == [("age", 1)]
    assert hand.next_at == first + COOLDOWN
    repeating.clock.now = hand.next_at
    assert len(ids(repeating, "ann")) == 1


def test_a_skip_is_no_answer(town: Town) -> None:
    """Its person rests for the cooldown and is new again afterwards; an expired card is new at once."""
    town.couples(3)
    skipped = answer_all(town, "w0", "skip")
    ends = town.now - timedelta(seconds=2) + COOLDOWN
    assert ids(town, "w0") == set()
    assert town.deck("w0").next_at == ends
    town.wait(days=15)
    hand = town.deck("w0")
    assert {card.person.id for card in hand.cards} == set(skipped)
    assert {card.how_dealt for card in hand.cards} == {"sampled"}
    town.wait(hours=2)
    assert ids(town, "w0") == set(skipped)


def test_an_undone_answer_is_as_if_it_had_not_been(town: Town) -> None:
    town.couples(2)
    (first, *_) = ids(town, "w0", 2)
    swipe = town.swipe("w0", first, "like").event.id
    town.undoing.undo("w0", swipe).result()
    town.wait(hours=2)
    assert first in ids(town, "w0", 2)


def test_the_papers_policy_fills_a_deck_with_people_in_cooldown() -> None:
    town = Town(MemoryStore(), policy=PaperPolicy(), deck_size=6)
    town.couples(6)
    order = answer_all(town, "w0", "pass")
    town.move_in("new", man=True)
    hand = town.deck("w0", 4)
    assert {card.person.id: card.how_dealt for card in hand.cards} == {
        "new": "sampled",
        **dict.fromkeys(order[:3], "relaxed"),
    }
    town.swipe("w0", order[0], "like", deck=hand.deck.id if hand.deck else "")
    town.wait(hours=2)
    assert order[0] not in ids(town, "w0", 7)  # a like is open, whatever the policy


def test_who_was_answered_elsewhere_leaves_the_open_deck(town: Town) -> None:
    town.couples(3)
    assert ids(town, "w0") == {"m0", "m1", "m2"}
    town.import_swipe("w0", "m0", "like")
    town.import_swipe("w0", "m1", "pass")
    assert ids(town, "w0") == {"m2"}
