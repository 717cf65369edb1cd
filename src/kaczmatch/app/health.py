"""Whether a process can do its work: it has started, it follows the store, and what it writes arrives."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import StoredLease
from kaczmatch.service.domain.store import StoreUnavailable

PROBE_SECONDS: Final = 2.0  # between two probes
SILENT_SECONDS: Final = 7.0  # since a probe arrived, until a store counts as one that takes no writes
LATE_SECONDS: Final = 30.0  # without having followed the store: kernels of another learner may be compiled meanwhile
OUTAGE_SECONDS: Final = 5.0  # that a failed commit counts, if probes succeed: larger commits may fail where a small one does not
_NAME: Final = "~write-probe"  # the row that is written: no job has this name


@final
@dataclass(slots=True, eq=False)
class ProcessHealth:
    """How far the start has come, and whether memory and store keep up with each other since."""

    context: Context
    last_outage: Callable[[], float | None] = lambda: None  # of the store's commits, by the same clock
    clock: Callable[[], float] = time.monotonic
    ready: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)  # ready, or failed to become so
    step: str = "starting"
    step_seconds: dict[str, float] = field(default_factory=dict)  # of the start
    rebuild_seconds: float = 0.0  # of the turns in which memory was brought to another model or vocabulary
    stopping: bool = False
    _followed: float = 0.0  # when memory last was as the store
    _written: float = 0.0  # when a probe last arrived
    _failure: str = ""  # of the last probe
    _probe: Future[None] | None = None

    @contextmanager
    def starting(self, step: str) -> Iterator[None]:
        """A step of the start, and how long it took."""
        self.step, begun = step, self.clock()
        yield
        self.step_seconds[step] = self.clock() - begun

    def set_ready(self) -> None:
        self._followed = self._written = self.clock()
        self.ready.set()
        self.started.set()

    def set_followed(self) -> None:
        self._followed = self.clock()

    def probe(self) -> None:
        """Write one small row. It is not waited for: a store that hangs shows by what does not arrive."""
        if self._probe is not None and not self._probe.done():
            return
        row = StoredLease(name=_NAME, holder="", until=self.context.clock())
        try:
            self._probe = self.context.store.write(lambda transaction: transaction.put(row))
        except StoreUnavailable as error:
            self._failure = type(error).__name__
        else:
            self._probe.add_done_callback(self._probed)

    def _probed(self, probe: Future[None]) -> None:
        error = probe.exception()
        self._failure = "" if error is None else type(error).__name__
        if error is None:
            self._written = self.clock()

    def seconds_behind(self) -> float:
        """Since memory last was as the store."""
        return self.clock() - self._followed

    def not_ready_reason(self) -> str:
        """Why requests cannot be served; empty: they can."""
        if self.stopping:
            return "stopping"
        return "" if self.ready.is_set() else self.step

    def unhealthy_reason(self) -> str:
        """Why another process should be asked instead; empty: all is well. Requests are still served."""
        if reason := self.not_ready_reason():
            return reason
        now, outage = self.clock(), self.last_outage()
        if self._failure or now - self._written > SILENT_SECONDS or (outage is not None and now - outage < OUTAGE_SECONDS):
            return f"the store takes no writes: the last arrived {now - self._written:.0f} s ago"
        behind = self.seconds_behind()
        return f"has not kept up with the store for {behind:.0f} s" if behind > LATE_SECONDS else ""
