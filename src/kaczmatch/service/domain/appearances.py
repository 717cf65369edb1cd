"""In which decks somebody appears, and how often they were shown of late.

A deck is written as one row, which is found by its viewer and by its time. Erasure also needs the decks in which a person was
shown, and a process that starts needs everybody's exposure. Both are filed later, many decks at once: people are divided into
groups by number, and each group gets one row of times and one row of counts. Decks that are not filed yet are read as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.moments import microsecond
from kaczmatch.recommend.decks.exposure import HALF_LIFE_DAYS
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import people_shown, shows, without_card
from kaczmatch.service.domain.locks import APPEARANCES
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    DeckAppearances,
    DecksFiled,
    LastPersonNumber,
    StoredDeck,
    StoredExposure,
)
from kaczmatch.service.domain.records.people import NEVER
from kaczmatch.service.domain.store import Reader, Transaction

DECKS_AT_LEAST: Final = 4_096  # that are filed together
PEOPLE_PER_DECK: Final = 16  # or one deck for so many people, if that is more: then a row of counts is written seldom enough
UNDER_WAY: Final = timedelta(minutes=10)  # younger decks are left: one of the same time may still be on its way to the store
GROUPS: Final = 1_024

_AT_ONCE: Final = 1_000  # decks
_SEARCHED: Final = 100  # decks
_GROUPS_AT_ONCE: Final = 64
_FADED: Final = 2.0**-10  # cards: whoever has fewer left is dropped
_SECOND: Final = 1_000_000

_ENTRY = np.dtype([("number", "<i8"), ("at", "<i8")])
_COUNT = np.dtype([("number", "<i8"), ("cards", "<f8")])

Entries = NDArray[Any]


def filed_until(reader: Reader) -> datetime:
    filed = reader.get(DecksFiled, SINGLE_ROW)
    return NEVER if filed is None else filed.until


def decks_since(reader: Reader, moment: datetime, until: datetime | None = None) -> Iterator[list[StoredDeck]]:
    """Decks after one moment and up to another, page by page."""
    after: tuple[object, ...] = (moment,)
    while page := reader.find(StoredDeck, after=after, limit=_AT_ONCE):
        found = [deck for deck in page if until is None or deck.at <= until]
        yield found
        if len(found) < len(page) or len(page) < _AT_ONCE:
            return
        after = (page[-1].at, page[-1].id)


def decks_with(context: Context, user: str, rest: Callable[[], None]) -> list[tuple[str, str]]:
    """All decks in which a person was shown, by viewer and id. Decks that are not filed are many, so it rests in between."""
    with context.store.read() as reader:
        number = reader.numbers_of([user]).get(user)
        if number is None:
            return []
        times = set[int]()
        for row in reader.find(DeckAppearances, group=number % GROUPS):
            entries = np.frombuffer(row.entries, _ENTRY)
            times.update(entries["at"][entries["number"] == number].tolist())
        found = [deck for at in sorted(times) for deck in reader.find(StoredDeck, at=_moment(at))]
        after: tuple[object, ...] = (filed_until(reader),)
    shown = [(deck.user, deck.id) for deck in found if shows(deck, number)]
    while True:
        with context.store.read() as reader:
            page = reader.find(StoredDeck, after=after, limit=_SEARCHED)
        shown += [(deck.user, deck.id) for deck in page if shows(deck, number)]
        if len(page) < _SEARCHED:
            return shown
        after = (page[-1].at, page[-1].id)
        rest()


def filed_with(context: Context, user: str) -> list[datetime]:
    """The ends of the stretches of time in which a person was shown; and one of nothing, since counts are kept longer."""
    with context.store.read() as reader:
        number = reader.numbers_of([user]).get(user)
        if number is None:
            return []
        pages = reader.find(DeckAppearances, group=number % GROUPS)
    return [page.until for page in pages if number in np.frombuffer(page.entries, _ENTRY)["number"]] + [NEVER]


def forget_appearances(transaction: Transaction, user: str, until: datetime) -> None:
    """What was filed `until` then names the person no more, nor do the counts. Works that do so name the lock `APPEARANCES`."""
    number = transaction.numbers_of([user]).get(user)
    if number is None:
        return
    group = number % GROUPS
    page, counts = transaction.get(DeckAppearances, group, until), transaction.get(StoredExposure, group)
    if page is not None:
        transaction.put(replace(page, entries=_without(np.frombuffer(page.entries, _ENTRY), number)))
    if counts is not None:
        transaction.put(replace(counts, cards=_without(np.frombuffer(counts.cards, _COUNT), number)))


def remove_cards(transaction: Transaction, user: str, decks: Iterable[tuple[str, str]]) -> None:
    """A person's cards out of decks, which are named by viewer and id."""
    number = transaction.numbers_of([user]).get(user)
    if number is not None:
        for deck in transaction.many(StoredDeck, decks).values():
            transaction.put(without_card(deck, number))


