"""Which cards make up a deck, and with which probability each came into it.

A deck has up to three parts: some of the people who already liked the viewer, the sampler's own choice, and a few drawn
uniformly. Somebody can come in by any of them, so the probability is that of at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.index.membership import Numbers, among, places
from kaczmatch.recommend.policy import DeckPlan
from kaczmatch.recommend.samplers.contract import NO_ROWS, Draw, Pool, Rows


@final
@dataclass(frozen=True, slots=True, eq=False)
class Deal:
    """The people of a deck, the probability of each, and which of them were drawn uniformly.

    `least` is the smallest probability that anybody eligible had, and `foreseen` that of any eligible people, dealt or not.
    """

    numbers: Numbers
    propensities: Vector
    explored: Numbers
    min_propensity: float
    propensity_of: Callable[[Numbers], Vector]


@final
@dataclass(frozen=True, slots=True, eq=False)
class WeightedPool:
    """A pool with the numbers of its people, and the probability with which each came into it."""

    numbers: Numbers
    pool: Pool
    entry: Vector


def deal(
    decision: DeckPlan,
    size: int,
    uniformly: int,
    main: WeightedPool,
    admirers: WeightedPool,
    at_random: Numbers,
    rng: np.random.Generator,
) -> Deal:
    """`size` different people; `at_random` are some of `uniformly` many in random order, for the uniform ones."""
    explored, more = _split(decision.floor * size)
    explore = explored + int(rng.random() < more)
    quota = min(math.floor(decision.admirers * size), len(admirers.pool), size - explore)
    liked = decision.sampler.draw(admirers.pool, quota, rng) if quota else _NOTHING
    drawn = decision.sampler.draw(main.pool, size, rng)
    chosen = admirers.numbers[liked.rows]
    # Given who came in by the quota, the sampler fills the places that are left with its best of the others.
    taken = places(main.numbers, chosen) if quota else NO_ROWS
    by_sampler = drawn.beside(taken[taken >= 0])
    fresh = drawn.rows[~among(main.numbers[drawn.rows], chosen)] if quota else drawn.rows
    chosen = np.concatenate([chosen, main.numbers[fresh[: size - explore - quota]]])
    uniform = at_random[~among(at_random, chosen)][: size - len(chosen)] if len(at_random) else at_random
    numbers = np.concatenate([chosen, uniform]) if len(uniform) else chosen
    # What the sampler and the uniform cards give, for as many uniform cards as there may be, and how likely that is.
    ways = [
        (likely, by_sampler(max(size - cards - quota, 0)), min(cards / max(uniformly - (size - cards), 1), 1.0))
        for cards, likely in ((explored, 1.0 - more), (explored + 1, more))
        if likely > 0.0
    ]
    # Where the sampler had too few, the rest is uniform.
    rest = len(uniform) / max(uniformly - len(chosen), 1) if len(uniform) > explored + 1 else 0.0

    def chances(asked: Numbers, entry: Vector, missing: float) -> Vector:
        in_main = places(main.numbers, asked)
        found = np.zeros(len(asked))
        for likely, sampled, alone in ways:
            found += likely * _any(_taken(sampled, in_main, 0.0), alone)
        found = _taken(entry, in_main, missing) * np.maximum(found, rest)
        if quota:
            found = _any(found, _taken(liked.chances(quota), places(admirers.numbers, asked), 0.0))
        return np.minimum(found, 1.0)

    # Somebody who was not let in had no chance in this deal, somebody who was need not be weighed by that any more.
    let_in, entered = bool(main.entry.min(initial=1.0) < 1.0), np.ones(len(main.entry))

    def foreseen(asked: Numbers) -> Vector:
        return chances(asked, entered, 0.0 if let_in else 1.0)

    by_floor = sum(likely * alone for likely, _, alone in ways)
    seen = float(foreseen(main.numbers).min(initial=1.0))
    least = float(main.entry.min(initial=1.0)) * (seen if len(main.numbers) >= uniformly else min(seen, by_floor))
    return Deal(numbers, chances(numbers, main.entry, 1.0), uniform, least, foreseen)


_NOTHING = Draw(NO_ROWS, lambda _: lambda _: np.empty(0))


def _taken(values: Vector, rows: Rows, missing: float) -> Vector:
    """The values at some rows, and another where there is no row."""
    return np.where(rows >= 0, values[rows], missing) if len(values) else np.full(len(rows), missing)


def _any(one: Vector, other: Vector | float) -> Vector:
    return 1.0 - (1.0 - one) * (1.0 - other)


def most_explored(decision: DeckPlan, size: int) -> int:
    """The largest number of cards of a deck that are drawn uniformly."""
    least, more = _split(decision.floor * size)
    return least + (more > 0.0)


def _split(expected: float) -> tuple[int, float]:
    """A number of cards that is `expected` on average: at least so many, and one more with a probability."""
    least = math.floor(expected + 1e-9)
    return least, max(expected - least, 0.0)
