"""Who was met too recently to be shown again (paper, section 6.4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta
from operator import itemgetter

from kaczmatch.core.errors import InvalidInput

COOLDOWN = timedelta(days=14)


def cooling(recent: Mapping[Hashable, datetime], now: datetime, period: timedelta = COOLDOWN) -> list[Hashable]:
    """Whose last interaction is less than `period` ago, longest ago first; exactly `period` ago is long enough.

    A time that lies in the future counts as now: a wrong clock does not shorten the wait.
    """
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidInput("now", f"must be a time with its zone, such as datetime.now(UTC), got {now!r}")
    still = []
    for identifier, at in recent.items():
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("recent", f"{identifier!r}: must be a time with its zone, got {at!r}")
        if now - at < period:
            still.append((at, identifier))
    still.sort(key=itemgetter(0))  # equal times stay in the order they came in
    return [identifier for _, identifier in still]
