"""Quotas, counted in the same commit as what they limit: exact, however many requests come at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from kaczmatch.service.records import Standing
from kaczmatch.service.refusals import TooMany
from kaczmatch.service.rules import Limit

SWIPES, DECKS, EDITS = _KINDS = ("swipes", "decks", "edits")
_PLACES: Final = {what: 2 * place for place, what in enumerate(_KINDS)}  # of the start of a window in seconds, and how many since
_NOTHING: Final = (0,) * 2 * len(_KINDS)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def spend(standing: Standing, what: str, limit: Limit, now: datetime) -> tuple[int, ...]:
    """What this person has spent with one more, or a refusal."""
    if limit.most is None:
        return standing.spent
    place, spent, seconds = _PLACES[what], standing.spent or _NOTHING, (now - _EPOCH) // _SECOND
    start = seconds - seconds % (limit.window // _SECOND)
    used = spent[place + 1] if spent[place] == start else 0
    if used >= limit.most:
        wait = max(_EPOCH + timedelta(seconds=start) + limit.window - now, _SECOND)
        raise TooMany(f"at most {limit.most} {what} in {_spoken(limit.window)}", wait)
    return (*spent[:place], start, used + 1, *spent[place + 2 :])


def _spoken(window: timedelta) -> str:
    hours = window / timedelta(hours=1)
    return f"{hours:g} hours" if hours != 24 else "a day"
