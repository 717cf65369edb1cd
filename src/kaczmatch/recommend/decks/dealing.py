"""Which people a deck is dealt, and the propensity of each.

A deck has up to three parts: admirers of the viewer, the sampler's choice, and a few people drawn uniformly. A person can enter
by any part, so the propensity is the probability of entering by at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.decks.policy import DeckPlan
from kaczmatch.recommend.index.membership import PersonNumbers, is_in, positions_in
from kaczmatch.recommend.samplers.contract import NO_ROWS, Draw, Pool, RowIndices, Sampler


@final
@dataclass(frozen=True, slots=True, eq=False)
class Deal:
    """The people of a deck, their propensities, and which of them were drawn uniformly.

    `min_propensity` is the smallest propensity of any eligible person. `propensity_of` gives the propensities of any eligible
    people, dealt or not.
    """

    numbers: PersonNumbers
    propensities: Vector
    uniform: PersonNumbers
    min_propensity: float
    propensity_of: Callable[[PersonNumbers], Vector]


@final
@dataclass(frozen=True, slots=True, eq=False)
class WeightedPool:
    """A pool, the numbers of its people, and the probability with which each of them entered the pool."""

    numbers: PersonNumbers
    pool: Pool
    entry_probability: Vector


def deal(
    plan: DeckPlan,
    size: int,
    eligible: int,
    main: WeightedPool,
    admirers: WeightedPool,
    shuffled: PersonNumbers,
    rng: np.random.Generator,
) -> Deal:
    """Draw `size` different people. The uniform cards come from `shuffled`: some of the `eligible` people, in random order."""
    min_uniform, extra = _split(plan.uniform_floor * size)
    uniform_cards = min_uniform + int(rng.random() < extra)
    quota = min(math.floor(plan.admirer_quota * size), len(admirers.pool), size - uniform_cards)
    admirer_draw = _draw(plan.sampler, admirers.pool, quota, rng)
    main_draw = plan.sampler.draw(main.pool, size, rng)
    chosen = admirers.numbers[admirer_draw.rows]
    # Given the admirers that were drawn, the sampler fills the remaining cards with its best of the others.
    taken = positions_in(main.numbers, chosen) if quota else NO_ROWS
    by_sampler = main_draw.conditional(taken[taken >= 0])
    fresh = main_draw.rows[~is_in(main.numbers[main_draw.rows], chosen)] if quota else main_draw.rows
    chosen = np.concatenate([chosen, main.numbers[fresh[: size - uniform_cards - quota]]])
    uniform = shuffled[~is_in(shuffled, chosen)][: size - len(chosen)] if len(shuffled) else shuffled
    numbers = np.concatenate([chosen, uniform]) if len(uniform) else chosen
    # For each possible number of uniform cards: its probability, and that of a uniform card; then the sampler's probabilities.
    cases = [(cards, weight) for cards, weight in ((min_uniform, 1.0 - extra), (min_uniform + 1, extra)) if weight > 0.0]
    weighted = [(weight, min(cards / max(eligible - (size - cards), 1), 1.0)) for cards, weight in cases]
    sampled = [by_sampler(max(size - cards - quota, 0)) for cards, _ in cases]
    # Where the sampler had too few candidates, the remaining cards are uniform.
    rest = len(uniform) / max(eligible - len(chosen), 1) if len(uniform) > min_uniform + 1 else 0.0
    by_row = _by_row(np.array(sampled), np.array(weighted), rest)
    as_admirer = _with_last(admirer_draw.inclusion_probabilities(quota), 0.0)

    def propensities(asked: PersonNumbers, rows: RowIndices, entry: Vector) -> Vector:
        found = entry[rows] * by_row[rows]
        if quota:
            found = _either(found, as_admirer[positions_in(admirers.numbers, asked)])
        return np.minimum(found, 1.0)

    # Given this pool, the propensity of its people is not weighted by their entry probability, and that of all others is 0.
    entry = float(main.entry_probability.min(initial=1.0))
    entered = _with_last(np.ones(len(main.numbers)), 0.0 if entry < 1.0 else 1.0)

    def propensity_of(asked: PersonNumbers) -> Vector:
        return propensities(asked, positions_in(main.numbers, asked), entered)

    by_floor = sum(weight * by_chance for weight, by_chance in weighted)
    by_pool = propensities(main.numbers, np.arange(len(main.numbers)), entered) if quota else by_row[:-1]
    in_pool = float(by_pool.min(initial=1.0))
    min_propensity = entry * (in_pool if len(main.numbers) >= eligible else min(in_pool, by_floor))
    dealt = propensities(numbers, positions_in(main.numbers, numbers), _with_last(main.entry_probability, 1.0))
    return Deal(numbers, dealt, uniform, min_propensity, propensity_of)


def _draw(sampler: Sampler, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
    """So many rows of a pool. Where that is all of them, nothing has to be drawn."""
    if size < len(pool):
        return sampler.draw(pool, size, rng) if size else Draw(NO_ROWS, lambda _: lambda _: np.zeros(len(pool)))
    return Draw(np.arange(size), lambda _: lambda _: np.ones(size))


def _with_last(values: Vector, last: float) -> Vector:
    """One more value. `np.append` would take five times as long."""
    longer = np.empty(len(values) + 1)
    longer[:-1], longer[-1] = values, last
    return longer


@compiled_short
def _by_row(sampled: Matrix, weighted: Matrix, least: float) -> Vector:
    """The probability of a card by the sampler or by chance, over all cases: of each row of the pool; and last, at the row -1, of
    whoever is not in it."""
    cases, rows = sampled.shape
    found = np.empty(rows + 1)
    for j in range(rows + 1):
        total = 0.0
        for case in range(cases):
            by_sampler = sampled[case, j] if j < rows else 0.0
            total += weighted[case, 0] * (1.0 - (1.0 - by_sampler) * (1.0 - weighted[case, 1]))
        found[j] = max(total, least)
    return found


def _either(one: Vector, other: Vector | float) -> Vector:
    """The probability of at least one of two independent events."""
    return 1.0 - (1.0 - one) * (1.0 - other)


def max_uniform_cards(plan: DeckPlan, size: int) -> int:
    """The largest number of cards of a deck that are drawn uniformly."""
    min_uniform, extra = _split(plan.uniform_floor * size)
    return min_uniform + (extra > 0.0)


def _split(expected: float) -> tuple[int, float]:
    """A random number of cards with mean `expected`: a minimum, and the probability of one more."""
    minimum = math.floor(expected + 1e-9)
    return minimum, max(expected - minimum, 0.0)


def first_stage(
    everybody: PersonNumbers, admiring: PersonNumbers, size: int, rng: np.random.Generator
) -> tuple[PersonNumbers, Vector]:
    """All admirers and a uniform sample of the others, with the probability of each to enter."""
    others = everybody[~is_in(everybody, admiring)]
    if size >= len(others):
        return everybody, np.ones(len(everybody))
    drawn = rng.choice(others, size, replace=False, shuffle=False)
    return np.concatenate([admiring, drawn]), np.append(np.ones(len(admiring)), np.full(size, size / len(others)))
