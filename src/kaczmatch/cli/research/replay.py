"""`kaczmatch replay`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kaczmatch.cli.terminal.errors import interruptible, plain_errors
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import ColumnNames, column_mapping
from kaczmatch.formats.configuration import read_configuration
from kaczmatch.jobs.locations import located
from kaczmatch.jobs.replay import ReplayJob, replay_files, swipe_files
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import learner as make_learner


def run(
    swipes: str,
    candidates: str,
    out: str,
    *,
    slug: str | None,
    config: Path | None,
    prior: Path | None,
    columns: Sequence[str],
    ignore: Sequence[str],
    ray: str | None,
    workers: int | None,
) -> None:
    with plain_errors():
        job = ReplayJob(
            swipes=swipe_files(located(swipes)),
            candidates=located(candidates),
            out=located(out),
            learner=_learner(slug, config),
            prior=None if prior is None else Prior.from_bytes(prior.read_bytes()),
            columns=ColumnNames.of(column_mapping(columns)),
            ignore=tuple(ignore),
        )
        kept = interruptible(lambda: f"finished parts are kept in {out}; the same command goes on from there")
        with kept, RowProgress() as progress:
            found = replay_files(job, runner_of(ray, workers), progress)
        before = f"; {found.found} of {found.parts} parts were there already" if found.found else ""
        skips = f", {found.skips:,} skips left out" if found.skips else ""
        told = f"{found.users:,} states from {found.swipes:,} swipes{skips} in {out}{before}"
        Console(stderr=True).print(told, highlight=False, soft_wrap=True)


def _learner(slug: str | None, config: Path | None) -> Learner:
    if config is None:
        return make_learner(slug or "probit-diag")
    if slug is not None:
        raise InvalidInput("learner", "the file of --config names one already; leave one of the two out")
    found = read_configuration(config)
    return make_learner(found.slug, **found.settings)
