"""The options of `kaczmatch picks`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kaczmatch.cli.operate.options import ConfigFile, Force
from kaczmatch.cli.terminal.runners import Ray, Workers


class AssignmentName(StrEnum):
    TOP = "top"
    STABLE = "stable"
    FAIR = "fair"


class DeviceName(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


def picks(
    file: Annotated[Path | None, typer.Argument(help="Table to write: .parquet, .csv or .jsonl.", dir_okay=False)] = None,
    size: Annotated[int | None, typer.Option(min=1, max=100, help="Picks of one person; usually picks_size.")] = None,
    assignment: Annotated[AssignmentName | None, typer.Option(help="Who is picked for whom; usually picks_assignment.")] = None,
    settings: Annotated[str | None, typer.Option(help="Settings of the assignment, as JSON.")] = None,
    longest: Annotated[int, typer.Option(min=1, max=500, help="Candidates of one person to choose from.")] = 100,
    profiles: Annotated[Path | None, typer.Option(help="People of this table, not of the store.", dir_okay=False)] = None,
    swipes: Annotated[Path | None, typer.Option(help="Their swipes, to learn from.", dir_okay=False)] = None,
    device: Annotated[DeviceName, typer.Option(help="cuda: one NVIDIA GPU (extra gpu).")] = DeviceName.CPU,
    ray: Ray = None,
    workers: Workers = None,
    publish: Annotated[bool, typer.Option("--publish", help="Show them in the service, all at once.")] = False,
    force: Force = False,
    config: ConfigFile = None,
) -> None:
    """Pick everybody's best matches at once, exactly. A run that was killed goes on where it was."""
    from kaczmatch.cli.operate.picks import PicksOptions, run

    run(
        config,
        PicksOptions(
            file=file,
            size=size,
            assignment=None if assignment is None else assignment.value,
            assignment_settings=settings,
            longest=longest,
            profiles=profiles,
            swipes=swipes,
            device=device.value,
            ray=ray,
            workers=workers,
            publish=publish,
            force=force,
        ),
    )
