"""Parts of a reproduction, run under a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kaczmatch.cli.terminal.errors import interruptible
from kaczmatch.report.results import ReportPart
from kaczmatch.reproduce.report import write_report
from kaczmatch.reproduce.study import Plan, Reproduction
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner


def run_parts(
    parts: Sequence[tuple[str, Callable[[Reproduction], ReportPart]]],
    plan: Plan,
    out: Path | None,
    command: str,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> list[ReportPart]:
    """Run parts one after the other under a progress bar, writing each as it is done; Ctrl-C keeps what is finished."""
    console = Console(stderr=True)
    bar = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (TextColumn("{task.description}"), *bar, TextColumn("{task.fields[step]}"))
    finished: list[ReportPart] = []
    # Files are drawn and written beside the next part's run.
    writer = ThreadPoolExecutor(1)
    written: list[Future[list[Path]]] = []
    try:
        kept = interruptible(lambda: f"{len(finished)} of {len(parts)} parts are finished" + ("" if out is None else " and kept"))
        with kept, Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("starting", total=len(parts), step="")
            run = Reproduction(plan, lambda step: progress.update(task, step=step), runner)
            for name, make in parts:
                progress.update(task, description=name, step="")
                part = make(run)
                if out is not None:
                    written.append(writer.submit(part.write, out))
                finished.append(part)
                progress.advance(task)
    finally:
        writer.shutdown()
        for part_written in written:
            part_written.result()
        if out is not None and finished:
            report = write_report(finished, plan, out, command)
            console.print(f"{len(finished)} of {len(parts)} parts in {out}/, report: {report}", highlight=False, soft_wrap=True)
    return finished
