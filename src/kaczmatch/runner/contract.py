"""One job in parts: a function gives a result for each part, and the results are combined."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


class Runner(Protocol):
    """Where and on how many workers a job runs. Its result is the same everywhere, to the last bit.

    For that, a job's parts must not depend on the number of workers. Ctrl-C ends a job; parts that are to outlive it leave a
    file behind.
    """

    @property
    def workers(self) -> int:
        """How many parts run at the same time."""

    def fold(
        self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T, *, memory: int = 0
    ) -> T:
        """`combine` the results of all parts, one after the other and in the order of the parts.

        No more parts run at once than there is memory for where each takes `memory` bytes. The first error of a part ends the
        job. A part whose process or machine died is run again.
        """


def fold_in_order(
    begin: Callable[[P], Callable[[], R]], parts: Iterable[P], combine: Callable[[T, R], T], start: T, ahead: int
) -> T:
    """The loop of every runner: `begin` starts a part and returns what waits for its result; so many are begun `ahead`."""
    waiting, result = deque[Callable[[], R]](), start
    for part in parts:
        if len(waiting) == ahead:
            result = combine(result, waiting.popleft()())
        waiting.append(begin(part))
    while waiting:
        result = combine(result, waiting.popleft()())
    return result


def results_of(
    runner: Runner, function: Callable[[P], R], parts: Iterable[P], told: Callable[[R], None] = lambda _: None, *, memory: int = 0
) -> list[R]:
    """Every part's result, in the order of the parts; each is `told` when it and all before it are there."""

    def added(results: list[R], one: R) -> list[R]:
        told(one)
        results.append(one)
        return results

    return runner.fold(function, parts, added, [], memory=memory)
