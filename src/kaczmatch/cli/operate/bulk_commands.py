"""Commands that go through everybody, in parts, and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kaczmatch.cli.operate.options import ConfigFile, Force
from kaczmatch.cli.terminal import choices
from kaczmatch.cli.terminal.runners import Ray, Workers


class DataKind(StrEnum):
    PROFILES = "profiles"
    SWIPES = "swipes"


class FileFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class TagsPolicy(StrEnum):
    ADD = "add"
    IGNORE = "ignore"
    REFUSE = "refuse"


Kind = Annotated[FileFormat | None, typer.Option("--format", help="Usually by the ending of the file.")]


def import_data(
    what: Annotated[DataKind, typer.Argument(help="What the rows are.")],
    file: Annotated[Path, typer.Argument(help="A table (.csv, .tsv, .jsonl, .parquet).", dir_okay=False)],
    column: Annotated[list[str] | None, typer.Option(help="field=column, such as id=user_id; repeatable.")] = None,
    map: Annotated[
        list[str] | None, typer.Option(help="What words of a field mean, such as i_am=female:woman,male:man; repeatable.")
    ] = None,
    date_format: Annotated[
        str | None, typer.Option(help="Such as DD.MM.YYYY, or 'DD.MM.YYYY HH:mm' for times; usually ISO 8601.")
    ] = None,
    new_tags: Annotated[TagsPolicy, typer.Option(help="Tags that the vocabulary does not have.")] = TagsPolicy.REFUSE,
    delimiter: Annotated[str | None, typer.Option(help="Between the cells of a CSV file; usually recognised.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a CSV file, such as windows-1252; usually recognised.")] = None,
    format: Kind = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row, and write none.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out, rather than write nothing.")] = False,
    ray: Ray = None,
    workers: Workers = None,
    config: ConfigFile = None,
) -> None:
    """Bring data in: profiles or swipes. All rows are checked first. Interrupted, it goes on where it stopped."""
    from kaczmatch.cli.operate.transfer import import_file as run

    how: dict[str, Any] = {"date_format": date_format, "new_tags": new_tags.value, "delimiter": delimiter, "encoding": encoding}
    how |= {"dry_run": dry_run, "skip_bad": skip_bad}
    run(config, what.value, file, format and format.value, column or [], map or [], how, ray=ray, workers=workers)


def export_data(
    what: Annotated[DataKind, typer.Argument(help="What to write.")],
    file: Annotated[Path, typer.Argument(help="Where to (.csv, .jsonl, .parquet).", dir_okay=False)],
    format: Kind = None,
    force: Force = False,
    ray: Ray = None,
    workers: Workers = None,
    config: ConfigFile = None,
) -> None:
    """Take data out: profiles or swipes, as import and evaluate take them."""
    from kaczmatch.cli.operate.transfer import export_file as run

    run(config, what.value, file, format and format.value, force=force, ray=ray, workers=workers)


def verify(ray: Ray = None, workers: Workers = None, config: ConfigFile = None) -> None:
    """Check the database: replay everybody's events and compare with what is stored."""
    from kaczmatch.cli.operate.database import verify as run

    run(config, ray=ray, workers=workers)


def relearn(
    learner: Annotated[str, typer.Argument(help=f"The learner to change to: {choices.LEARNERS}.")],
    settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    ray: Ray = None,
    workers: Workers = None,
    config: ConfigFile = None,
) -> None:
    """Change the learner: everybody's log is learned anew beside the old one, then all processes switch at once."""
    from kaczmatch.cli.operate.learning import relearn as run

    run(config, learner, settings, ray=ray, workers=workers)


def refit(ray: Ray = None, workers: Workers = None, config: ConfigFile = None) -> None:
    """Fit the population again, from what people like now: where newcomers start, and how many traits candidates have."""
    from kaczmatch.cli.operate.learning import refit as run

    run(config, ray=ray, workers=workers)
