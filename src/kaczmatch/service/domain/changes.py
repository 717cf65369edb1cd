"""Changes are kept for a few minutes only: how a process that was away for longer notices that it missed some."""

from __future__ import annotations

from kaczmatch.service.domain.records import SINGLE_ROW, LastDroppedChange
from kaczmatch.service.domain.store import Reader


def last_dropped_change(reader: Reader) -> int:
    """The number up to which changes may be missing."""
    last = reader.get(LastDroppedChange, SINGLE_ROW)
    return 0 if last is None else last.change
