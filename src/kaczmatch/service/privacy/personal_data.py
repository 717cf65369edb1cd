"""Everything kept about one person, for that person: complete, and nobody else's data with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.quotas import told
from kaczmatch.service.domain.records import (
    Block,
    Dealt,
    Event,
    Impression,
    Learned,
    Match,
    Message,
    Pair,
    Person,
    Record,
    Report,
    Standing,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import standing, tags_of

# What others look like, how they were judged and what tells of others' tastes is theirs.
_NOT_THEIRS: dict[type[Record], tuple[str, ...]] = {
    Person: ("features",),
    Event: ("features", "appeal", "number"),
    Impression: ("chance", "score", "reason"),  # somebody drawn at random has not liked the viewer
    Dealt: ("least",),
    Learned: ("state", "anchor"),
    Pair: ("excess", "information", "weighed"),
    Standing: ("excess", "information", "weighed", "spent"),  # the last is told in a readable form
    Message: ("number",),
}


def export(context: Context, user: str) -> dict[str, Any]:
    """As plain values, ready for JSON but for dates and times."""
    with context.store.read() as reader:
        person = reader.get(Person, user)
        if person is None:
            raise nobody(user)
        current = context.catalogue.current(reader)
        tags, features = tags_of(person, context.catalogue.vocabulary(reader, current.vocabulary))
        learned, counters = reader.get(Learned, current.model, user), standing(reader, user)
        parts = {
            "profile": _plain(person) | {"tags": tags, "features": features},
            "counters": _plain(counters),
            "quotas": [{"what": what, "since": since, "used": used} for what, (since, used) in told(counters).items()],
            "learned": None if learned is None else _plain(learned),
            **{name: _all(reader, kind, user) for name, kind in _LISTS.items()},
        }
    preference = Preferences(context).of(user, most=1_000_000)
    return parts | {"preference": asdict(preference)}


_LISTS: dict[str, type[Record]] = {
    "events": Event,
    "decisions": Pair,
    "decks": Dealt,
    "cards_shown": Impression,
    "matches": Match,
    "blocks": Block,
    "reports": Report,
    "messages": Message,
}


def _all(reader: Reader, kind: type[Record], user: str) -> list[dict[str, Any]]:
    return [_plain(record) for record in reader.find(kind, user=user)]


def _plain(record: Record) -> dict[str, Any]:
    hidden = _NOT_THEIRS.get(type(record), ())
    return {name: value for name, value in asdict(record).items() if name not in hidden}
