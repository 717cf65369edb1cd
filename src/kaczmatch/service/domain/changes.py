"""Changes are kept until every live process has read them. A process that was silent for an hour is not waited for any more.

Such a process notices that changes are missing, and loads everybody again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from kaczmatch.service.domain.records import SINGLE_ROW, Change, Event, LastDroppedChange, LogRecord, ServingProcess
from kaczmatch.service.domain.store import Reader

SILENCE: Final = timedelta(hours=1)
_NOT_COMMITTED: Final = 1_000  # lines


def last_dropped_change(reader: Reader) -> int:
    """The number up to which changes may be missing."""
    last = reader.get(LastDroppedChange, SINGLE_ROW)
    return 0 if last is None else last.change


def live_processes(reader: Reader, now: datetime) -> list[ServingProcess]:
    """The processes that are waited for."""
    return [process for process in reader.find(ServingProcess) if now - process.seen < SILENCE]


def recent_numbers(reader: Reader) -> tuple[int, int]:
    """Numbers of a change and an event before the newest, to follow the logs from: some lines may not be committed yet."""
    last = []
    for kind in (Change, Event):
        newest: list[LogRecord] = [*reader.find(kind, newest=True, limit=1)]
        last.append(max(0, newest[0].number - _NOT_COMMITTED) if newest else 0)
    return max(last[0], last_dropped_change(reader)), last[1]
