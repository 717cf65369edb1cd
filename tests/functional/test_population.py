"""Decks for real profiles: everybody gets one or an honest reason, and no filter is ever violated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from population import DECK, POLICIES, dealt, population

ROOT = Path(__file__).parents[2]
PEOPLE = ROOT.parent / "shared" / "data" / "okcupid" / "people.csv.gz"


@pytest.mark.skipif(not PEOPLE.exists(), reason=f"needs the real profiles in {PEOPLE.relative_to(ROOT.parent)}")
def test_every_member_of_a_real_population_gets_a_deck_or_a_reason() -> None:
    people = population(PEOPLE)
    assert len(people.profiles) == 59_946
    for policy in POLICIES.values():
        found = dealt(people, policy, every=150)
        assert found.violations == found.unfounded == 0
        assert all(reason for reason in found.empty)
        assert np.count_nonzero(found.pools) + sum(found.empty.values()) == len(found.pools) == 400
        assert found.cards.sum() == np.minimum(found.pools, DECK).sum()
