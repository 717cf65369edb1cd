"""One learner through one world, watched at every swipe."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numba import types
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_as, cosine_from_products, products
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.kernels import END_SESSION_SIGNATURE, FORGET_SIGNATURE, INPUT, SWIPE_SIGNATURE, TASTE_CHANGED
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.simulation.world import World

_CELLS = types.Array(types.float64, 2, "C")
_CUBE = types.Array(types.float64, 3, "C")


@compiled
def _said(like: bool, turned: int) -> float:
    """What a swipe says: as felt, the opposite, or a pass for being too tired to like."""
    return 1.0 if turned != 2 and like != (turned == 1) else -1.0


@compiled_as(
    types.void(
        types.FunctionType(SWIPE_SIGNATURE),
        types.FunctionType(END_SESSION_SIGNATURE),
        types.FunctionType(FORGET_SIGNATURE),
        INPUT,
        _CELLS,
        types.Array(types.float64, 2, "C", readonly=True),
        types.Array(types.float64, 3, "C", readonly=True),
        types.Array(types.boolean, 3, "C", readonly=True),
        types.int64,
        types.Array(types.int64, 3, "C", readonly=True),
        types.Array(types.float64, 3, "C", readonly=True),
        types.Array(types.int8, 2, "C", readonly=True),
        types.int64,
        types.boolean,
        types.Array(types.int64, 1, "C", readonly=True),
        _CELLS,
        types.Array(types.int64, 2, "C"),
        types.Array(types.int8, 2, "C"),
        _CUBE,
        _CUBE,
    )
)
def _trace(
    swipe: Any,
    end_session: Any,
    forget: Any,
    parameters: Vector,
    work: Matrix,
    tags: Matrix,
    tastes: Matrix,
    likes: NDArray[np.bool_],
    drift_at: int,
    pools: NDArray[np.int64],
    keys: Matrix,
    turned: NDArray[np.int8],
    cards: int,
    followed: bool,
    checkpoints: NDArray[np.int64],
    alignment: Matrix,
    shown: NDArray[np.int64],
    labels: NDArray[np.int8],
    snapshots: Matrix,
    ends: Matrix,
) -> None:
    d = tags.shape[1]
    nothing_said = np.empty(0)  # by others
    choose = keys.shape[2] > 0
    priority = np.empty(pools.shape[2])
    for u in range(work.shape[0]):
        cells = work[u]
        start = cells.copy()
        v = cells[:d]
        t = 0
        place = 0
        for s in range(pools.shape[1]):
            pool = pools[u, s]
            if choose:
                for c in range(len(pool)):
                    va, vv, aa = products(v, tags[pool[c]])
                    weight = cosine_from_products(va, vv, aa)
                    # Exponential(weight) clocks ring in the order of a weighted draw; who has no weight comes last, at random.
                    priority[c] = keys[u, s, c] / weight if weight > 0.0 else 1e300 * (1.0 + keys[u, s, c])
                order = np.argsort(priority)
            for c in range(cards):
                candidate = pool[order[c]] if choose else pool[c]
                phase = 1 if 0 < drift_at <= t else 0
                y = _said(likes[phase, u, candidate], turned[u, t])
                if swipe(cells, tags[candidate], nothing_said, y, parameters) == TASTE_CHANGED:
                    forget(cells, start, 0.0)
                shown[u, t] = candidate
                labels[u, t] = y
                if c == cards - 1:
                    end_session(cells, d, parameters)
                    for i in range(d):
                        ends[u, s, i] = v[i]
                if followed or t == alignment.shape[1] - 1:
                    va, vv, aa = products(v, tastes[phase, u])
                    alignment[u, t] = cosine_from_products(va, vv, aa)
                t += 1
                if place < len(checkpoints) and t == checkpoints[place]:
                    for i in range(len(cells)):
                        snapshots[place, u, i] = cells[i]
                    place += 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What one learner did in one world."""

    learner: Learner
    alignment: Matrix  # users x swipes: cosine of preference and taste after each
    shown: NDArray[np.int64]  # users x swipes
    labels: NDArray[np.int8]  # users x swipes
    checkpoints: Sequence[int]
    snapshots: Matrix  # checkpoints x users x working cells
    ends: Matrix  # users x sessions x tags: preference at each session's end

    def weights(self, checkpoint: int) -> Matrix:
        """Everybody's preference after so many swipes."""
        rows: Matrix = self.snapshots[self.checkpoints.index(checkpoint)]
        return rows[:, : self.ends.shape[2]]

    def states(self, checkpoint: int, priors: Sequence[Prior]) -> list[State]:
        """Everybody's state after so many swipes."""
        d = self.ends.shape[2]
        rows = self.snapshots[self.checkpoints.index(checkpoint)]
        return [self.learner.state(self.learner.compact(row, d), d, prior) for row, prior in zip(rows, priors, strict=True)]


def priors_of(learner: Learner, world: World) -> list[Prior]:
    """Where each user starts: at unit length, but for learners of probabilities at a weight of one a tag on average."""
    scale = np.sqrt(world.tags.shape[1]) if isinstance(learner, ProbabilisticLearner) else 1.0
    return [Prior(scale * prior) for prior in world.priors]


def trace(learner: Learner, world: World, checkpoints: Sequence[int] = (), *, followed: bool = True) -> Trace:
    """Let `learner` see every user's swipes in `world`, on all cores; alignment only after the last where not `followed`."""
    condition, d = world.condition, world.tags.shape[1]
    users, swipes = condition.users, condition.swipes
    work = np.zeros((users, learner.working_size(d, swipes)))
    for row, prior in zip(work, priors_of(learner, world), strict=True):
        start = learner.expand(learner.start(prior).cells, d)
        row[: len(start)] = start
    times = np.array(sorted(t for t in checkpoints if t <= swipes), np.int64)
    alignment = np.full((users, swipes), np.nan)
    shown = np.empty((users, swipes), np.int64)
    labels = np.empty((users, swipes), np.int8)
    snapshots = np.empty((len(times), users, work.shape[1]))
    ends = np.empty((users, condition.rounds, d))

    def run(part: slice) -> None:
        kept = np.empty((len(times), part.stop - part.start, work.shape[1]))
        _trace(
            learner.kernels.swipe,
            learner.kernels.end_session,
            learner.kernels.forget,
            learner.parameters,
            work[part],
            world.tags,
            np.ascontiguousarray(world.tastes[:, part]),
            np.ascontiguousarray(world.likes[:, part]),
            condition.drift_at,
            world.pools[part],
            world.keys[part],
            world.turned[part],
            condition.cards,
            followed,
            times,
            alignment[part],
            shown[part],
            labels[part],
            kept,
            ends[part],
        )
        snapshots[:, part] = kept

    threads = os.cpu_count() or 1
    bounds = np.linspace(0, users, 2 * threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, (slice(a, b) for a, b in pairwise(bounds) if b > a)))
    return Trace(learner, alignment, shown, labels, times.tolist(), snapshots, ends)
