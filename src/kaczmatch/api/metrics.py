"""Metrics for Prometheus. Routes are counted by their template, never by who asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"  # where several processes keep their counts, so that each can tell all


@final
class Metrics:
    """The metrics of one process."""

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
        self._webhooks = Counter("kaczmatch_webhooks", "Tries to send a webhook.", ("outcome",), registry=self.registry)
        self._labelled: dict[tuple[str, str, int], Histogram] = {}

    def watch(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read when metrics are scraped. With several processes, it is that of the one that answers."""
        Gauge(f"kaczmatch_{name}", help_text, registry=self.registry).set_function(value)

    def count_webhook(self, outcome: str) -> None:
        """One try: delivered, waiting (it is tried again) or failed (it was given up)."""
        self._webhooks.labels(outcome).inc()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        histogram = self._labelled.get(key)
        if histogram is None:
            histogram = self._labelled[key] = self._seconds.labels(method, route, str(status))
        histogram.observe(seconds)
        if status == 503:
            self._refused.inc()

    def text(self) -> bytes:
        """In the format of Prometheus."""
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self.registry)
        all_processes = CollectorRegistry()
        MultiProcessCollector(all_processes)  # type: ignore[no-untyped-call]
        return generate_latest(all_processes)
