"""What a demo is about: dating, mentoring or jobs. Each has its kinds, its terms, and a few types of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.settings.model import DemoName

_ANYBODY: Final = (
    *("Robin", "Sasha", "Kim", "Noa", "Alex", "Quinn", "Charlie", "Sol", "Toni", "Jules"),
    *("Mika", "Luan", "Remy", "Kai", "Rio", "Bo", "Sky", "Ari", "Eden", "Ren"),
)
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "woman": (
        *("Mira", "Liv", "Noor", "Ines", "Zoe", "Ayla", "Runa", "Maja", "Tilda", "Esme"),
        *("Yuki", "Amara", "Lucia", "Freya", "Nadia", "Selma", "Ida", "Paloma", "Kaja", "Leila"),
    ),
    "man": (
        *("Jonas", "Emil", "Rafi", "Teo", "Milo", "Arun", "Kofi", "Luca", "Oskar", "Nils"),
        *("Tarek", "Ivo", "Mateo", "Finn", "Bruno", "Haru", "Anton", "Elio", "Sami", "Veit"),
    ),
    "job": (
        *("Backend developer", "Frontend developer", "Data analyst", "Data engineer", "Site engineer", "Tester"),
        *("Product designer", "Team lead", "Technical writer", "Security engineer", "Support engineer", "Researcher"),
    ),
    "": _ANYBODY,
}

Types = tuple[tuple[str, ...], ...]

GENERAL_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Moving": ("climbing", "hiking", "cycling", "running", "swimming", "yoga", "football", "sailing"),
    "Music": ("jazz", "techno", "opera", "guitar", "choir", "festivals", "dancing", "vinyl"),
    "Games and science": ("chess", "board games", "video games", "puzzles", "coding", "astronomy", "maths", "science fiction"),
    "Kitchen": ("cooking", "baking", "wine", "coffee", "vegan", "street food", "gardening", "fermenting"),
    "Arts": ("painting", "photography", "theatre", "museums", "poetry", "novels", "cinema", "ceramics"),
    "Life": ("dogs", "cats", "camping", "road trips", "volunteering", "languages", "meditation", "night owl"),
}


@final
@dataclass(frozen=True, slots=True)
class DemoWorld:
    """Types of people by their tags. A schema and terms of its own; or None, and those of the settings are used.

    `groups` puts tags under headings, for people who look for theirs.
    """

    types: Types
    groups: dict[str, tuple[str, ...]]
    schema: Schema | None = None
    terms: tuple[Term, ...] = ()
    shares: tuple[float, ...] = ()  # of the schema's kinds

    @property
    def vocabulary(self) -> Vocabulary | None:
        return Vocabulary(self.terms) if self.terms else None


def _every(types: Types) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tags in types for tag in tags))


def _of(kind: str, types: Types) -> tuple[Term, ...]:
    """The tags of some types, for one kind."""
    return tuple(Term(tag, kinds=(kind,)) for tag in _every(types))


def _each_other(one: str, other: str) -> dict[str, frozenset[str]]:
    return {one: frozenset({other}), other: frozenset({one})}


_INTERESTS: Final = (
    ("climbing", "hiking", "camping", "road trips", "sailing", "cycling"),
    ("jazz", "vinyl", "wine", "cinema", "night owl", "photography"),
    ("chess", "board games", "coding", "maths", "astronomy", "science fiction"),
    ("cooking", "baking", "gardening", "fermenting", "coffee", "street food"),
    ("painting", "theatre", "museums", "poetry", "novels", "ceramics"),
    ("techno", "festivals", "dancing", "night owl", "street food", "vinyl"),
    ("yoga", "meditation", "vegan", "choir", "volunteering", "languages"),
    ("football", "running", "swimming", "dogs", "video games", "cycling"),
)
_MENTORS: Final = (
    ("teaches Python", "teaches statistics", "works in research", "patient", "writes papers"),
    ("teaches design", "knows start-ups", "works in product", "direct", "gives contacts"),
    ("teaches security", "runs servers", "works in operations", "structured", "pairs at the keyboard"),
    ("leads a team", "hires people", "speaks on stages", "direct", "gives contacts"),
    ("knows contracts", "knows finance", "founded a company", "structured", "reads business plans"),
)
_MENTEES: Final = (
    ("student", "curious", "writes a thesis", "wants a plan"),
    ("career changer", "self-taught", "builds things", "wants feedback"),
    ("new manager", "ambitious", "has a team", "wants feedback"),
    ("founder", "ambitious", "has an idea", "wants contacts"),
    ("back after a break", "part time", "has experience", "wants a plan"),
)
_JOBS: Final = (
    ("small team", "start-up", "greenfield", "many hats", "equity"),
    ("large company", "legacy code", "career ladder", "pension", "office with a canteen"),
    ("public sector", "four-day week", "no overtime", "pension", "meaningful"),
    ("remote first", "asynchronous", "open source", "no meetings", "own hours"),
    ("agency", "travel", "changing projects", "client contact", "bonus"),
)
_CANDIDATES: Final = (
    ("Python", "SQL", "statistics", "notebooks", "presents well"),
    ("TypeScript", "accessibility", "design eye", "tests first", "prototypes"),
    ("Java", "large systems", "on call", "mentors others", "leads"),
    ("Linux", "networks", "security", "on call", "automates"),
    ("junior", "career changer", "learns fast", "asks questions", "prototypes"),
)
_PLACES: Final = ("remote", "in person", "English", "German", "Spanish", "full time", "evenings")

WORLDS: Final[dict[DemoName, DemoWorld]] = {
    "dating": DemoWorld(_INTERESTS, GENERAL_GROUPS),
    "mentoring": DemoWorld(
        (*_MENTORS, *_MENTEES),
        {"Mentors": _every(_MENTORS), "Mentees": _every(_MENTEES), "Where and when": _PLACES},
        Schema(("mentor", "mentee"), age_required=False, looks_for=_each_other("mentor", "mentee"), capacity={"mentor": 3}),
        (*map(Term, _PLACES), *_of("mentor", _MENTORS), *_of("mentee", _MENTEES)),
        (0.4, 0.6),
    ),
    "jobs": DemoWorld(
        (*_JOBS, *_CANDIDATES),
        {"Jobs": _every(_JOBS), "Candidates": _every(_CANDIDATES), "Where and when": _PLACES},
        Schema(("job", "candidate"), age_required=False, looks_for=_each_other("job", "candidate"), capacity={"job": 5}),
        (*map(Term, _PLACES), *_of("job", _JOBS), *_of("candidate", _CANDIDATES)),
        (0.35, 0.65),
    ),
}
