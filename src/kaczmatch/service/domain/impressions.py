"""The cards of decks, as the log keeps them: all cards of a deck lie packed in its row, and are read and written here alone.

Nothing says in a deck's row which cards were answered: the events say it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan, nan
from struct import Struct
from typing import Final, NamedTuple, final

from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.folding import without_undone
from kaczmatch.service.domain.records import Event, EventKind, LatestDecision, StoredDeck
from kaczmatch.service.domain.store import Reader

_CARD: Final = Struct("<qddBB")  # whose card by number, its propensity (NaN: it was not drawn), score, reason and position
_NUMBER: Final = Struct("<q")
# A reason is stored by its place here: new ones come last.
_STORED: Final = (Reason.SAMPLED, Reason.EXPLORED, Reason.REPEAT, Reason.RANKED, Reason.PICKED, Reason.RELAXED)
_PLACES: Final[Mapping[str, int]] = {reason.value: place for place, reason in enumerate(_STORED)}
REASONS: Final[Mapping[str, str]] = {reason: reason.value for reason in _STORED}  # plain text, of which JSON is made faster
_BY_PLACE: Final = tuple(REASONS.values())
DECKS_LOOKED_AT: Final = 100  # for a card that somebody was shown


@final
class Impression(NamedTuple):
    """One card of a deck, and the probability it had of being there (None: it was not drawn)."""

    user: str
    deck: str
    candidate: str
    at: datetime
    position: int
    propensity: float | None
    score: float
    reason: str


def with_cards(deck: StoredDeck, cards: Iterable[Impression], numbers: Mapping[str, int]) -> StoredDeck:
    """A deck with these cards, whose people have these numbers."""
    packed = [
        _CARD.pack(numbers[candidate], nan if propensity is None else propensity, score, _PLACES[reason], position)
        for _, _, candidate, _, position, propensity, score, reason in cards
    ]
    return replace(deck, cards=b"".join(packed))


def impressions(reader: Reader, decks: Collection[StoredDeck]) -> list[Impression]:
    """The cards of decks, deck by deck, in the order of their positions."""
    people = reader.people_with({number for deck in decks for number in people_shown(deck)})
    return [
        Impression(
            user=deck.user,
            deck=deck.id,
            candidate=people[number],
            at=deck.at,
            position=position,
            propensity=None if isnan(propensity) else propensity,
            score=score,
            reason=_BY_PLACE[reason],
        )
        for deck in decks
        for number, propensity, score, reason, position in _CARD.iter_unpack(deck.cards)
        if number in people
    ]


def people_shown(deck: StoredDeck) -> list[int]:
    """By number."""
    return [card[0] for card in _CARD.iter_unpack(deck.cards)]


def shows(deck: StoredDeck, number: int | None) -> bool:
    """Whether somebody has a card in a deck. None: nobody has this number."""
    return number is not None and _place(deck.cards, number) >= 0


def without_card(deck: StoredDeck, number: int) -> StoredDeck:
    place = _place(deck.cards, number)
    return deck if place < 0 else replace(deck, cards=deck.cards[:place] + deck.cards[place + _CARD.size :])


def _place(cards: bytes, number: int) -> int:
    sought = _NUMBER.pack(number)
    place = cards.find(sought)
    while place > 0 and place % _CARD.size:  # these bytes may be a part of something else
        place = cards.find(sought, place + 1)
    return place


def was_shown(reader: Reader, user: str, other: str) -> bool:
    """Whether somebody has a card in one of the user's last decks."""
    number = reader.numbers_of([other]).get(other)
    if number is None:
        return False
    return any(shows(deck, number) for deck in reader.find(StoredDeck, user=user, newest=True, limit=DECKS_LOOKED_AT))


def swipes_on_cards(events: Iterable[Event]) -> dict[tuple[str, str | None, str | None], Event]:
    """The swipe that answers each card, by user, deck and candidate."""
    swipes = [event for event in without_undone(events) if event.kind == EventKind.SWIPED and event.deck]
    return {(event.user, event.deck, event.candidate): event for event in swipes}


def standing_answers(reader: Reader, cards: Sequence[Impression]) -> list[tuple[Impression, Event | None]]:
    """Cards, and the swipe that answered each, where it is the user's last on that person. It reads no whole log."""
    pairs = reader.many(LatestDecision, {(card.user, card.candidate) for card in cards})
    swipes = reader.many(Event, {(pair.user, pair.swipe) for pair in pairs.values()})
    found = swipes_on_cards(swipes.values())
    return [(card, found.get((card.user, card.deck, card.candidate))) for card in cards]


def answered_cards(reader: Reader, decks: Sequence[StoredDeck]) -> list[tuple[Impression, Event | None]]:
    """The cards of decks, and the swipe that answered each."""
    logs = reader.of_people(Event, "user", {deck.user for deck in decks})
    swipes = swipes_on_cards(event for log in logs.values() for event in log)
    return [(card, swipes.get((card.user, card.deck, card.candidate))) for card in impressions(reader, decks)]
