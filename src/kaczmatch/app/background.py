"""What runs beside requests: jobs that come again and again, and jobs that run once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

import structlog

from kaczmatch.api.middleware import error_location

log = structlog.stdlib.get_logger("kaczmatch")


@final
class Background:
    """Threads that end when they are told to. A job that fails is noted, and tried again at its next turn."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self.on_stop: list[Callable[[], object]] = []  # called at once, to end what jobs wait for

    def every(self, seconds: float, name: str, job: Callable[[], object]) -> None:
        def run() -> None:
            while not self._stopping.wait(seconds):
                self._do(name, job)

        self._start(name, run)

    def once(self, name: str, job: Callable[[], object]) -> None:
        self._start(name, lambda: self._do(name, job))

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self, patience: float = 10.0) -> None:
        """No new turns; jobs in progress may finish."""
        self._stopping.set()
        for end in self.on_stop:
            end()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(patience)

    def _start(self, name: str, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name=f"kaczmatch {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _do(self, name: str, job: Callable[[], object]) -> None:
        try:
            job()
        except Exception as error:
            if not self._stopping.is_set():
                log.error("job failed", job=name, error=type(error).__name__, where=error_location(error))
