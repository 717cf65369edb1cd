"""Where a job runs, as it is said on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from kaczmatch.runner.contract import Runner

Ray = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on this Ray cluster (extra ray): auto, HOST:PORT or ray://HOST:PORT; local starts one here."
    ),
]
Processes = Annotated[int, typer.Option("--workers", min=1, help="Parts at the same time on this machine, each in a process.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Parts at the same time on this machine; usually one per core.")]


def runner_of(ray: str | None, workers: int | None, *, processes: bool = False) -> Runner:
    """Threads of this machine, or processes for what is mostly Python, or a cluster."""
    if ray is not None:
        from kaczmatch.runner.cluster import RayRunner

        return RayRunner(ray)
    if processes and workers != 1:
        from kaczmatch.runner.processes import ProcessRunner

        return ProcessRunner() if workers is None else ProcessRunner(workers)
    from kaczmatch.runner.local import LocalRunner

    return LocalRunner() if workers is None else LocalRunner(workers)
