"""One group beside everybody else: how often its people are shown, liked and matched."""

from __future__ import annotations

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
