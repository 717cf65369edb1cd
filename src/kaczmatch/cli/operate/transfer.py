"""`kaczmatch import` and `kaczmatch export`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kaczmatch.app.warm_up import freeze_garbage
from kaczmatch.cli.operate.store_access import open_store_of, operator_errors, say, settings_from, spread
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import column_mapping
from kaczmatch.formats.text_form import refuse_spreadsheet
from kaczmatch.formats.writing import write_rows
from kaczmatch.schemas.transfer import ImportResult, SuggestedOptions
from kaczmatch.service.domain.records import Person
from kaczmatch.service.transfer.cell_rules import map_texts, value_maps
from kaczmatch.service.transfer.file_export import COLUMNS, Batch, export_batches
from kaczmatch.service.transfer.file_import import FileImport
from kaczmatch.service.transfer.import_request import ImportRequest
from kaczmatch.service.transfer.profile_import import ProfileImport
from kaczmatch.service.transfer.swipe_import import SwipeImport

FAILED = 1
_ENDINGS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_SHOWN = 20
_SMALL = 8 << 20  # bytes of a file, for which processes take longer to start than they save


def import_file(
    config: Path | None,
    what: str,
    file: Path,
    kind: str | None,
    columns: list[str],
    maps: list[str],
    how: Mapping[str, Any],
    *,
    ray: str | None,
    workers: int | None,
) -> None:
    """`how` has the other options of the command."""
    with operator_errors(), open_store_of(settings := settings_from(config)) as (store, context):
        request = ImportRequest(file, kind or _format(file), column_mapping(columns), maps=value_maps(maps), **how)
        freeze_garbage(bulk=True)  # the garbage collector took a quarter of an import's time
        with RowProgress() as progress:
            parts = spread(settings, store, ray, workers, many=file.is_file() and file.stat().st_size > _SMALL)
            if what == "profiles":
                result = FileImport(context, ProfileImport(context), parts).run(request, progress)
            else:
                result = FileImport(context, SwipeImport(context), parts).run(request, progress)
        _report(result, what, request, config)


def export_file(
    config: Path | None, what: str, file: Path, kind: str | None, *, force: bool, ray: str | None, workers: int | None
) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (store, context):
        if file.exists() and not force:
            raise InvalidInput("file", f"{file} is there already; choose another name, or --force to replace it")
        file_kind = kind or _format(file)
        with context.store.read() as reader:
            people = reader.count(Person)
        done = 0
        with RowProgress() as progress:

            def watched() -> Iterator[Batch]:
                nonlocal done
                for batch in export_batches(context, what, spread(settings, store, ray, workers)):
                    yield batch
                    done += len(batch)
                    progress("exporting", done, people if what == "profiles" else 0)

            written = write_rows(watched(), COLUMNS[what], file_kind, file)
        say(f"{written:,} {what} in {file}")


def _format(file: Path) -> str:
    refuse_spreadsheet(file)
    if file.suffix.lower() not in _ENDINGS:
        raise InvalidInput("file", f"{file.name!r} must end in one of {', '.join(_ENDINGS)}, or say --format")
    return _ENDINGS[file.suffix.lower()]


def _report(result: ImportResult, what: str, request: ImportRequest, config: Path | None) -> None:
    say(f"{request.path.name} is read as {result.read_as}")
    for problem in result.problems[:_SHOWN]:
        say(f"row {problem.row}: {problem.field}: {problem.problem}")
    if len(result.problems) > _SHOWN:
        say(f"… and more; {result.bad:,} rows are bad in all")
    if result.unread:
        say(f"columns that mean nothing here: {', '.join(result.unread)}")
    if result.new_tags:
        say(f"tags that are new to the vocabulary: {', '.join(result.new_tags)}")
    if request.dry_run:
        say(f"{result.rows:,} rows, {result.bad:,} bad; a dry run, nothing was written")
    elif result.problems and not result.bad:
        say("columns are missing, so nothing was written")
    elif not result.complete:
        say(f"{result.bad:,} of {result.rows:,} rows are bad, so nothing was written; mend them, or use --skip-bad")
    else:
        again = f", going on after {result.resumed:,} rows of an earlier try" if 0 < result.resumed < result.rows else ""
        say(f"{result.written:,} {what} written, {result.unchanged:,} were there already, {result.bad:,} bad{again}")
    if result.suggestion is not None:
        left = f", and leave out {result.suggestion.left_out:,} bad ones" if result.suggestion.left_out else ""
        say(f"this would import {result.suggestion.written:,} rows{left}:")
        say(_command(result.suggestion, what, request, config))
    no_columns = result.problems and not result.bad
    if no_columns or (result.bad and not request.skip_bad):
        sys.exit(FAILED)


def _command(suggested: SuggestedOptions, what: str, request: ImportRequest, config: Path | None) -> str:
    """The command that a suggestion amounts to."""
    words = ["kaczmatch", "import", what, str(request.path)]
    words += [word for field, column in suggested.columns.items() for word in ("--column", f"{field}={column}")]
    words += [word for text in map_texts(suggested.maps) for word in ("--map", text)]
    words += ["--date-format", suggested.date_format] if suggested.date_format else []
    words += ["--new-tags", suggested.new_tags] if suggested.new_tags != "refuse" else []
    for option, value in (("--delimiter", request.delimiter), ("--encoding", request.encoding)):
        words += [option, value] if value else []
    words += ["--format", request.kind] if _ENDINGS.get(request.path.suffix.lower()) != request.kind else []
    words += ["--skip-bad"] if suggested.skip_bad else []
    words += ["--config", str(config)] if config is not None else []
    return shlex.join(words)
