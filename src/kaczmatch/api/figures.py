"""What is counted for Prometheus: routes by their template, never who asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"  # where several processes keep their counts, for any of them to tell


@final
class Figures:
    """The counts of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "kaczmatch_request_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._refused = Counter("kaczmatch_turned_away", "Requests told to come back.", registry=self.registry)
        self._labelled: dict[tuple[str, str, int], Histogram] = {}

    def watch(self, name: str, words: str, value: Callable[[], float]) -> None:
        """A figure that is asked for when it is scraped; of the process that answers, where there are several."""
        Gauge(f"kaczmatch_{name}", words, registry=self.registry).set_function(value)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        found = self._labelled.get(key)
        if found is None:
            found = self._labelled[key] = self._seconds.labels(method, route, str(status))
        found.observe(seconds)
        if status == 503:
            self._refused.inc()

    def text(self) -> bytes:
        if SHARED not in os.environ:
            return generate_latest(self.registry)
        everybody = CollectorRegistry()
        MultiProcessCollector(everybody)  # type: ignore[no-untyped-call]
        return generate_latest(everybody)
