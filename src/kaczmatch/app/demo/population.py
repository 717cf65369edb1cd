"""Invented people: a few types, each with their tags, and hidden tastes for a type; the same ones for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, final

import numpy as np

from kaczmatch.app.demo.worlds import NAMES, WORLDS, DemoWorld, Types
from kaczmatch.core.vectors import Integers, Matrix
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.schemas.profiles import Coordinates, ProfileInput

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


def draw_population(
    people: int, seed: int, vocabulary: Vocabulary, today: date, schema: Schema = DATING, world: DemoWorld = WORLDS["dating"]
) -> DemoPopulation:
    """So many people over the tags of a vocabulary; types keep to the tags that are in it, and to the kinds that have them."""
    rng, chooser = np.random.default_rng(seed), np.random.default_rng([seed, 3])
    kinds = chooser.choice(schema.kinds, people, p=world.shares or None).tolist()
    tag_terms = [term for term in vocabulary.terms if term.is_tag and not term.retired]
    names = [term.name for term in tag_terms]
    tags, tastes = np.zeros((people, len(names))), np.zeros((people, len(names)))
    sides = {i_am: _sides(tag_terms, world.types, i_am, schema) for i_am in ("", *schema.kinds)}
    made: dict[str, ProfileInput] = {}
    namesakes: Counter[str] = Counter()
    for row in range(people):
        i_am = kinds[row] if world.shares else ""  # without shares it is drawn below, and has every tag
        may_have, own_types, other_types = sides[i_am]
        own, loved, avoided = rng.integers(len(own_types)), *rng.choice(len(other_types), 2, replace=len(other_types) < 2)
        tags[row, rng.choice(own_types[own], min(_OWN_TAGS, len(own_types[own])), replace=False)] = 1.0
        tags[row, rng.choice(may_have, min(_STRAY_TAGS, len(may_have)), replace=False)] = 1.0
        tastes[row, other_types[avoided]] = -_MINDS
        tastes[row, other_types[loved]] = _LOVES
        has = frozenset(names[place] for place in np.flatnonzero(tags[row]).tolist())
        about = _about(has, i_am, today, schema, rng)
        identifier = f"{about.name.lower().replace(' ', '-')}-{row + 1}"
        made[identifier] = about.model_copy(update={"name": _unique(about.name, namesakes)})
    return DemoPopulation(made, tags, tastes, tuple(names))


def _sides(terms: Sequence[Term], types: Types, i_am: str, schema: Schema) -> tuple[Integers, list[Integers], list[Integers]]:
    """The places of the tags that a kind can have, the types it can be, and the types of those whom it looks for."""

    def those(kinds: Collection[str]) -> tuple[Integers, list[Integers]]:
        places = {term.name: place for place, term in enumerate(terms) if term.is_for(kinds)}
        found = [np.array([places[tag] for tag in tags if tag in places], np.int64) for tags in types]
        every = np.array(list(places.values()), np.int64)
        return every, [one for one in found if len(one)] or np.array_split(every, 4)

    return *those({i_am}), those(schema.usually_looks_for({i_am}))[1]


def _unique(name: str, namesakes: Counter[str]) -> str:
    """Mira, Mira B., Mira C. and so on: two people of one name would look like a mistake."""
    number, letters = namesakes[name], ""
    namesakes[name] += 1
    if not number:
        return name
    while number:
        number, letter = divmod(number, 26)
        letters = chr(ord("A") + letter) + letters.lower()
    return f"{name} {letters}."


def _about(tags: frozenset[str], i_am: str, today: date, schema: Schema, rng: np.random.Generator) -> ProfileInput:
    kinds = schema.kinds
    if i_am:
        look_for = schema.usually_looks_for({i_am})
    elif kinds == DATING.kinds:
        i_am = str(rng.choice(kinds, p=(0.48, 0.48, 0.04)))
        usual = {"woman": "man", "man": "woman"}.get(i_am, "")
        draw = rng.random()
        look_for = frozenset(kinds) if draw < 0.12 or not usual else frozenset({i_am} if draw < 0.22 else {usual})
    else:
        i_am, look_for = str(rng.choice(kinds)), frozenset(kinds)
    name = str(rng.choice(NAMES.get(i_am, NAMES[""])))
    age = max(schema.minimum_age + 1, int(rng.normal(33, 8)))
    ages: dict[str, Any] = {
        "born": today - timedelta(days=int(age * 365.25 + rng.integers(0, 365))),
        "youngest": max(schema.minimum_age, age - int(rng.integers(5, 12))),
        "oldest": age + int(rng.integers(5, 14)),
    }
    return ProfileInput(
        name=name,
        i_am=frozenset({i_am}),
        i_look_for=look_for,
        location=Coordinates(latitude=float(TOWN[0] + rng.normal(0, 0.2)), longitude=float(TOWN[1] + rng.normal(0, 0.3))),
        within_km=float(rng.choice([50.0, 100.0, 200.0])),
        tags=tags,
        **ages if schema.age_required else {},
    )
