"""A runner as a cluster looks to a job, in one process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar, final

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class ScatteredRunner:
    """Function, parts and results are pickled, each worker has its own copy of the function, and the last part is done first."""

    workers: int = 3

    def fold(
        self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T, *, memory: int = 0
    ) -> T:
        assert memory >= 0
        sent = [pickle.dumps(part) for part in parts]
        owners = [_copied(function) for _ in range(self.workers)]
        done = [(place, owners[place % self.workers](pickle.loads(sent[place]))) for place in reversed(range(len(sent)))]  # noqa: S301
        result = start
        for _, one in reversed(done):
            result = combine(result, _copied(one))
        return result


def _copied(one: R) -> R:
    copy: R = pickle.loads(pickle.dumps(one))  # noqa: S301
    return copy
