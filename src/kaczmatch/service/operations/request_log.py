"""How requests fared over time. What the metrics of each process count is kept minute by minute, so that operators can look back.

Nothing is counted here: a minute is the difference between two readings of the histogram that Prometheus reads.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import add, sub
from typing import Final, final

from kaczmatch.schemas.operators import RequestFigures, RequestStep, RouteFigures
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import RequestMinute, ServiceStart
from kaczmatch.service.domain.store import Reader

BOUNDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds; requests are counted up to each
KEPT: Final = timedelta(days=8)
MINUTE: Final = timedelta(minutes=1)
STEPS: Final = {1: MINUTE, 6: 5 * MINUTE, 24: 20 * MINUTE, 168: 120 * MINUTE}  # of a look back over so many hours at most

Counts = Mapping[
    tuple[str, int], Sequence[int]
]  # requests by route and status: one number per bound, and one for beyond the last
_OTHERS: Final = ("/v1/operator", "/v1/health", "/v1/metrics")  # routes of operators and monitors, not of apps


@final
class RequestLog:
    """What one process counts, written down once a minute. A minute without requests leaves nothing."""

    def __init__(self, context: Context, read: Callable[[], Counts]) -> None:
        self._context, self._read, self._process = context, read, context.new_id()
        self._before: Counts = {}

    def note(self) -> None:
        """Write down what was counted since the last time. If that fails, the next time has it too."""
        now = self._read()
        none = [0] * (len(BOUNDS) + 1)
        new = {key: list(map(sub, counts, self._before.get(key, none))) for key, counts in now.items() if of_apps(key[0])}
        counts = {f"{status} {route}": found for (route, status), found in new.items() if any(found)}
        if counts:
            row = RequestMinute(at=self._context.clock(), process=self._process, counts=json.dumps(counts, separators=(",", ":")))
            self._context.store.write(lambda transaction: transaction.put(row)).result()
        self._before = now

    def note_start(self, version: str) -> None:
        """A process begins to serve; those that begin within one minute are one start."""
        row = ServiceStart(at=self._context.clock().replace(second=0, microsecond=0), version=version)
        self._context.store.write(lambda transaction: transaction.put(row)).result()


def of_apps(route: str) -> bool:
    """Whether a route is one that apps call: `METHOD /v1/…`."""
    path = route.partition(" ")[2]
    return path.startswith("/v1/") and not path.startswith(_OTHERS)


@final
class RequestHistory:
    """What all processes wrote down since a moment."""

    def __init__(self, reader: Reader, now: datetime, hours: int) -> None:
        self.step = next(step for most, step in STEPS.items() if hours <= most)
        spans = timedelta(hours=hours) // self.step
        self.begin = _floor(now, self.step) - (spans - 1) * self.step
        sums: list[defaultdict[tuple[str, int], Sequence[int]]] = [
            defaultdict(lambda: [0] * (len(BOUNDS) + 1)) for _ in range(spans)
        ]
        for row in reader.find(RequestMinute, after=(self.begin,)):
            # The row is written at the end of its minute.
            span = sums[min(max((row.at - MINUTE / 2 - self.begin) // self.step, 0), spans - 1)]
            for key, counts in json.loads(row.counts).items():
                status, _, route = key.partition(" ")
                span[route, int(status)] = list(map(add, span[route, int(status)], counts))
        self._spans: list[Counts] = list(sums)

    def steps(self) -> tuple[RequestStep, ...]:
        return tuple(
            RequestStep(at=self.begin + place * self.step, figures=_figures(span.items()))
            for place, span in enumerate(self._spans)
        )

    def total(self) -> RequestFigures:
        return _figures(item for span in self._spans for item in span.items())

    def routes(self, most: int = 12) -> tuple[RouteFigures, ...]:
        """Each route by itself: those with errors first, then the slowest."""
        by_route: dict[str, list[tuple[tuple[str, int], Sequence[int]]]] = defaultdict(list)
        for span in self._spans:
            for key, counts in span.items():
                by_route[key[0]].append((key, counts))
        found = [RouteFigures(route=route, figures=_figures(items)) for route, items in by_route.items()]
        return tuple(sorted(found, key=lambda one: (-one.figures.errors, -(one.figures.p95 or 0.0), one.route))[:most])


def quantile(counts: Sequence[int], share: float) -> float | None:
    """As Prometheus takes it from a histogram: evenly within a bound, and never beyond the last."""
    wanted, reached, low = share * sum(counts), 0, 0.0
    if not wanted:
        return None
    for number, high in zip(counts, BOUNDS, strict=False):
        if number and reached + number >= wanted:
            return low + (high - low) * (wanted - reached) / number
        reached, low = reached + number, high
    return BOUNDS[-1]


def _figures(items: Iterable[tuple[tuple[str, int], Sequence[int]]]) -> RequestFigures:
    together, by_status = [0] * (len(BOUNDS) + 1), defaultdict[int, int](int)
    for (_, status), counts in items:
        together = list(map(add, together, counts))
        by_status[status] += sum(counts)
    p50, p95, p99 = (quantile(together, share) for share in (0.50, 0.95, 0.99))
    return RequestFigures(
        requests=sum(together),
        errors=sum(number for status, number in by_status.items() if status >= 500 and status != 503),
        turned_away=by_status[503],
        refused=sum(number for status, number in by_status.items() if 400 <= status < 500),
        p50=p50,
        p95=p95,
        p99=p99,
    )


def _floor(moment: datetime, step: timedelta) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return day + (moment - day) // step * step
