"""Works that take long beside requests: one thread, in which each has its turn, a step at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, Final, NamedTuple, TypeVar, final

from kaczmatch.service.domain.store import StoreUnavailable

T = TypeVar("T")
Steps = Generator[None, None, T]

_MOST: Final = 1_000  # works at a time


@final
class _Work(NamedTuple):
    person: str
    name: str
    steps: Steps[Any]
    future: Future[Any]


@final
class Turns:
    """At most one work per person. A short one does not wait for a long one, and all together use no more than one would.

    After each step comes a `rest`. The thread is there while there is work.
    """

    def __init__(self, rest: Callable[[], None]) -> None:
        self._rest = rest
        self._lock = Lock()
        self._works: dict[str, _Work] = {}
        self._waiting: deque[_Work] = deque()

    def add(self, person: str, name: str, steps: Steps[T]) -> Future[T]:
        """Do a work in steps. If the person's work of this name is in progress, that is it."""
        with self._lock:
            known = self._works.get(person)
            if known is not None and known.name == name:
                return known.future
            if known is not None or len(self._works) >= _MOST:
                raise StoreUnavailable("too much is being done at the same time; try again in a moment")
            work = _Work(person, name, steps, Future())
            self._works[person] = work
            self._waiting.append(work)
            if len(self._works) == 1:
                Thread(target=self._run, name="kaczmatch folding", daemon=True).start()
        return work.future

    def _run(self) -> None:
        while True:
            work = self._waiting.popleft()
            try:
                next(work.steps)
            except StopIteration as end:
                over = not self._end(work)
                work.future.set_result(end.value)
            except BaseException as error:
                over = not self._end(work)
                work.future.set_exception(error)
            else:
                self._waiting.append(work)
                self._rest()
                continue
            if over:
                return

    def _end(self, work: _Work) -> int:
        """How many are left. With none, the next to be added starts a thread."""
        with self._lock:
            del self._works[work.person]
            return len(self._works)
