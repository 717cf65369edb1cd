"""Times as whole microseconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Column

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOST_SECONDS: Final = 1e12  # thirty thousand years


def microsecond(at: datetime | float) -> int:
    """One time: a datetime, which without a zone is in UTC, or seconds."""
    if isinstance(at, datetime) and at.tzinfo is not None:
        return (at - EPOCH) // _MICROSECOND
    return int(microseconds(np.array([at], object))[0])


def microseconds(at: Column) -> NDArray[np.int64]:
    """Many times; a datetime without a zone is in UTC, as numpy's are. Seconds may count from any fixed moment."""
    if at.dtype.kind == "O":
        stamps = np.empty(len(at))
        for row, moment in enumerate(at.tolist()):
            if isinstance(moment, datetime):
                moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            if not isinstance(moment, int | float) or isinstance(moment, bool):
                raise InvalidInput("at", f"row {row}: must be a datetime or seconds, got {moment!r}")
            stamps[row] = moment
        at = stamps
    if at.dtype.kind == "M":
        if np.isnat(at).any():
            raise InvalidInput("at", f"row {int(np.argmax(np.isnat(at)))}: is not a time")
        return at.astype("datetime64[us]").astype(np.int64)
    if at.dtype.kind not in "iuf":
        raise InvalidInput("at", f"must be datetimes or seconds, got {at.dtype}")
    seconds = at.astype(np.float64)
    possible = np.abs(seconds) <= _MOST_SECONDS
    if not possible.all():
        row = int(np.argmin(possible))
        raise InvalidInput("at", f"row {row}: {at[row]} is not a time in seconds; for other units pass datetime64")
    return np.rint(seconds * 1e6).astype(np.int64)
