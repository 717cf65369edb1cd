"""Progress bars on standard error, one stage after the other."""

from __future__ import annotations

from types import TracebackType
from typing import Self, final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


@final
class StageProgress:
    """A bar for the stage at hand, of a known number of steps; gone when it is over."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:24}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None

    def stage(self, what: str, steps: int) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(what, total=max(steps, 1))

    def advance(self, steps: int = 1) -> None:
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()


@final
class RowProgress:
    """A bar that counts rows of the stage at hand, whose number may not be known; gone when it is over."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:18}"), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._task is None or stage != self._stage:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task, self._stage = self._bars.add_task(stage, total=total or None), stage
        self._bars.update(self._task, completed=done, total=total or None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()
