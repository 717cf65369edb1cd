"""Everything kept about one person, for that person: complete, and nobody else's data with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, final

from pydantic_core import to_json

from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import answered_cards
from kaczmatch.service.domain.leaving import leaving, without_leaving
from kaczmatch.service.domain.quotas import EXPORTS, quota_usage
from kaczmatch.service.domain.records import (
    AbuseReport,
    Block,
    Event,
    FeatureSnapshot,
    LatestDecision,
    MatchSide,
    OutboxMessage,
    Person,
    PersonCounters,
    Pick,
    Record,
    StoredDeck,
    StoredState,
    columns,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.preferences import Preferences, last_event
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.meeting.profiles import charge_reading, counters_of, data_of

# What others look like, how they were judged and what tells of others' tastes is theirs.
HIDDEN_FIELDS: Final[dict[type[Record], tuple[str, ...]]] = {
    Person: ("features", "features_version"),
    FeatureSnapshot: ("features",),  # told in a readable form
    Event: ("features_version", "appeal", "number"),
    Pick: ("score",),
    StoredDeck: ("min_propensity", "cards"),  # its cards are told in a readable form
    StoredState: ("state", "session_direction"),
    LatestDecision: ("excess", "information", "appeal_as_of", "first_answer"),
    PersonCounters: ("excess", "information", "appeal_as_of", "quota_use"),  # the last is told in a readable form
    OutboxMessage: ("number",),
}


# Those that grow with what somebody does, which are kept for the next export, and the others.
_LONG: Final[dict[str, type[Record]]] = {
    "events": Event,
    "decisions": LatestDecision,
    "decks": StoredDeck,
}
_SHORT: Final[dict[str, type[Record]]] = {
    "matches": MatchSide,
    "picks": Pick,
    "blocks": Block,
    "reports": AbuseReport,
    "messages": OutboxMessage,
}


@final
@dataclass(frozen=True, slots=True)
class PersonalData:
    """The use case of seeing everything."""

    context: Context
    answers: AnswerCache

    def export(self, user: str, *, by_user: bool = False) -> bytes:
        """As JSON. `by_user`: the user's own token asks, and has a quota; what was made before is free."""
        context = self.context
        with context.store.read() as reader:
            person = reader.get(Person, user)
            if person is None:
                raise nobody(user)
            current = context.catalogue.current(reader)
            vocabulary = context.catalogue.vocabulary(reader, current.vocabulary)
            tags, features = tags_of(person, vocabulary)
            learned, counters = reader.get(StoredState, current.model, user), counters_of(reader, user)
            used = quota_usage(counters).items()
            parts: dict[str, Any] = {
                "features_as_seen": [
                    _plain(one)
                    | dict(zip(("tags", "features"), tags_of(replace(person, features=one.features), vocabulary), strict=True))
                    for one in reader.find(FeatureSnapshot, user=user)
                ],
                "profile": _plain(person) | {"tags": tags, "features": features, "data": data_of(person)},
                "counters": _plain(counters),
                "quotas": [{"what": what, "since": since, "used": times} for what, (since, times) in used],
                "learned": None if learned is None else _plain(learned),
                **_lists(reader, _SHORT, user),
            }
            # Each of the long lists changes with an event or a deck, and gets shorter by an erasure or with age.
            version = (last_event(reader, user), counters.last_deck, *(reader.count(kind, user=user) for kind in _LONG.values()))
        parts["preference"] = Preferences(context).of(user, most=1_000_000)
        long = self.answers.answer(("export", user), version, lambda: self._long_lists(user, by_user=by_user))
        return to_json(parts)[:-1] + b"," + long[1:]

    def _long_lists(self, user: str, *, by_user: bool) -> bytes:
        if by_user:
            charge_reading(self.context, user, EXPORTS, self.context.config.exports)
        with self.context.store.read() as reader:
            return to_json(_lists(reader, _LONG, user) | {"cards_shown": _cards_shown(reader, user)})


def _lists(reader: Reader, kinds: dict[str, type[Record]], user: str) -> dict[str, list[dict[str, Any]]]:
    """Without records of people who are being erased."""
    found = {name: reader.find(kind, user=user) for name, kind in kinds.items()}
    others = {kind: [name for name in ("other", "candidate") if name in columns(kind)] for kind in kinds.values()}
    return {name: [_plain(one) for one in without_leaving(reader, found[name], *others[kind])] for name, kind in kinds.items()}


def _cards_shown(reader: Reader, user: str) -> list[dict[str, Any]]:
    """Without propensity, score and reason: somebody drawn at random has not liked the viewer."""
    cards = answered_cards(reader, reader.find(StoredDeck, user=user))
    gone = leaving(reader, {card.candidate for card, _ in cards})
    return [
        {
            "user": card.user,
            "deck": card.deck,
            "candidate": card.candidate,
            "at": card.at,
            "position": card.position,
            "swipe": None if swipe is None else swipe.id,
            "decision": None if swipe is None else swipe.decision,
        }
        for card, swipe in cards
        if card.candidate not in gone
    ]


def _plain(record: Record) -> dict[str, Any]:
    hidden = HIDDEN_FIELDS.get(type(record), ())
    return {name: getattr(record, name) for name in columns(type(record)) if name not in hidden}
