"""One group beside everybody else: how often its people are shown, liked and matched."""

from __future__ import annotations

import numpy as np
import pytest

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.operations.groups import compare_group
from kaczmatch.storage import MemoryStore
from worlds.town import Town


def test_people_with_a_tag_are_compared_with_all_others() -> None:
    town = Town(MemoryStore())
    town.move_in("ann", tags=["jazz"])
    town.move_in("bob", man=True, tags=["chess"])
    town.move_in("carl", man=True, tags=["jazz"])
    town.swipe("ann", "bob")
    town.swipe("bob", "ann")
    found = compare_group(town.context, "jazz")
    assert (found.members.people, found.others.people) == (2, 1)
    assert (found.members.matches, found.others.matches) == (1, 1)
    assert found.others.likes == 1
    assert (found.members.cards, found.others.cards) == (2, 1)  # Carl and Ann, Bob
    assert compare_group(town.context, "woman").members.people == 1
    with pytest.raises(InvalidInput, match="jazz"):
        compare_group(town.context, "jaz")


def test_cards_likes_and_matches_are_of_the_same_people_on_both_sides() -> None:
    """Of many people a sample is looked at, whoever came first or last. Nobody counts in one figure and not in another."""
    town = Town(MemoryStore())
    town.populate(200)
    for place in range(0, 200, 2):
        for other in [card.person.id for card in town.deck(f"p{place}").cards]:
            town.swipe_outside(f"p{place}", other)
            town.swipe_outside(other, f"p{place}")
    whole = [compare_group(town.context, "woman", most=200).members, compare_group(town.context, "man", most=200).members]
    assert [one.people for one in whole] == [100, 100]
    assert whole[0].matches == whole[1].matches > 0
    sampled = [compare_group(town.context, "woman", most=50, seed=seed) for seed in range(20)]
    assert sampled[0] == compare_group(town.context, "woman", most=50, seed=0)
    assert all(50 <= one.members.people + one.others.people < 60 for one in sampled)
    by_person = np.mean(
        [[one.members.matches / one.members.people, one.others.matches / one.others.people] for one in sampled], axis=0
    )
    assert by_person == pytest.approx([one.matches / one.people for one in whole], rel=0.1)


def test_matches_of_before_the_decks_that_are_looked_at_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town(MemoryStore())
    town.couples(2)
    town.swipe("w0", "m0")
    town.swipe("m0", "w0")
    town.wait(days=1)
    last = town.deck("w1").deck
    monkeypatch.setattr("kaczmatch.service.operations.groups._DECKS", 1)
    found = compare_group(town.context, "man")
    assert last is not None
    assert (found.since, found.members.cards, found.members.matches) == (last.at, 2, 0)
