"""Quotas, counted in the same commit as what they limit: exact, however many requests come at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Final

from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import PersonCounters
from kaczmatch.service.domain.refusals import TooMany
from kaczmatch.service.domain.store import Transaction

SWIPES, DECKS, EDITS, UNDOS, CHANGES, BLOCKS, REPORTS, EXPORTS, HISTORIES = _KINDS = (
    "swipes",
    "decks",
    "edits",
    "undos",
    "changes",
    "blocks",
    "reports",
    "exports",
    "histories",
)
_PLACES: Final = {what: place for place, what in enumerate(_KINDS)}
_STORED: Final = Struct("<BqI")  # per kind that was ever used: its place, the start of a window in seconds, how many since
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def spend(counters: PersonCounters, what: str, limit: QuotaLimit, now: datetime) -> bytes:
    """The new value of `quota_use` after one more, or a refusal."""
    if limit.most is None:
        return counters.quota_use
    spent = _unpacked(counters)
    begun, used = spent.get(_PLACES[what], (0, 0))
    start, length = _window(limit, now)
    if begun == start + length:  # begun already, by a clock that was a little ahead
        start += length
    used = used if begun == start else 0
    if used >= limit.most:
        wait = max(_EPOCH + timedelta(seconds=start) + limit.window - now, _SECOND)
        raise TooMany(f"at most {limit.most} {what} in {_spoken(limit.window)}", wait)
    spent[_PLACES[what]] = start, used + 1
    return _packed(spent)


def charge(transaction: Transaction, user: str, what: str, limit: QuotaLimit, now: datetime) -> None:
    """One more of something that a user did, or a refusal."""
    if limit.most is not None:
        counters = transaction.get(PersonCounters, user) or PersonCounters(user=user)
        transaction.put(replace(counters, quota_use=spend(counters, what, limit, now)))


def give_back(counters: PersonCounters, what: str, limit: QuotaLimit, spent_at: datetime) -> bytes:
    """What this person has spent without one that was spent at a moment, if the window of that moment is still counted."""
    spent = _unpacked(counters)
    begun, used = spent.get(_PLACES[what], (0, 0))
    if limit.most is None or not used or begun != _window(limit, spent_at)[0]:
        return counters.quota_use
    spent[_PLACES[what]] = begun, used - 1
    return _packed(spent)


def quota_usage(counters: PersonCounters) -> dict[str, tuple[datetime, int]]:
    """How much of each was used, and since when."""
    return {
        _KINDS[place]: (_EPOCH + timedelta(seconds=begun), used) for place, (begun, used) in _unpacked(counters).items() if used
    }


def _unpacked(counters: PersonCounters) -> dict[int, tuple[int, int]]:
    return {place: (begun, used) for place, begun, used in _STORED.iter_unpack(counters.quota_use)}


def _packed(spent: dict[int, tuple[int, int]]) -> bytes:
    return b"".join([_STORED.pack(place, begun, used) for place, (begun, used) in spent.items()])


def _window(limit: QuotaLimit, moment: datetime) -> tuple[int, int]:
    """When the window of a moment begins, and how long it is, in seconds."""
    seconds, length = (moment - _EPOCH) // _SECOND, limit.window // _SECOND
    return seconds - seconds % length, length


def _spoken(window: timedelta) -> str:
    hours = window / timedelta(hours=1)
    return f"{hours:g} hours" if hours != 24 else "a day"
