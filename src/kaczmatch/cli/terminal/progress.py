"""Progress bars on standard error, one stage after the other."""

from __future__ import annotations

from types import TracebackType
from typing import Self, final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


@final
class StageProgress:
    """A bar for each stage, of a known number of steps. A finished one stays full above the next; all go when it is over."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:24}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn())
        self.bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self.at = "starting"  # the stage at hand

    def stage(self, what: str, steps: int) -> None:
        self._finish()
        self.at = what
        self.bars.add_task(what, total=max(steps, 1))

    def advance(self, steps: int = 1) -> None:
        if self.bars.task_ids:
            self.bars.advance(self.bars.task_ids[-1], steps)

    def _finish(self) -> None:
        for task in self.bars.tasks[-1:]:
            self.bars.update(task.id, completed=task.total)
            self.bars.stop_task(task.id)

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.bars.stop()


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
        self._bars.update(self._task, completed=max(done, self._bars.tasks[-1].completed), total=total or None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()
