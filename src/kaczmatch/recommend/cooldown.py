"""Who was met too recently to be shown again (paper, section 6.4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta

from kaczmatch.core.errors import InvalidInput

COOLDOWN = timedelta(days=14)


def cooling(recent: Mapping[Hashable, datetime], now: datetime, period: timedelta = COOLDOWN) -> list[Hashable]:
    """Whose last interaction is less than `period` ago, longest ago first; exactly `period` ago is long enough.

    A time that lies in the future counts as now: a wrong clock does not shorten the wait.
    """
    if now.tzinfo is None:
        raise InvalidInput("now", "must say its time zone, such as datetime.now(UTC)")
    for identifier, at in recent.items():
        if at.tzinfo is None:
            raise InvalidInput("recent", f"the time of {identifier!r} must say its time zone")
    still = [(at, place, identifier) for place, (identifier, at) in enumerate(recent.items()) if now - at < period]
    return [identifier for _, _, identifier in sorted(still, key=lambda one: one[:2])]
