"""The parts of a deck together: what each person's probability is once some have come in by the quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.recommend.decks.dealing import Deal, WeightedPool, deal
from kaczmatch.recommend.decks.policy import DeckPlan
from kaczmatch.recommend.samplers.contract import Draw, Pool, Retrieval, Sampler
from kaczmatch.recommend.samplers.ranked_draw import draw_by_samples
from kaczmatch.recommend.samplers.weighted_draw import draw_weighted, inclusion_probabilities

SIZE, PEOPLE, ROWS = 5, 12, 16


class Crowd:
    """A pool of which the samplers here ask nothing but its size and what they are told of it."""

    def __init__(self, told: Any) -> None:
        self.told = told

    def __len__(self) -> int:
        return int(np.shape(self.told)[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyRow(Sampler):
    """One of some rankings, each as likely as the others."""

    slug: ClassVar[str] = "any-row"
    reach: ClassVar[Retrieval] = Retrieval.BEST_MUTUAL

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        told: Any = pool
        return draw_by_samples(rng.permutation(told.told).astype(np.float32), size, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByWeight(Sampler):
    slug: ClassVar[str] = "by-weight"
    reach: ClassVar[Retrieval] = Retrieval.EVERYBODY

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        told: Any = pool
        return draw_weighted(told.told, size, rng)


def dealt(sampler: Sampler, told: Any, admirers: int, seed: int) -> Deal:
    """A deck in which all admirers, who are the first people, have a place."""
    everybody = np.arange(PEOPLE, dtype=np.int32)
    decision = DeckPlan(sampler=sampler, reason="test", admirer_quota=admirers / SIZE)
    pools: Any = Crowd(told), Crowd(told[..., :admirers])
    main, liked = (
        WeightedPool(everybody, pools[0], np.ones(PEOPLE)),
        WeightedPool(everybody[:admirers], pools[1], np.ones(admirers)),
    )
    return deal(decision, SIZE, PEOPLE, main, liked, everybody[:0], np.random.default_rng(seed))


@given(st.integers(0, SIZE), st.integers(0, 999))
def test_who_has_a_place_already_takes_none_of_the_others(admirers: int, seed: int) -> None:
    """By enumeration: every ranking is as likely, and each gives the places that are left to its best of the others."""
    scores = np.random.default_rng(seed).random((ROWS, PEOPLE))
    hand = dealt(AnyRow(), scores, admirers, seed)
    places = np.argsort(np.argsort(-scores[:, admirers:], axis=1), axis=1)
    expected = np.append(np.ones(admirers), (places < SIZE - admirers).mean(axis=0))
    assert hand.propensity_of(np.arange(PEOPLE, dtype=np.int32)) == pytest.approx(expected)
    assert hand.propensities == pytest.approx(expected[hand.numbers])


def test_a_race_without_those_who_have_a_place_is_among_the_others() -> None:
    weights, admirers = np.linspace(3.0, 0.5, PEOPLE), 3
    hand = dealt(ByWeight(), weights, admirers, 0)
    expected = np.append(np.ones(admirers), inclusion_probabilities(weights[admirers:], SIZE - admirers))
    assert hand.propensity_of(np.arange(PEOPLE, dtype=np.int32)) == pytest.approx(expected)
