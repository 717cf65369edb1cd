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
Workers = Annotated[int | None, typer.Option(min=1, help="Parts at the same time on this machine; usually one per core.")]


def runner_of(ray: str | None, workers: int | None) -> Runner:
    """Threads of this machine, or a cluster."""
    if ray is not None:
        from kaczmatch.runner.cluster import RayRunner

        return RayRunner(ray)
    from kaczmatch.runner.local import LocalRunner

    return LocalRunner() if workers is None else LocalRunner(workers)
