"""Metrics for Prometheus. Routes are counted by their template, never by who asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from kaczmatch.service.operations.request_log import BOUNDS, Counts

_WORKS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
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
            buckets=BOUNDS,
            registry=self.registry,
        )
        self._refused = Counter("kaczmatch_turned_away", "Requests told to come back.", registry=self.registry)
        self._webhooks = Counter("kaczmatch_webhooks", "Tries to send a webhook.", ("outcome",), registry=self.registry)
        self._commits = Histogram(
            "kaczmatch_commit_works", "Writes that were committed together.", buckets=_WORKS, registry=self.registry
        )
        self._labelled: dict[tuple[str, str, int], Histogram] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._watched = CollectorRegistry()  # apart, because only counts can be added up over processes

    def watch(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read when metrics are scraped. With several processes, it is that of the one that answers."""
        self._gauges[name] = value
        self._watched.register(_Watched(f"kaczmatch_{name}", help_text, "", lambda: {"": value()}))

    def gauge(self, name: str) -> float | None:
        """What a gauge says now; None: there is none of that name."""
        return self._gauges[name]() if name in self._gauges else None

    def request_counts(self) -> Counts:
        """The requests that this process has answered since it began, by method and route, and by status."""
        rising: dict[tuple[str, int], list[float]] = {}
        for family in self._seconds.collect():
            for sample in family.samples:
                if "le" in sample.labels:
                    key = f"{sample.labels['method']} {sample.labels['route']}", int(sample.labels["status"])
                    rising.setdefault(key, []).append(sample.value)
        return {key: [int(high - low) for low, high in pairwise([0.0, *values])] for key, values in rising.items()}

    def watch_by(self, name: str, help_text: str, label: str, values: Callable[[], Mapping[str, float]]) -> None:
        """The same, with one value per label."""
        self._watched.register(_Watched(f"kaczmatch_{name}", help_text, label, values))

    def observe_commit(self, works: int) -> None:
        self._commits.observe(works)

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
        counted = self.registry
        if SHARED_FOLDER in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(self._watched)


@final
class _Watched(Collector):
    """A gauge that asks for its values."""

    def __init__(self, name: str, help_text: str, label: str, values: Callable[[], Mapping[str, float]]) -> None:
        self._about, self._labels, self._values = (name, help_text), [label] if label else [], values

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(*self._about, labels=self._labels)
        for label, value in self._values().items():
            family.add_metric([label] if self._labels else [], value)
        yield family

    def describe(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(*self._about, labels=self._labels)
