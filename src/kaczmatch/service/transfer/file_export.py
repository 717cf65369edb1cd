"""Profiles and swipes in batches, as `importing` takes them back. What was learned and how people are judged is not among it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kaczmatch.formats.columns import PROFILE_COLUMNS, SWIPE_COLUMNS, time_text
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import without_undone
from kaczmatch.service.domain.records import Event, EventKind, Person
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.meeting.profiles import data_of

COLUMNS: Final = {"profiles": PROFILE_COLUMNS, "swipes": SWIPE_COLUMNS}
_AT_ONCE = 500

Batch = list[dict[str, Any]]


def export_batches(context: Context, what: str) -> Iterator[Batch]:
    return {"profiles": _profiles, "swipes": _swipes}[what](context)


def _pages(context: Context) -> Iterator[tuple[list[Person], Vocabulary]]:
    """Everybody; each page is as of its own moment, so that no reader keeps the store from cleaning up for long."""
    last: tuple[str, ...] = ()
    while True:
        with context.store.read() as reader:
            page = reader.find(Person, after=last, limit=_AT_ONCE)
            vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        if not page:
            return
        yield page, vocabulary
        last = (page[-1].id,)


def _profiles(context: Context) -> Iterator[Batch]:
    for page, vocabulary in _pages(context):
        yield [_profile(person, vocabulary) for person in page]


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


def _swipes(context: Context) -> Iterator[Batch]:
    """Those that were not undone, each user's in their order."""
    for page, _ in _pages(context):
        for person in page:
            with context.store.read() as reader:
                events = without_undone(reader.find(Event, user=person.id))
            batch = [
                {
                    "user": event.user,
                    "candidate": event.candidate,
                    "decision": None if event.decision is None else event.decision.value,
                    "at": time_text(event.at),
                    "id": event.id,
                }
                for event in events
                if event.kind == EventKind.SWIPED
            ]
            if batch:
                yield batch
