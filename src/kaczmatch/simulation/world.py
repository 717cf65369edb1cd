"""Invented people with hidden tastes, and everything random in one run, drawn once: every learner meets the same world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, check_number, did_you_mean
from kaczmatch.core.vectors import Matrix, unit_rows

UNSEEN: Final = 500  # candidates that nobody swipes on, for AUC and log-loss
OPPOSITE, TIRED = 1, 2  # what a swipe may say instead of what is felt

Rng = np.random.Generator


@final
@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """One row a person: the tags they show, and the soulmate vector nobody sees."""

    tags: Matrix
    tastes: Matrix


def uniform(people: int, tags: int, rng: Rng) -> Population:
    """Every tag of everybody a fair coin (the paper)."""
    return Population(_coins(rng, people, tags), _coins(rng, people, tags))


def sparse(people: int, tags: int, rng: Rng) -> Population:
    """Each tag with a popularity of its own, most of them rare: six tags a person on average at sixty."""
    popularity = 0.2 * rng.beta(1.0, 1.0, tags)
    return Population(*((rng.random((people, tags)) < popularity).astype(float) for _ in range(2)))


def correlated(people: int, tags: int, rng: Rng) -> Population:
    """Tags that go together: signs of a normal vector with five common factors."""
    factors = rng.normal(size=(5, tags))

    def draw() -> Matrix:
        hidden = rng.normal(size=(people, 5)) @ factors / np.sqrt(5.0) + rng.normal(size=(people, tags))
        return np.asarray(hidden > 0.0, np.float64)

    return Population(draw(), draw())


def archetypes(people: int, tags: int, rng: Rng) -> Population:
    """Eight kinds of people and eight kinds of taste, each with a fifth of its tags turned over."""
    kinds = _coins(rng, 8, tags)

    def draw() -> Matrix:
        turned = rng.random((people, tags)) < 0.2
        return np.abs(kinds[rng.integers(0, 8, people)] - turned)

    return Population(draw(), draw())


POPULATIONS: Mapping[str, Callable[[int, int, Rng], Population]] = MappingProxyType(
    {"uniform": uniform, "sparse": sparse, "correlated": correlated, "archetypes": archetypes}
)


def population(kind: str, people: int, tags: int, rng: Rng) -> Population:
    """The population called `kind`."""
    if kind not in POPULATIONS:
        raise InvalidInput("population", f"there is no population {kind!r}; {did_you_mean(kind, POPULATIONS)}")
    return POPULATIONS[kind](people, tags, rng)


def _coins(rng: Rng, people: int, tags: int) -> Matrix:
    return (rng.random((people, tags)) < 0.5).astype(float)


Labels = Literal["raw-dot", "cosine", "calibrated"]
PriorKind = Literal["informed", "ones", "own-tags"]
Sampling = Literal["row-norm", "cosine"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Defaults are the paper's sizes.

    ``labels``: ``raw-dot`` likes where g·a ≥ θ (the paper as run), ``cosine`` where cos(g, a) ≥ θ (the paper as written),
    ``calibrated`` where the cosine is in the upper `like_rate` of the population's. ``prior``: ``informed`` is the taste with a
    share `prior_noise` of its bits turned over. ``sampling``: ``row-norm`` shows candidates in proportion to their number of
    tags, ``cosine`` draws a pool and shows half of it in proportion to max(0, cos(v, a)), in twice as many sessions.
    """

    labels: Labels = "cosine"
    prior: PriorKind = "ones"
    sampling: Sampling = "row-norm"
    population: str = "uniform"
    label_noise: float = 0.2  # share of swipes that say the opposite
    theta: float = 0.52
    like_rate: float = 0.4
    prior_noise: float = 0.3
    drift_at: int = 0  # swipe from which everybody has another taste; 0 for never
    fatigue: float = 0.0  # chance that the last like of a session becomes a pass; it grows over the session
    people: int = 2_000
    tags: int = 60
    users: int = 100
    sessions: int = 200
    deck: int = 32

    def __post_init__(self) -> None:
        for name, kinds in (("labels", Labels), ("prior", PriorKind), ("sampling", Sampling)):
            if getattr(self, name) not in get_args(kinds):
                raise InvalidInput(
                    name, f"there is no {getattr(self, name)!r}; {did_you_mean(getattr(self, name), get_args(kinds))}"
                )
        if self.population not in POPULATIONS:
            raise InvalidInput("population", f"there is no {self.population!r}; {did_you_mean(self.population, POPULATIONS)}")
        for name in ("label_noise", "like_rate", "prior_noise", "fatigue"):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        for name, low in (("people", 2), ("tags", 2), ("users", 1), ("sessions", 1), ("deck", 2)):
            check_number(name, getattr(self, name), low=low)
        if self.deck >= self.people:
            raise InvalidInput("deck", f"must be below the number of people, {self.people}, got {self.deck}")
        if self.users > self.people:
            raise InvalidInput("users", f"must be at most the number of people, {self.people}, got {self.users}")

    @property
    def cards(self) -> int:
        """Candidates shown a session."""
        return self.deck if self.sampling == "row-norm" else self.deck // 2

    @property
    def rounds(self) -> int:
        """Sessions, doubled where each shows half as many."""
        return self.sessions if self.sampling == "row-norm" else 2 * self.sessions

    @property
    def swipes(self) -> int:
        return self.cards * self.rounds


PAPER = Condition(labels="raw-dot", prior="informed")
PAPER_ADAPTIVE = Condition(labels="cosine", prior="informed", sampling="cosine")
HONEST = Condition(labels="cosine", prior="ones")
HONEST_ADAPTIVE = Condition(labels="cosine", prior="ones", sampling="cosine")


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
    turned: NDArray[np.int8]  # users x swipes: 0 as felt, OPPOSITE, or TIRED: too tired to like
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
        turned[rng.random(shape) < condition.fatigue * place] = TIRED
    return turned
