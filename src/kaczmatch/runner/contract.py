"""One job in parts: a function gives a result for each part, and the results are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


class Runner(Protocol):
    """Where and on how many workers a job runs. Its result is the same everywhere, to the last bit."""

    @property
    def workers(self) -> int:
        """How many parts run at the same time."""

    def fold(self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T) -> T:
        """`combine` the results of all parts, one after the other and in the order of the parts."""
