"""Towns to choose from. Whom people like is decided by hidden tastes that no learner sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer, check_number, did_you_mean
from kaczmatch.core.vectors import Matrix, unit_rows
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.simulation.market.real_people import draw_people
from kaczmatch.simulation.market.town import DAY, Pairs, Town, compatible
from kaczmatch.simulation.population import Rng, population

_BORN: Final = date(DAY.year - 30, 1, 1)
_PAPER_THETA: Final = 0.52


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How large a town is, and how its people answer."""

    side: int = 300  # people on each side
    tags: int = 60  # where the population does not bring its own
    like_rate: float = 0.2  # share of the people they could meet whom people like; the paper's population has its own
    label_noise: float = 0.2  # share of pairs about whom somebody says the opposite of what they feel
    people: Path | None = None  # real profiles, for the population that is drawn from them

    def __post_init__(self) -> None:
        check_integer("side", self.side, low=2, high=100_000)
        check_integer("tags", self.tags, low=2, high=10_000)
        check_number("like_rate", self.like_rate, low=0.0, high=1.0, open_low=True)
        check_number("label_noise", self.label_noise, low=0.0, high=1.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Profiles, and how each viewer takes to each candidate."""

    names: list[str]
    profiles: list[Profile]
    scores: Matrix


def _paper(census: Census, rng: Rng) -> _Drawn:
    """Tags and tastes are fair coins."""
    return _two_sides("uniform", census, rng)


def _archetypes(census: Census, rng: Rng) -> _Drawn:
    """Eight kinds of people and of tastes, each with a fifth of its tags turned over."""
    return _two_sides("archetypes", census, rng)


def _popularity(census: Census, rng: Rng) -> _Drawn:
    """The archetypes, and as much as tastes differ something that nobody's tags tell and everybody sees alike."""
    plain = _two_sides("archetypes", census, rng)
    seen_alike = rng.normal(size=len(plain.profiles))
    return _Drawn(plain.names, plain.profiles, (plain.scores - plain.scores.mean()) / plain.scores.std() + seen_alike)


def _okcupid(census: Census, rng: Rng) -> _Drawn:
    """Real profiles; the taste of each is the profile of somebody they could meet."""
    if census.people is None:
        raise InvalidInput("people", "this population is drawn from real profiles: name their file, with --people people.csv.gz")
    names, profiles = draw_people(census.people, 2 * census.side, rng)
    meet = compatible(profiles)
    ideals = [rng.choice(np.flatnonzero(row)) if row.any() else place for place, row in enumerate(meet)]
    tags = np.array([profile.features for profile in profiles])
    return _Drawn(names, profiles, unit_rows(tags[ideals]) @ unit_rows(tags).T)


_POPULATIONS: Mapping[str, Callable[[Census, Rng], _Drawn]] = MappingProxyType(
    {"paper": _paper, "archetypes": _archetypes, "popularity": _popularity, "okcupid": _okcupid}
)
ABOUT: Mapping[str, str] = MappingProxyType({name: (draw.__doc__ or "").strip() for name, draw in _POPULATIONS.items()})


def town(kind: str, seed: int, census: Census = Census()) -> Town:  # noqa: B008
    """One seed of the population called `kind`."""
    if kind not in _POPULATIONS:
        raise InvalidInput("population", f"there is no population {kind!r}; {did_you_mean(kind, _POPULATIONS)}")
    if census.people is not None and kind != "okcupid":
        raise InvalidInput("people", f"are for the population 'okcupid'; {kind!r} is made up")
    found = _POPULATIONS[kind](census, np.random.default_rng([seed, 0, 0]))
    likes = found.scores >= _threshold(kind, census, found.scores, compatible(found.profiles))
    turned = np.random.default_rng([seed, 0, 1]).random(likes.shape) < census.label_noise
    return Town(seed, Vocabulary.of(found.names), found.profiles, likes, likes ^ turned)


def _threshold(kind: str, census: Census, scores: Matrix, meet: Pairs) -> float:
    if kind == "paper":
        return _PAPER_THETA
    if not meet.any():
        raise InvalidInput("population", "nobody in it could meet anybody")
    return float(np.quantile(scores[meet], 1.0 - census.like_rate))


def _two_sides(kind: str, census: Census, rng: Rng) -> _Drawn:
    """As many women as men, each looking for the other, all of one age; scores are cosines."""
    everybody = population(kind, 2 * census.side, census.tags, rng)
    sides = ("woman", "man") * census.side
    profiles = [
        Profile(
            id=place,
            i_am=frozenset({own}),
            i_look_for=frozenset({"man" if own == "woman" else "woman"}),
            born=_BORN,
            features=everybody.tags[place],
        )
        for place, own in enumerate(sides)
    ]
    names = [f"tag {number + 1}" for number in range(census.tags)]
    return _Drawn(names, profiles, unit_rows(everybody.tastes) @ unit_rows(everybody.tags).T)
