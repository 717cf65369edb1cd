"""Profiles and swipes in batches, as `importing` takes them back. What was learned and how people are judged is not among it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kaczmatch.formats.columns import PROFILE_COLUMNS, SWIPE_COLUMNS, time_text
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import without_undone
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import Event, EventKind, Person
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.meeting.profiles import data_of

COLUMNS: Final = {"profiles": PROFILE_COLUMNS, "swipes": SWIPE_COLUMNS}
_AT_ONCE: Final = {"profiles": 500, "swipes": 100}  # people

Batch = list[dict[str, Any]]


def export_batches(context: Context, what: str, parts: StoreParts = StoreParts()) -> Iterator[Batch]:  # noqa: B008
    """Everybody; each batch is as of its own moment."""
    return parts.of_people(context, {"profiles": _profiles, "swipes": _swipes}[what], _AT_ONCE[what])


def _profiles(context: Context, people: Sequence[str]) -> Batch:
    with context.store.read() as reader:
        page = reader.many(Person, [(user,) for user in people])
        vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
    return [_profile(page[user,], vocabulary) for user in people if (user,) in page]


def _profile(person: Person, vocabulary: Vocabulary) -> dict[str, Any]:
    tags, features = tags_of(person, vocabulary)
    place = None if person.row is None or person.column is None else Location(person.row, person.column)
    return {
        "id": person.id,
        "name": person.name,
        "born": None if person.born is None else person.born.isoformat(),
        "i_am": list(person.i_am),
        "i_look_for": list(person.i_look_for),
        "youngest": person.youngest,
        "oldest": person.oldest,
        "latitude": None if place is None else place.latitude,
        "longitude": None if place is None else place.longitude,
        "within_km": person.within_km,
        "capacity": person.capacity,
        "tags": tags,
        "features": features,
        "data": data_of(person),
        "paused": person.paused,
    }


def _swipes(context: Context, people: Sequence[str]) -> Batch:
    """Those that were not undone, each user's in their order."""
    with context.store.read() as reader:
        logs = reader.of_people(Event, "user", people)
        gone = leaving(reader, {event.candidate for log in logs.values() for event in log})
    return [
        {
            "user": event.user,
            "candidate": event.candidate,
            "decision": None if event.decision is None else event.decision.value,
            "at": time_text(event.at),
            "id": event.id,
        }
        for user in people
        for event in without_undone(logs[user])
        if event.kind == EventKind.SWIPED and event.candidate not in gone
    ]
