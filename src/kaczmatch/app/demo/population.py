"""Invented people: a few types, each with their tags, and hidden tastes for a type; the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, final

import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.schemas.profiles import Coordinates, ProfileInput

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "woman": (
        *("Mira", "Liv", "Noor", "Ines", "Zoe", "Ayla", "Runa", "Maja", "Tilda", "Esme"),
        *("Yuki", "Amara", "Lucia", "Freya", "Nadia", "Selma", "Ida", "Paloma", "Kaja", "Leila"),
    ),
    "man": (
        *("Jonas", "Emil", "Rafi", "Teo", "Milo", "Arun", "Kofi", "Luca", "Oskar", "Nils"),
        *("Tarek", "Ivo", "Mateo", "Finn", "Bruno", "Haru", "Anton", "Elio", "Sami", "Veit"),
    ),
    "": (
        *("Robin", "Sasha", "Kim", "Noa", "Alex", "Quinn", "Charlie", "Sol", "Toni", "Jules"),
        *("Mika", "Luan", "Remy", "Kai", "Rio", "Bo", "Sky", "Ari", "Eden", "Ren"),
    ),
}
TYPES: Final[tuple[tuple[str, ...], ...]] = (
    ("climbing", "hiking", "camping", "road trips", "sailing", "cycling"),
    ("jazz", "vinyl", "wine", "cinema", "night owl", "photography"),
    ("chess", "board games", "coding", "maths", "astronomy", "science fiction"),
    ("cooking", "baking", "gardening", "fermenting", "coffee", "street food"),
    ("painting", "theatre", "museums", "poetry", "novels", "ceramics"),
    ("techno", "festivals", "dancing", "night owl", "street food", "vinyl"),
    ("yoga", "meditation", "vegan", "choir", "volunteering", "languages"),
    ("football", "running", "swimming", "dogs", "video games", "cycling"),
)
TOWN: Final = (48.1, 11.6)  # where they live, or near it
_OWN_TAGS, _STRAY_TAGS = 4, 2
_LOVES, _MINDS = 1.6, 1.4  # what a tag of the type one loves adds to the log-odds of a like, and of the one one avoids


@final
@dataclass(frozen=True, slots=True, eq=False)
class DemoPopulation:
    """Everybody, and what each of them likes: a row of weights over the vocabulary's tags."""

    people: dict[str, ProfileInput]
    tags: Matrix
    tastes: Matrix
    names: tuple[str, ...]

    def like_log_odds(self, place: int, tags: Matrix) -> Matrix:
        """The log-odds with which somebody likes each row of tags."""
        return np.asarray(tags @ self.tastes[place] - 1.0)

    def search(self, words: str) -> list[str]:
        """Who has a name that begins so, or a tag of that name; everybody, for nothing."""
        begin = words.strip().lower()
        if not begin:
            return list(self.people)
        return [
            user
            for user, about in self.people.items()
            if about.name.lower().startswith(begin) or any(tag.lower().startswith(begin) for tag in about.tags)
        ]

    def taste(self, identifier: str) -> dict[str, float] | None:
        ids = list(self.people)
        if identifier not in self.people:
            return None
        row = self.tastes[ids.index(identifier)]
        return {name: float(weight) for name, weight in zip(self.names, row.tolist(), strict=True) if weight}


def draw_population(people: int, seed: int, names: Sequence[str], today: date, schema: Schema = DATING) -> DemoPopulation:
    """So many people over the tags of a vocabulary; types keep to the tags that are in it."""
    rng = np.random.default_rng(seed)
    places = {name: place for place, name in enumerate(names)}
    types = [[places[tag] for tag in tags if tag in places] for tags in TYPES]
    types = [kind for kind in types if kind] or [list(group) for group in np.array_split(np.arange(len(names)), 4) if len(group)]
    tags, tastes = np.zeros((people, len(names))), np.zeros((people, len(names)))
    made: dict[str, ProfileInput] = {}
    for row in range(people):
        own, loved, avoided = rng.integers(len(types)), *rng.choice(len(types), 2, replace=len(types) < 2)
        tags[row, rng.choice(types[own], min(_OWN_TAGS, len(types[own])), replace=False)] = 1.0
        tags[row, rng.choice(len(names), min(_STRAY_TAGS, len(names)), replace=False)] = 1.0
        tastes[row, types[avoided]] = -_MINDS
        tastes[row, types[loved]] = _LOVES
        identifier, about = _about(row, tags[row], names, today, schema, rng)
        made[identifier] = about
    return DemoPopulation(made, tags, tastes, tuple(names))


def _about(
    row: int, tags: Matrix, names: Sequence[str], today: date, schema: Schema, rng: np.random.Generator
) -> tuple[str, ProfileInput]:
    kinds = schema.kinds
    if kinds == DATING.kinds:
        i_am = str(rng.choice(kinds, p=(0.48, 0.48, 0.04)))
        usual = {"woman": "man", "man": "woman"}.get(i_am, "")
        draw = rng.random()
        look_for = frozenset(kinds) if draw < 0.12 or not usual else frozenset({i_am} if draw < 0.22 else {usual})
    else:
        i_am, look_for = str(rng.choice(kinds)), frozenset(kinds)
    name = str(rng.choice(NAMES.get(i_am, NAMES[""])))
    age = max(schema.minimum_age + 1, int(rng.normal(33, 8)))
    about = ProfileInput(
        name=name,
        born=today - timedelta(days=int(age * 365.25 + rng.integers(0, 365))),
        i_am=frozenset({i_am}),
        i_look_for=look_for,
        youngest=max(schema.minimum_age, age - int(rng.integers(5, 12))),
        oldest=age + int(rng.integers(5, 14)),
        location=Coordinates(latitude=float(TOWN[0] + rng.normal(0, 0.2)), longitude=float(TOWN[1] + rng.normal(0, 0.3))),
        within_km=float(rng.choice([50.0, 100.0, 200.0])),
        tags=frozenset(names[place] for place in np.flatnonzero(tags).tolist()),
    )
    return f"{name.lower()}-{row + 1}", about
