"""Decks for real profiles: everybody gets one or an honest reason, and no filter is ever violated."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PEOPLE = ROOT.parent / "shared" / "data" / "okcupid" / "people.csv.gz"


@pytest.fixture(scope="module")
def population() -> ModuleType:
    spec = importlib.util.spec_from_file_location("population", ROOT / "benchmarks" / "population.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["population"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not PEOPLE.exists(), reason=f"needs the real profiles in {PEOPLE.relative_to(ROOT.parent)}")
def test_every_member_of_a_real_population_gets_a_deck_or_a_reason(population: ModuleType) -> None:
    people = population.population(PEOPLE)
    assert len(people.profiles) == 59_946
    for policy in population.POLICIES.values():
        found = population.dealt(people, policy, every=150)
        assert found.violations == found.unfounded == 0
        assert all(reason for reason in found.empty)
        assert np.count_nonzero(found.pools) + sum(found.empty.values()) == len(found.pools) == 400
        assert found.cards.sum() == np.minimum(found.pools, population.DECK).sum()