def exposure_counts(reader: Reader, until: datetime | None = None) -> Iterator[tuple[dict[int, float], datetime]]:
    """How many cards people have, by number, and as of when. Whoever adds them up counts everybody.

    Younger decks than `until` are left out; it is younger than what is filed.
    """
    filed = np.full(GROUPS, microsecond(filed_until(reader)))
    for row in reader.find(StoredExposure):
        filed[row.group] = microsecond(row.until)
        yield _counts(row.cards), row.until
    yield from counts_since(reader, filed_until(reader), until, filed)


def counts_since(
    reader: Reader, moment: datetime, until: datetime | None = None, filed: NDArray[np.int64] | None = None
) -> Iterator[tuple[dict[int, float], datetime]]:
    """The same of decks after a moment. `filed`: up to when those of each group are counted elsewhere."""
    for page in decks_since(reader, moment, until):
        entries = _entries(page)
        if filed is not None:
            entries = entries[entries["at"] > filed[entries["number"] % GROUPS]]
        if len(entries):
            yield _counts(_counted(None, entries, page[-1].at)), page[-1].at


def file_decks(context: Context) -> int:
    """File the oldest decks that are not filed yet, if there are enough of them. One process at a time does."""
    with context.store.read() as reader:
        filed, given = filed_until(reader), reader.get(LastPersonNumber, SINGLE_ROW)
        enough = max(DECKS_AT_LEAST, 0 if given is None else given.given // PEOPLE_PER_DECK)
        last = reader.find(StoredDeck, after=(filed,), skip=enough - 1, limit=1)
        if not last or last[0].at > context.clock() - UNDER_WAY:
            return 0
        decks = [deck for page in decks_since(reader, filed, last[0].at) for deck in page]
        entries = _entries(decks)
    until, groups = last[0].at, entries["number"] % GROUPS
    order = np.argsort(groups, kind="stable")
    entries, edges = entries[order], np.searchsorted(groups[order], np.arange(GROUPS + 1))
    for first in range(0, GROUPS, _GROUPS_AT_ONCE):
        some = {
            group: entries[edges[group] : edges[group + 1]]
            for group in range(first, first + _GROUPS_AT_ONCE)
            if edges[group] < edges[group + 1]
        }
        context.store.write(partial(_file, some=some, until=until), locks=[APPEARANCES]).result()
        context.rest()
    context.store.write(lambda tx: tx.put(DecksFiled(until=until)), locks=[APPEARANCES]).result()
    return len(decks)


def _entries(decks: Iterable[StoredDeck]) -> Entries:
    return np.array([(number, microsecond(deck.at)) for deck in decks for number in people_shown(deck)], _ENTRY)


def _counts(cards: bytes) -> dict[int, float]:
    counts = np.frombuffer(cards, _COUNT)
    return dict(zip(counts["number"].tolist(), counts["cards"].tolist(), strict=True))


def _file(transaction: Transaction, some: dict[int, Entries], until: datetime) -> None:
    """A group that has come so far before, in a run that was interrupted, stays as it is."""
    stored = transaction.many(StoredExposure, [(group,) for group in some])
    for group, entries in some.items():
        before = stored.get((group,))
        if before is not None:
            entries = entries[entries["at"] > microsecond(before.until)]
        if len(entries):
            transaction.put(DeckAppearances(group=group, until=until, entries=entries.tobytes()))
            transaction.put(StoredExposure(group=group, until=until, cards=_counted(before, entries, until)))


def _counted(before: StoredExposure | None, entries: Entries, until: datetime) -> bytes:
    """The counts of a group as of `until`, with these cards."""
    numbers, weights = entries["number"], _aged((microsecond(until) - entries["at"]) / _SECOND)
    if before is not None:
        counts = np.frombuffer(before.cards, _COUNT)
        numbers = np.concatenate([counts["number"], numbers])
        weights = np.concatenate([counts["cards"] * _aged((until - before.until).total_seconds()), weights])
    people, place = np.unique(numbers, return_inverse=True)
    found = np.empty(len(people), _COUNT)
    found["number"], found["cards"] = people, np.bincount(place, weights)
    return bytes(found[found["cards"] >= _FADED].tobytes())


def _aged(seconds: Any) -> Any:
    return np.exp2(-seconds / (86_400.0 * HALF_LIFE_DAYS))


def _without(rows: Entries, number: int) -> bytes:
    return bytes(rows[rows["number"] != number].tobytes())


def _moment(microseconds: int) -> datetime:
    return NEVER + timedelta(microseconds=microseconds)
