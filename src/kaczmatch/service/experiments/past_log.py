"""The log of a service from its beginning, a page at a time: however long it is, only a page of it is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, final

from kaczmatch.service.domain.feature_snapshots import with_features
from kaczmatch.service.domain.folding import undo_of
from kaczmatch.service.domain.impressions import Impression, answered_cards
from kaczmatch.service.domain.records import Event, EventKind, StoredDeck
from kaczmatch.service.domain.store import Reader

_EVENTS: Final = 1_000
_DECKS: Final = 100  # with all events of their viewers

AnsweredCards = list[tuple[Impression, Event | None]]


@final
@dataclass(frozen=True, slots=True)
class PastLog:
    """What one reader sees of it."""

    reader: Reader

    def events(self) -> Iterator[Event]:
        """In the order of their commits, without the swipes that were undone later and without the undos."""
        last = 0
        while page := self.reader.find(Event, after=(last,), limit=_EVENTS):
            last = page[-1].number
            undone = self.reader.many(Event, [undo_of(event) for event in page if event.kind == EventKind.SWIPED])
            yield from with_features(
                self.reader, (event for event in page if event.kind != EventKind.UNDONE and undo_of(event) not in undone)
            )

    def decks(self) -> Iterator[tuple[StoredDeck, AnsweredCards]]:
        """In the order of time, with the swipe that answered each card."""
        after: tuple[object, ...] = ()
        while page := self.reader.find(StoredDeck, after=after, limit=_DECKS):
            after = tuple(getattr(page[-1], name) for name in StoredDeck.listed_by())
            cards = groupby(answered_cards(self.reader, page), key=lambda one: (one[0].user, one[0].deck))
            by_deck = {key: list(some) for key, some in cards}
            for deck in page:
                yield deck, by_deck.get(deck.identity(), [])
