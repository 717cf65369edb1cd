"""Everything random in one run, drawn once: every learner meets the same people, candidates and noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, unit_rows
from kaczmatch.simulation.condition import Condition
from kaczmatch.simulation.population import population

UNSEEN = 500  # candidates that nobody swipes on, for AUC and log-loss


@final
@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One seed of one condition."""

    condition: Condition
    seed: int
    tags: Matrix  # candidates x tags
    tastes: Matrix  # phases x users x tags: one phase, or two where tastes change
    priors: Matrix  # users x tags, unit length
    likes: NDArray[np.bool_]  # phases x users x candidates: clean labels
    pools: NDArray[np.int64]  # users x sessions x pool
    keys: Matrix  # users x sessions x pool: exponential draws that choose from a pool
    turned: NDArray[np.int8]  # users x swipes: 0 as felt, 1 the opposite, 2 too tired to like
    unseen: Matrix
    unseen_likes: NDArray[np.bool_]  # phases x users x unseen, by the cosine rule

    def phase(self, swipe: int) -> int:
        return int(0 < self.condition.drift_at <= swipe)


def world(condition: Condition, seed: int) -> World:
    """The world of a seed. Its parts have streams of their own, so that conditions differ only in what they name."""
    streams = [np.random.default_rng([seed, part]) for part in range(7)]
    everybody = population(condition.population, condition.people, condition.tags, streams[0])
    active = streams[1].choice(condition.people, condition.users, replace=False)
    tastes = everybody.tastes[active][None]
    if condition.drift_at:
        later = population(condition.population, condition.people, condition.tags, streams[0]).tastes[active]
        tastes = np.concatenate([tastes, later[None]])
    unseen = population(condition.population, UNSEEN, condition.tags, streams[5]).tags
    pools, keys = _shown(condition, everybody.tags, active, streams[2])
    return World(
        condition=condition,
        seed=seed,
        tags=everybody.tags,
        tastes=tastes,
        priors=_priors(condition, everybody.tags[active], tastes[0], streams[4]),
        likes=np.stack([_likes(condition, taste, everybody.tags) for taste in tastes]),
        pools=pools,
        keys=keys,
        turned=_turned(condition, streams[3]),
        unseen=unseen,
        unseen_likes=np.stack([_cosines(taste, unseen) >= _theta(condition, taste, everybody.tags) for taste in tastes]),
    )


def with_label_noise(one: World, noise: float) -> World:
    """The same world with another label noise."""
    condition = replace(one.condition, label_noise=noise)
    return replace(one, condition=condition, turned=_turned(condition, np.random.default_rng([one.seed, 3])))


def _cosines(tastes: Matrix, tags: Matrix) -> Matrix:
    return unit_rows(tastes) @ unit_rows(tags).T


def _theta(condition: Condition, tastes: Matrix, tags: Matrix) -> float:
    if condition.labels != "calibrated":
        return condition.theta
    return float(np.quantile(_cosines(tastes, tags), 1.0 - condition.like_rate))


def _likes(condition: Condition, tastes: Matrix, tags: Matrix) -> NDArray[np.bool_]:
    if condition.labels == "raw-dot":
        return np.asarray(tastes @ tags.T >= condition.theta)
    return np.asarray(_cosines(tastes, tags) >= _theta(condition, tastes, tags))


def _priors(condition: Condition, own: Matrix, tastes: Matrix, rng: np.random.Generator) -> Matrix:
    if condition.prior == "informed":
        return unit_rows(np.abs(tastes - (rng.random(tastes.shape) < condition.prior_noise)))
    return unit_rows(own if condition.prior == "own-tags" else np.ones_like(own))


def _shown(
    condition: Condition, tags: Matrix, active: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], Matrix]:
    """Pools to choose from, with the draws that choose; for row-norm sampling the pool is the deck."""
    shape = (condition.users, condition.rounds, condition.deck)
    weights = tags.sum(axis=1) if condition.sampling == "row-norm" else np.ones(len(tags))
    if np.count_nonzero(weights) <= condition.deck:
        raise InvalidInput("deck", f"only {np.count_nonzero(weights)} people have tags, too few for {condition.deck} a session")
    chances = np.cumsum(weights)

    def draw(count: int) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(chances, rng.random(count) * chances[-1], side="right"), np.int64)

    pools = draw(shape[0] * shape[1] * shape[2]).reshape(shape)
    again = _repeated(pools, active)
    while again.any():  # drawing again what was drawn already is a weighted draw without replacement
        pools[again] = draw(int(again.sum()))
        again = _repeated(pools, active)
    return pools, rng.exponential(size=shape) if condition.sampling == "cosine" else np.zeros((*shape[:2], 0))


def _repeated(pools: NDArray[np.int64], active: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Cards that show somebody a second time in a session, or the user."""
    order = np.argsort(pools, axis=2, kind="stable")
    ordered = np.take_along_axis(pools, order, axis=2)
    repeated = pools == active[:, None, None]
    twice = np.zeros(pools.shape, np.bool_)
    np.put_along_axis(twice, order[..., 1:], ordered[..., 1:] == ordered[..., :-1], axis=2)
    return np.asarray(repeated | twice)


def _turned(condition: Condition, rng: np.random.Generator) -> NDArray[np.int8]:
    shape = (condition.users, condition.swipes)
    turned = (rng.random(shape) < condition.label_noise).astype(np.int8)
    if condition.fatigue:
        place = np.arange(condition.swipes) % condition.cards / max(condition.cards - 1, 1)
        turned[rng.random(shape) < condition.fatigue * place] = 2
    return turned
