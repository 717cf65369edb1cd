"""Changes are kept until every live process has read them. A process that was silent for an hour is not waited for any more.

Such a process notices that changes are missing, and loads everybody again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from kaczmatch.service.domain.records import SINGLE_ROW, LastDroppedChange, ServingProcess
from kaczmatch.service.domain.store import Reader

SILENCE: Final = timedelta(hours=1)


def last_dropped_change(reader: Reader) -> int:
    """The number up to which changes may be missing."""
    last = reader.get(LastDroppedChange, SINGLE_ROW)
    return 0 if last is None else last.change


def live_processes(reader: Reader, now: datetime) -> list[ServingProcess]:
    """The processes that are waited for."""
    return [process for process in reader.find(ServingProcess) if now - process.seen < SILENCE]
