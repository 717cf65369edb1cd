"""One learner through one world, watched at every swipe: a fold of swipes that the world makes up session by session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, cosine_from_products, products
from kaczmatch.core.vectors import Integers, Matrix
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.logs.fold import GroupedSwipes
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.simulation.world import OPPOSITE, TIRED, World


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
    condition, d, choosing = world.condition, world.tags.shape[1], world.keys.shape[2] > 0
    users, swipes, cards = condition.users, condition.swipes, condition.cards
    starts = np.zeros((users, learner.working_size(d, swipes)))
    for row, prior in zip(starts, priors_of(learner, world), strict=True):
        start = learner.expand(learner.start(prior).cells, d)
        row[: len(start)] = start
    times = sorted(t for t in checkpoints if t <= swipes)
    found = Trace(
        learner,
        np.full((users, swipes), np.nan),
        np.empty((users, swipes), np.int64) if choosing else world.pools.reshape(users, swipes),
        np.empty((users, swipes), np.int8),
        times,
        np.empty((len(times), *starts.shape)),
        np.empty((users, condition.rounds, d)),
    )

    # A fold goes on until something is to be looked at: a session whose cards are chosen by what was learned, or a checkpoint.
    threads = os.cpu_count() or 1
    sessions = 1 if choosing else max(1, threads * _WATCHED // (users * cards * d))
    pauses = sorted({*times, *range(0, swipes, sessions * cards), swipes})

    def run(part: slice) -> None:
        work = starts[part].copy()
        for first, last in pairwise(pauses):
            if choosing and first % cards == 0:
                pool, keys = world.pools[part, first // cards], world.keys[part, first // cards]
                found.shown[part, first : first + cards] = _chosen(work, world.tags, pool, keys, cards)
            _fold_some(found, world, part, slice(first, last), starts[part], work)
            if last in times:
                found.snapshots[times.index(last), part] = work

    bounds = np.linspace(0, users, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, (slice(a, b) for a, b in pairwise(bounds) if b > a)))
    if not followed:
        found.alignment[:, :-1] = np.nan
    return found


_WATCHED = 1 << 21  # numbers


def _fold_some(found: Trace, world: World, users: slice, times: slice, starts: Matrix, work: Matrix) -> None:
    """Fold some swipes of some users into `work`, and keep what is seen of them."""
    cards, d, t = world.condition.cards, world.tags.shape[1], np.arange(times.start, times.stop)
    shown, phase = found.shown[users, times], np.array([world.phase(swipe) for swipe in t.tolist()])
    felt = world.likes[phase, np.arange(users.start, users.stop)[:, None], shown]
    turned = world.turned[users, times]
    found.labels[users, times] = np.where((turned != TIRED) & (felt != (turned == OPPOSITE)), 1, -1)
    opens = np.tile(t % cards == 0, len(work))
    label = found.labels[users, times].ravel().astype(np.float64)
    swipes = GroupedSwipes(world.tags, shown.ravel(), label, np.empty((shown.size, 0)), opens, np.empty(0, np.int64))
    begin, after = np.arange(0, shown.size, len(t)), np.empty((*shown.shape, d))
    last = times.stop % cards == 0
    swipes.fold(found.learner, work, starts, begin, begin + len(t), end_last=last, after=after.reshape(-1, d))
    ended = np.flatnonzero((t + 1) % cards == 0)
    found.ends[users, t[ended] // cards] = after[:, ended]
    _align(after, world.tastes, phase, users.start, found.alignment[users, times])


@compiled
def _chosen(work: Matrix, tags: Matrix, pool: NDArray[np.int64], keys: Matrix, cards: int) -> NDArray[np.int64]:
    """The cards of a session, drawn from each user's pool with weights max(0, cos(v, a))."""
    shown = np.empty((len(work), cards), np.int64)
    priority = np.empty(pool.shape[1])
    for u in range(len(work)):
        for c in range(len(priority)):
            va, vv, aa = products(work[u][: tags.shape[1]], tags[pool[u, c]])
            weight = cosine_from_products(va, vv, aa)
            # Exponential(weight) clocks ring in the order of a weighted draw; who has no weight comes last, at random.
            priority[c] = keys[u, c] / weight if weight > 0.0 else 1e300 * (1.0 + keys[u, c])
        shown[u] = pool[u][np.argsort(priority)[:cards]]
    return shown


@compiled
def _align(after: Matrix, tastes: Matrix, phase: Integers, first: int, alignment: Matrix) -> None:
    """The cosine of preference and taste after each swipe."""
    for u in range(after.shape[0]):
        for c in range(after.shape[1]):
            taste = tastes[phase[c], first + u]
            va, vv, aa = products(after[u, c][: len(taste)], taste)
            alignment[u, c] = cosine_from_products(va, vv, aa)
