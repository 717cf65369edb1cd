"""What decks give away of other people's tastes stays below what the documentation states."""

from __future__ import annotations

from typing import Any

import pytest

from kaczmatch.service.domain.refusals import TooMany
from worlds.attack import EDITS, AttackedTown, cosines
from worlds.town import about

LOOKS = 240


@pytest.fixture(scope="module")
def whole() -> tuple[AttackedTown, dict[str, float]]:
    town = AttackedTown(0)
    return town, cosines(town.watch(LOOKS, len(town.women)), town.taste(), LOOKS)


def test_scores_would_give_a_taste_away(whole: tuple[AttackedTown, dict[str, float]]) -> None:
    """So the attack is a good one, and no user may get scores."""
    assert whole[1]["sees the probability"] > 0.99
    assert whole[1]["sees high or low"] > 0.85


def test_the_order_of_a_deck_tells_nothing_of_what_others_like(whole: tuple[AttackedTown, dict[str, float]]) -> None:
    assert abs(whole[1]["sees decks"]) < 0.35  # two deviations and a half of a random direction among sixty


@pytest.mark.parametrize(
    ("women", "size", "more"), [(32, 4, {}), (32, 4, {"cap": 1e9}), (2, 1, {"cap": 1e9}), (32, 4, {"traits": 4})]
)
def test_who_is_in_a_deck_tells_less_than_the_stated_bound(women: int, size: int, more: dict[str, Any]) -> None:
    town = AttackedTown(0, women=women, **more)
    assert cosines(town.watch(LOOKS, size), town.taste(), LOOKS)["sees decks"] < (0.9 if "cap" in more else 0.5)


def test_picks_tell_more_than_decks_with_a_cap_as_the_page_says() -> None:
    town = AttackedTown(0)
    assert 0.5 < cosines(town.watch_picks(LOOKS // 2, 4), town.taste(), LOOKS // 2)["sees decks"] < 0.9


def test_an_account_gets_no_more_looks_than_its_quota(whole: tuple[AttackedTown, dict[str, float]]) -> None:
    town, account = whole[0], whole[0].accounts[0]
    town.wait(days=1)

    def edit(place: int) -> None:
        town.people.put(account, about(account, man=True, tags=[town.names[place]])).result()

    for place in range(EDITS):
        edit(place)
    with pytest.raises(TooMany):
        edit(EDITS)
