"""Jobs over the store in parts, mostly of people: here, on other processes, or on other machines."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar, final

from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person

P = TypeVar("P")
R = TypeVar("R")

People = list[str]
Work = Callable[[Context, People], R]


@final
@dataclass(frozen=True, slots=True)
class StoreParts:
    """Where parts are worked on. `elsewhere` opens the store in the process of a part; None: all run in this one."""

    runner: Runner = field(default_factory=lambda: LocalRunner(1))
    elsewhere: Callable[[], Context] | None = None

    def of_people(self, context: Context, work: Work[R], size: int) -> Generator[R]:
        """What `work` makes of everybody, so many at a time, in the order in which people came.

        Each part reads as of its own moment.
        """
        return self.results(context, work, pages_of_people(context, size))

    def results(self, context: Context, work: Callable[[Context, P], R], parts: Iterable[P]) -> Generator[R]:
        """What `work` makes of each part."""
        here = partial(work, context) if self.elsewhere is None else _Elsewhere(self.elsewhere, work)
        return self.runner.results(here, parts)


@final
@dataclass(frozen=True, slots=True)
class _Elsewhere(Generic[P, R]):
    open: Callable[[], Context]
    work: Callable[[Context, P], R]

    def __call__(self, part: P) -> R:
        return self.work(self.open(), part)


def pages_of_people(context: Context, size: int) -> Iterator[People]:
    """The ids of everybody. No reader keeps the store from cleaning up for long. Whoever comes meanwhile comes last."""
    last: tuple[str, ...] = ()
    while True:
        with context.store.read() as reader:
            page = [str(person) for (person,) in reader.values(Person, ("id",), after=last, limit=size)]
        if not page:
            return
        yield page
        last = (page[-1],)
