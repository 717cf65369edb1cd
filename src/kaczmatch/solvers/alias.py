"""Draws from fixed weights in constant time: Walker's alias table (1977), built as Vose does (1991).

Each of m boxes of equal size holds at most two of the m outcomes. Box i gives i with probability `share[i]`, else `other[i]`. One
uniform number picks the box by its integer part and the outcome by the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.system import Places


@final
@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """The boxes; `draw` takes outcomes out of them."""

    share: Vector
    other: Places

    def draw(self, rng: np.random.Generator, count: int) -> Places:
        """`count` outcomes, independently."""
        return _picked(rng.random(count), self.share, self.other)


def alias_table(weights: Vector) -> AliasTable:
    """The table for weights that are not negative and not all 0."""
    share, other = _boxes(weights * (len(weights) / weights.sum()))
    return AliasTable(share, other)


@compiled
def _boxes(mean_one: Vector) -> tuple[Vector, Places]:
    """Boxes for weights of mean 1: what is too much for its own box fills those with room."""
    m = mean_one.shape[0]
    share = mean_one.copy()
    other = np.arange(m)
    small, large = np.empty(m, np.int64), np.empty(m, np.int64)
    few, many = 0, 0
    for i in range(m):
        if share[i] < 1.0:
            small[few] = i
            few += 1
        else:
            large[many] = i
            many += 1
    while few > 0 and many > 0:
        few -= 1
        poor, rich = small[few], large[many - 1]
        other[poor] = rich
        share[rich] -= 1.0 - share[poor]
        if share[rich] < 1.0:
            many -= 1
            small[few] = rich
            few += 1
    for i in range(many):  # only rounding keeps these from being 1
        share[large[i]] = 1.0
    heaviest = np.argmax(mean_one)
    for i in range(few):  # nor these; what has weight 0 must not be drawn for it
        if mean_one[small[i]] > 0.0:
            share[small[i]] = 1.0
        else:
            other[small[i]] = heaviest
    return share, other


@compiled
def _picked(uniform: Vector, share: Vector, other: Places) -> Places:
    m = share.shape[0]
    picked = np.empty(uniform.shape[0], np.int64)
    for k in range(uniform.shape[0]):
        at = uniform[k] * m
        i = min(int(at), m - 1)
        picked[k] = i if at - i < share[i] else other[i]
    return picked
