"""Everything kept about one person, for that person: complete, and nobody else's data with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.quotas import quota_usage
from kaczmatch.service.domain.records import (
    AbuseReport,
    Block,
    Event,
    Impression,
    LatestDecision,
    MatchSide,
    OutboxMessage,
    Person,
    PersonCounters,
    Record,
    StoredDeck,
    StoredState,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import counters_of, data_of, tags_of

# What others look like, how they were judged and what tells of others' tastes is theirs.
HIDDEN_FIELDS: dict[type[Record], tuple[str, ...]] = {
    Person: ("features",),
    Event: ("features", "appeal", "number"),
    Impression: ("propensity", "score", "reason"),  # somebody drawn at random has not liked the viewer
    StoredDeck: ("min_propensity",),
    StoredState: ("state", "session_direction"),
    LatestDecision: ("excess", "information", "appeal_as_of"),
    PersonCounters: ("excess", "information", "appeal_as_of", "quota_use"),  # the last is told in a readable form
    OutboxMessage: ("number",),
}


def export(context: Context, user: str) -> dict[str, Any]:
    """As plain values, ready for JSON but for dates and times."""
    with context.store.read() as reader:
        person = reader.get(Person, user)
        if person is None:
            raise nobody(user)
        current = context.catalogue.current(reader)
        tags, features = tags_of(person, context.catalogue.vocabulary(reader, current.vocabulary))
        learned, counters = reader.get(StoredState, current.model, user), counters_of(reader, user)
        parts = {
            "profile": _plain(person) | {"tags": tags, "features": features, "data": data_of(person)},
            "counters": _plain(counters),
            "quotas": [{"what": what, "since": since, "used": used} for what, (since, used) in quota_usage(counters).items()],
            "learned": None if learned is None else _plain(learned),
            **{name: _all(reader, kind, user) for name, kind in _LISTS.items()},
        }
    preference = Preferences(context).of(user, most=1_000_000)
    return parts | {"preference": preference.model_dump()}


_LISTS: dict[str, type[Record]] = {
    "events": Event,
    "decisions": LatestDecision,
    "decks": StoredDeck,
    "cards_shown": Impression,
    "matches": MatchSide,
    "blocks": Block,
    "reports": AbuseReport,
    "messages": OutboxMessage,
}


def _all(reader: Reader, kind: type[Record], user: str) -> list[dict[str, Any]]:
    return [_plain(record) for record in reader.find(kind, user=user)]


def _plain(record: Record) -> dict[str, Any]:
    hidden = HIDDEN_FIELDS.get(type(record), ())
    return {name: value for name, value in asdict(record).items() if name not in hidden}
