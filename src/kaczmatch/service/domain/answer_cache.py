"""Answers that are dear to make, kept in memory until what they were made from has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import Final, final

_MOST_BYTES: Final = 32 << 20


@final
class AnswerCache:
    """One answer per name, the latest used are kept. `clear` is called when somebody is erased, whom any answer may mention."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._bytes = self._cleared = 0
        self._lock = threading.Lock()

    def answer(self, name: Hashable, version: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer for a version of what it is made from; made where the one kept is of another version."""
        with self._lock:
            known, cleared = self._kept.get(name), self._cleared
            if known is not None and known[0] == version:
                self._kept.move_to_end(name)
                return known[1]
        made = make()
        with self._lock:
            self._drop(name)
            if cleared == self._cleared:  # else somebody was erased meanwhile, who may be in it
                self._kept[name] = version, made
                self._bytes += len(made)
            while self._bytes > self._most:
                self._drop(next(iter(self._kept)))
        return made

    def of_minute(self, name: Hashable, now: datetime, make: Callable[[], bytes]) -> bytes:
        """The answer that was made within this minute, of whatever there was then."""
        return self.answer(name, now.replace(second=0, microsecond=0), make)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._bytes = 0
            self._cleared += 1

    def _drop(self, name: Hashable) -> None:
        _, content = self._kept.pop(name, (None, b""))
        self._bytes -= len(content)
