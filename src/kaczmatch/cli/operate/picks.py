"""`kaczmatch picks`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from kaczmatch.app.composition import context_of
from kaczmatch.cli.operate.store_access import json_settings, open_store_of, operator_errors, say, settings_from
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import check_ending
from kaczmatch.recommend.assignments.measures import AssignmentMeasures, measure_picks
from kaczmatch.recommend.assignments.picks import check_device, picks
from kaczmatch.recommend.assignments.registry import assignment
from kaczmatch.schemas.transfer import ImportResult
from kaczmatch.service.domain.context import Context
from kaczmatch.service.meeting.presence import today
from kaczmatch.service.operations.picks_job import Given, GivenPicks, PicksJob
from kaczmatch.service.operations.picks_progress import PicksProgress
from kaczmatch.service.transfer.file_import import FileImport
from kaczmatch.service.transfer.import_request import ImportRequest
from kaczmatch.service.transfer.profile_import import ProfileImport
from kaczmatch.service.transfer.swipe_import import SwipeImport
from kaczmatch.settings.model import Settings
from kaczmatch.storage.memory import MemoryStore


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PicksOptions:
    """What the command was asked for. None: as the settings say."""

    file: Path | None
    size: int | None
    assignment: str | None
    assignment_settings: str | None
    longest: int
    profiles: Path | None
    swipes: Path | None
    device: str
    ray: str | None
    workers: int | None
    publish: bool
    force: bool


def run(config: Path | None, asked: PicksOptions) -> None:
    with operator_errors():
        settings = settings_from(config)
        _check(asked)
        chosen = settings.picks_settings if asked.assignment in (None, settings.picks_assignment) else {}
        if asked.assignment_settings is not None:
            chosen = json_settings("settings", asked.assignment_settings)
        rule = assignment(asked.assignment or settings.picks_assignment, **chosen)
        folder = settings.data / "picks.progress" if asked.file is None else asked.file.with_name(f"{asked.file.name}.progress")
        with RowProgress() as progress, _opened(settings, asked, progress) as context:
            options = {"from": _source(settings, asked), "longest": asked.longest, "day": str(today(context))}
            kept = PicksProgress(folder, options)
            job, columns = PicksJob(context), kept.columns()
            if columns is None:
                columns = job.columns(lambda done, total: progress("reading people", done, total))
                if not len(columns):
                    where = settings.data if asked.profiles is None else asked.profiles
                    raise InvalidInput(
                        "people", f"there is nobody in {where} to pick for; import profiles first, or name --profiles"
                    )
                kept.begin(columns)
            else:
                say(f"going on with {len(columns):,} people, as an earlier run has read them")
            market, assigned = picks(
                columns,
                asked.size or settings.picks_size,
                rule,
                longest=asked.longest,
                device=asked.device,
                runner=runner_of(asked.ray, asked.workers),
                progress=lambda share: progress("finding candidates", int(100 * share), 100),
                begun=kept.begun(),
                checkpoint=kept.save,
            )
            given = GivenPicks(market, assigned)
            if asked.file is not None:
                _write(given, asked.file)
                say(f"{sum(len(cards) for _, cards in given):,} picks of {len(given):,} people in {asked.file}")
            if asked.publish:
                edition = job.publish(given, rule.slug, lambda done, total: progress("publishing", done, total))
                say(f"edition {edition} is shown")
            if assigned.limits:
                say(f"{rule.slug}: {assigned.limits}")
            _tell(measure_picks(market, assigned))
        kept.forget()


def _check(asked: PicksOptions) -> None:
    check_device(asked.device)
    if asked.file is None and not asked.publish:
        raise InvalidInput("file", "say where to write picks to, or --publish, or both")
    if asked.publish and asked.profiles is not None:
        raise InvalidInput("publish", "picks of files cannot be published: their people are not in the store")
    if asked.swipes is not None and asked.profiles is None:
        raise InvalidInput("swipes", "need --profiles: whose swipes are they?")
    if asked.file is not None:
        check_ending(asked.file, "file")
        if asked.file.exists() and not asked.force:
            raise InvalidInput("file", f"{asked.file} is there already; choose another name, or --force to replace it")
        import polars  # noqa: F401 - where it is missing, that is said now and not after the work


def _source(settings: Settings, asked: PicksOptions) -> list[Any]:
    """What picks are made from, to see whether an earlier run was about the same. A database may have changed meanwhile."""
    files = [file for file in (asked.profiles, asked.swipes) if file is not None]
    return [[str(file), file.stat().st_size, file.stat().st_mtime] for file in files] or [settings.url.rpartition("@")[2]]


@contextmanager
def _opened(settings: Settings, asked: PicksOptions, progress: RowProgress) -> Iterator[Context]:
    if asked.profiles is None:
        with open_store_of(settings) as (_, context):
            yield context
        return
    context = context_of(settings.model_copy(update={"away_days": None}), MemoryStore())
    _refuse_bad(FileImport(context, ProfileImport(context)).run(_whole(asked.profiles), progress), asked.profiles)
    if asked.swipes is not None:
        _refuse_bad(FileImport(context, SwipeImport(context)).run(_whole(asked.swipes), progress), asked.swipes)
    yield context


def _whole(file: Path) -> ImportRequest:
    return ImportRequest(file, check_ending(file)[1:], new_tags="add")


def _refuse_bad(result: ImportResult, file: Path) -> None:
    for problem in result.problems:
        raise InvalidInput(problem.field, f"row {problem.row} of {file.name}: {problem.problem}")


def _write(given: Given, file: Path) -> None:
    import polars as pl

    from kaczmatch.formats.tables import write_table

    rows = [(user, place, candidate, chance) for user, cards in given for place, (candidate, chance) in enumerate(cards)]
    columns = {"user": pl.String, "place": pl.Int32, "candidate": pl.String, "probability": pl.Float32}
    made = file.with_name(f".new-{file.name}")
    write_table(pl.DataFrame(rows, schema=columns, orient="row"), made)
    made.replace(file)


def _tell(found: AssignmentMeasures) -> None:
    say(
        f"expected matches {found.expected_matches:,.1f}, blocking pairs {found.blocking_pairs:,}, "
        f"others whom somebody envies {found.envied:.1f}, people with a pick {found.with_a_pick:.1%}, "
        f"Gini of exposure {found.exposure_gini:.2f}"
    )
