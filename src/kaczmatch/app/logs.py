"""Logs as lines of JSON on standard error; what other libraries log comes out in the same shape."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog


def set_up_logs(level: str = "info", to: TextIO | None = None) -> None:
    stream = to or sys.stderr
    shared: list[Any] = [structlog.processors.add_log_level, structlog.processors.TimeStamper("iso", utc=True, key="time")]
    severity = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(severity),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=to is None,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
