"""A runner as a cluster looks to a job, in one process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import TypeVar, final

from kaczmatch.runner.contract import Runner

P = TypeVar("P")
R = TypeVar("R")


@final
@dataclass(frozen=True, slots=True)
class ScatteredRunner(Runner):
    """Function, parts and results are pickled, each worker has its own copy of the function, and the last part is done first."""

    workers: int = 3

    def results(self, function: Callable[[P], R], parts: Iterable[P], *, memory: int = 0) -> Generator[R]:
        assert memory >= 0
        sent = [_copied(part) for part in parts]
        owners = [_copied(function) for _ in range(self.workers)]
        done = [_copied(owners[place % self.workers](sent[place])) for place in reversed(range(len(sent)))]
        yield from reversed(done)


def _copied(one: R) -> R:
    copy: R = pickle.loads(pickle.dumps(one))  # noqa: S301
    return copy
