"""A fair read-write lock: many readers or one writer. After each writer, waiting readers go first, so nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final


@final
class ReadWriteLock:
    """A thread that reads or writes may do so again, and a writer may read. A reader must not write: it would wait for itself."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writing = False
        self._waiting_to_write = 0
        self._admitted = 0  # readers who waited for the last writer and go before the next
        self._waiting_to_read = 0
        self._thread = threading.local()

    @contextmanager
    def reading(self) -> Iterator[None]:
        if getattr(self._thread, "writes", False):
            yield
            return
        depth = getattr(self._thread, "depth", 0)
        if not depth:
            self._begin_reading()
        self._thread.depth = depth + 1
        try:
            yield
        finally:
            self._thread.depth = depth
            if not depth:
                with self._changed:
                    self._readers -= 1
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        if getattr(self._thread, "writes", False):
            yield
            return
        if getattr(self._thread, "depth", 0):
            raise RuntimeError("this thread is reading the index and cannot change it before it is done")
        with self._changed:
            self._waiting_to_write += 1
            try:
                self._changed.wait_for(lambda: not self._readers and not self._writing and not self._admitted)
            finally:
                self._waiting_to_write -= 1
                self._changed.notify_all()
            self._writing = self._thread.writes = True
        try:
            yield
        finally:
            self._thread.writes = False
            with self._changed:
                self._writing = False
                self._admitted = self._waiting_to_read
                self._changed.notify_all()

    def _begin_reading(self) -> None:
        with self._changed:
            self._waiting_to_read += 1
            try:
                self._changed.wait_for(lambda: not self._writing and (self._admitted > 0 or not self._waiting_to_write))
                self._readers += 1
            finally:
                self._waiting_to_read -= 1
                self._admitted = min(max(self._admitted - 1, 0), self._waiting_to_read)
                self._changed.notify_all()
