"""Logs as lines of JSON on standard error or in a file; what other libraries log comes out in the same shape.

Lines are written by a thread of their own, a tenth of a second late at most: writing one lets go of the interpreter, and a
request would have to wait for its next turn after every line.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO, final

import structlog
from structlog.typing import EventDict

from kaczmatch.formats.columns import time_text
from kaczmatch.settings.model import Settings

_PAUSE: Final = 0.1
_MOST: Final = 100_000  # lines that wait, if nobody reads them


@final
class LogWriter:
    """A logger for structlog that keeps lines until the thread has written them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: deque[str] = deque(maxlen=_MOST)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="kaczmatch logs", daemon=True).start()
        atexit.register(self.close)

    def msg(self, line: str) -> None:
        self._waiting.append(line)

    debug = info = warning = error = critical = msg

    def flush(self) -> None:
        with self._lock:
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if lines and not self._stream.closed:
                self._stream.write("\n".join(lines) + "\n")
                self._stream.flush()

    def close(self) -> None:
        self._stop.set()
        self.flush()

    def _run(self) -> None:
        while not self._stop.wait(_PAUSE):
            self.flush()


_encode: Final = json.JSONEncoder(default=repr).encode


def _stamped(_: Any, level: str, event: EventDict) -> EventDict:
    event["level"], event["time"] = level, time_text(datetime.now(UTC))
    return event


def _rendered(_: Any, __: str, event: EventDict) -> str:
    return _encode(event)


def log_file(settings: Settings) -> Path | None:
    """Where lines go instead of standard error: people at a terminal read other things there."""
    in_file = settings.log == "file" or (settings.log is None and sys.stderr.isatty())
    return settings.data / "kaczmatch.log" if in_file else None


def set_up_logs_of(settings: Settings) -> None:
    file = log_file(settings)
    if file is None:
        set_up_logs(settings.log_level)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)  # for its owner alone, as the database is
    set_up_logs(settings.log_level, to=os.fdopen(descriptor, "a", encoding="utf-8"))


def set_up_logs(level: str = "info", to: TextIO | None = None) -> LogWriter:
    lines = LogWriter(to or sys.stderr)
    severity = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[_stamped, _rendered],
        wrapper_class=structlog.make_filtering_bound_logger(severity),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=to is None,
    )
    handler = logging.StreamHandler(to or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_stamped],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _rendered],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # a line for each bad request would be written by the event loop
    return lines
