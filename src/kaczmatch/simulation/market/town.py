"""Everybody in a market, and whom each of them truly likes: towns to choose from, by hidden tastes that no learner sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, check_integer, check_number, did_you_mean
from kaczmatch.core.vectors import Matrix, unit_rows
from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.simulation.world import Rng, population

Pairs = NDArray[np.bool_]

START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY: Final = START.date()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Town:
    """One seed of a population, with all that is random drawn once: every policy meets the same people and the same answers.

    The identifier of a profile is its place. A swipe says what its user feels, but for the careless ones; whoever is asked
    twice says the same.
    """

    seed: int
    vocabulary: Vocabulary
    profiles: Sequence[Profile]
    likes: Pairs  # viewers x candidates: what they feel
    says: Pairs  # viewers x candidates: what they would swipe

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def possible(self) -> Pairs:
        """Pairs that could come of it: they may meet, like each other and would say so."""
        good = self.likes & self.says & compatible(self.profiles)
        return np.asarray(good & good.T)


def compatible(profiles: Sequence[Profile]) -> Pairs:
    """Viewers x candidates: who may be shown to whom at the start, by the readable filters."""
    candidates = FilterColumns.from_profiles(profiles, profiles[0].schema)
    return np.array([passes_all_filters(profile, candidates, DAY) for profile in profiles])


_BORN: Final = date(DAY.year - 30, 1, 1)
_YOUNGEST: Final = 18
_PAPER_THETA: Final = 0.52
_NO_TAGS: Final = ("person_id", "sex", "orientation", "age", "status")  # columns of real profiles


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
    names, profiles = _draw_people(census.people, 2 * census.side, rng)
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


def _draw_people(path: Path, people: int, rng: Rng) -> tuple[list[str], list[Profile]]:
    """The names of the tags, and so many adults from a file of profiles. Birthdays and the ages they look for are made up."""
    import polars as pl  # the lab draws invented people, and the service alone does without it

    if not path.is_file():
        raise InvalidInput("people", f"there is no file {path}")
    table = pl.read_csv(path)
    missing = [name for name in ("sex", "orientation", "age") if name not in table.columns]
    if missing:
        raise InvalidInput("people", f"{path} has no column {missing[0]!r}")
    adults = table.filter(pl.col("age") >= _YOUNGEST)
    if len(adults) < people:
        raise InvalidInput("people", f"{path} has {len(adults)} adults, fewer than {people}")
    some = adults[np.sort(rng.choice(len(adults), people, replace=False)).tolist()]
    names = [name for name in some.columns if name not in _NO_TAGS]
    tags = some.select(names).to_numpy().astype(np.float64)
    days, wider = rng.integers(0, 365, people), rng.integers(3, 13, (2, people))
    profiles = []
    for place, (sex, orientation, age) in enumerate(some.select("sex", "orientation", "age").iter_rows()):
        own, other = ("man", "woman") if sex == "m" else ("woman", "man")
        looks_for = {"straight": {other}, "gay": {own}}.get(orientation, {"man", "woman"})
        profiles.append(
            Profile(
                id=place,
                i_am=frozenset({own}),
                i_look_for=frozenset(looks_for),
                born=DAY.replace(year=DAY.year - age) - timedelta(days=int(days[place])),
                features=tags[place],
                ages=(max(_YOUNGEST, int(age - wider[0, place])), int(age + wider[1, place])),
            )
        )
    return names, profiles
