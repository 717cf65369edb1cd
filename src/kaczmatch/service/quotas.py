"""Quotas, counted in the same commit as what they limit: exact, however many requests come at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kaczmatch.service.records import Quota
from kaczmatch.service.refusals import TooMany
from kaczmatch.service.rules import Limit
from kaczmatch.service.store import Unit

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spend(unit: Unit, user: str, what: str, limit: Limit, now: datetime) -> None:
    """Count one more, or refuse it."""
    if limit.most is None:
        return
    window = now - (now - _EPOCH) % limit.window
    known = unit.get(Quota, user, what)
    used = known.used if known is not None and known.window == window else 0
    if used >= limit.most:
        wait = max(window + limit.window - now, timedelta(seconds=1))
        raise TooMany(f"at most {limit.most} {what} in {_spoken(limit.window)}", wait)
    unit.put(Quota(user=user, what=what, window=window, used=used + 1))


def _spoken(window: timedelta) -> str:
    hours = window / timedelta(hours=1)
    return f"{hours:g} hours" if hours != 24 else "a day"
