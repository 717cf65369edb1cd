"""People with tags and hidden tastes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.vectors import Matrix

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
