"""Quotas, counted in the same commit as what they limit: exact, however many requests come at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Final

from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import PersonCounters
from kaczmatch.service.domain.refusals import TooMany

SWIPES, DECKS, EDITS, UNDOS = _KINDS = ("swipes", "decks", "edits", "undos")
_PLACES: Final = {what: 2 * place for place, what in enumerate(_KINDS)}  # of the start of a window in seconds, and how many since
_STORED: Final = Struct(f"<{2 * len(_KINDS)}q")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def spend(counters: PersonCounters, what: str, limit: QuotaLimit, now: datetime) -> bytes:
    """The new value of `quota_use` after one more, or a refusal."""
    if limit.most is None:
        return counters.quota_use
    place, spent = _PLACES[what], [*_STORED.unpack(counters.quota_use or bytes(_STORED.size))]
    start, length = _window(limit, now)
    if spent[place] == start + length:  # begun already, by a clock that was a little ahead
        start += length
    used = spent[place + 1] if spent[place] == start else 0
    if used >= limit.most:
        wait = max(_EPOCH + timedelta(seconds=start) + limit.window - now, _SECOND)
        raise TooMany(f"at most {limit.most} {what} in {_spoken(limit.window)}", wait)
    spent[place : place + 2] = start, used + 1
    return _STORED.pack(*spent)


def give_back(counters: PersonCounters, what: str, limit: QuotaLimit, spent_at: datetime) -> bytes:
    """What this person has spent without one that was spent at a moment, if the window of that moment is still counted."""
    if limit.most is None or not counters.quota_use:
        return counters.quota_use
    place, spent = _PLACES[what], [*_STORED.unpack(counters.quota_use)]
    if spent[place] == _window(limit, spent_at)[0] and spent[place + 1]:
        spent[place + 1] -= 1
    return _STORED.pack(*spent)


def _window(limit: QuotaLimit, moment: datetime) -> tuple[int, int]:
    """When the window of a moment begins, and how long it is, in seconds."""
    seconds, length = (moment - _EPOCH) // _SECOND, limit.window // _SECOND
    return seconds - seconds % length, length


def quota_usage(counters: PersonCounters) -> dict[str, tuple[datetime, int]]:
    """How much of each was used, and since when."""
    spent = _STORED.unpack(counters.quota_use) if counters.quota_use else ()
    return {
        what: (_EPOCH + timedelta(seconds=spent[place]), spent[place + 1])
        for what, place in _PLACES.items()
        if spent and spent[place + 1]
    }


def _spoken(window: timedelta) -> str:
    hours = window / timedelta(hours=1)
    return f"{hours:g} hours" if hours != 24 else "a day"
