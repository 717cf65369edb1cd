"""One job in parts: a function gives a result for each part, and the results are combined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from typing import TypeVar, final

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


class Runner(ABC):
    """Where and on how many workers a job runs. Its result is the same everywhere, to the last bit.

    For that, a job's parts must not depend on the number of workers. Ctrl-C ends a job; parts that are to outlive it leave a
    file behind.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many parts run at the same time."""

    @abstractmethod
    def results(self, function: Callable[[P], R], parts: Iterable[P], *, memory: int = 0) -> Generator[R]:
        """What the function makes of each part, in the order of the parts.

        No more parts run at once than there is memory for where each takes `memory` bytes. The first error of a part ends the
        job. A part whose process or machine died is run again.
        """

    @final
    def fold(
        self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T, *, memory: int = 0
    ) -> T:
        """`combine` the results of all parts, one after the other and in the order of the parts."""
        result = start
        with closing(self.results(function, parts, memory=memory)) as found:
            for one in found:
                result = combine(result, one)
        return result


def in_order(begin: Callable[[P], Callable[[], R]], parts: Iterable[P], ahead: int) -> Generator[R]:
    """The loop of every runner: `begin` starts a part and returns what waits for its result; so many are begun `ahead`."""
    waiting = deque[Callable[[], R]]()
    for part in parts:
        if len(waiting) == ahead:
            yield waiting.popleft()()
        waiting.append(begin(part))
    while waiting:
        yield waiting.popleft()()
