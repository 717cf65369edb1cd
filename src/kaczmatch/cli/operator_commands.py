"""Commands for whoever runs the service, and their options. What a command does is imported when it runs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[Path | None, typer.Option("--config", help="Settings as TOML; KACZMATCH_… variables win.", dir_okay=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


class What(StrEnum):
    PROFILES = "profiles"
    SWIPES = "swipes"


class Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class Scope(StrEnum):
    APP = "app"
    TOKENS = "tokens"
    DATA = "data"
    OPERATOR = "operator"


class Policy(StrEnum):
    MUTUAL = "mutual"
    PAPER = "paper"


Kind = Annotated[Format | None, typer.Option("--format", help="Usually by the ending of the file.")]

keys = typer.Typer(help="Keys of an app's back end: shown once, kept as hashes.", no_args_is_help=True)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[Scope], typer.Option(help="app, tokens, data or operator; may be repeated.")],
    days: Annotated[float | None, typer.Option(min=0.0, help="How long it is valid; usually until revoked.")] = None,
    config: ConfigFile = None,
) -> None:
    """Make a key and print it, once."""
    from kaczmatch.cli.operations import create_key as run

    run(config, name, [one.value for one in scope], days)


@keys.command("list")
def list_keys(config: ConfigFile = None) -> None:
    """Every key, without what opens anything."""
    from kaczmatch.cli.operations import list_keys as run

    run(config)


@keys.command("revoke")
def revoke_key(key: Annotated[str, typer.Argument(help="Its id.")], config: ConfigFile = None) -> None:
    """End a key and the tokens minted with it."""
    from kaczmatch.cli.operations import revoke_key as run

    run(config, key)


@keys.command("rotate")
def rotate_key(
    key: Annotated[str, typer.Argument(help="Its id.")],
    grace_hours: Annotated[float, typer.Option(min=0.0, help="How long the old key works beside the new one.")] = 24.0,
    config: ConfigFile = None,
) -> None:
    """Make a new key like an old one, which ends after a while."""
    from kaczmatch.cli.operations import rotate_key as run

    run(config, key, grace_hours)


def migrate(config: ConfigFile = None) -> None:
    """Bring the tables of the database up to date."""
    from kaczmatch.cli.operations import migrate as run

    run(config)


def bring(
    what: Annotated[What, typer.Argument(help="What the rows are.")],
    file: Annotated[Path, typer.Argument(help="A table (.csv, .jsonl, .parquet).", dir_okay=False)],
    column: Annotated[list[str] | None, typer.Option(help="field=column, such as id=user_id; may be repeated.")] = None,
    format: Kind = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row, and write none.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out, rather than write nothing.")] = False,
    config: ConfigFile = None,
) -> None:
    """Import profiles or swipes. All rows are checked first; interrupted, it goes on where it stopped."""
    from kaczmatch.cli.operations import bring as run

    run(config, what.value, file, format and format.value, column or [], dry_run=dry_run, skip_bad=skip_bad)


def put_away(
    what: Annotated[What, typer.Argument(help="What to write.")],
    file: Annotated[Path, typer.Argument(help="Where to (.csv, .jsonl, .parquet).", dir_okay=False)],
    format: Kind = None,
    force: Force = False,
    config: ConfigFile = None,
) -> None:
    """Export profiles or swipes, as import takes them."""
    from kaczmatch.cli.operations import put_away as run

    run(config, what.value, file, format and format.value, force=force)


def erase(
    user: Annotated[str, typer.Argument(help="Whom to forget.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: ConfigFile = None,
) -> None:
    """Leave nothing of a person, in anybody's data."""
    if not yes:
        typer.confirm(f"Erase {user} for good?", abort=True, err=True)
    from kaczmatch.cli.operations import erase as run

    run(config, user)


def verify(config: ConfigFile = None) -> None:
    """Replay everybody's events and compare with what is stored."""
    from kaczmatch.cli.operations import verify as run

    run(config)


def relearn(
    learner: Annotated[str, typer.Argument(help="The learner to change to, such as probit.")],
    settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    config: ConfigFile = None,
) -> None:
    """Change the learner: everybody's log is learned anew beside the old one, then all processes switch at once."""
    from kaczmatch.cli.operations import relearn as run

    run(config, learner, settings)


def backup(
    file: Annotated[Path, typer.Argument(help="A new file.", dir_okay=False)], force: Force = False, config: ConfigFile = None
) -> None:
    """Write the database as of now into one file, while it is in use, and verify it."""
    from kaczmatch.cli.operations import back_up as run

    run(config, file, force=force)


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", dir_okay=False)], force: Force = False, config: ConfigFile = None
) -> None:
    """Verify a backup and put it in place of the database. Stop the service first."""
    from kaczmatch.cli.operations import restore as run

    run(config, file, force=force)


def off_policy(
    policy: Annotated[Policy, typer.Argument(help="The policy to judge.")],
    settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    learner: Annotated[str | None, typer.Option(help="As if people had been learned by this one; usually as they were.")] = None,
    learner_settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    since: Annotated[
        datetime | None, typer.Option(help="Judge by decks from then on (UTC); usually by all that are kept.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the decks that the policy deals.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the table on standard output.")] = False,
    config: ConfigFile = None,
) -> None:
    """Likes a card that another policy would have earned, from the cards that were dealt and their probabilities."""
    from kaczmatch.cli.off_policy import run

    run(config, (policy.value, settings), None if learner is None else (learner, learner_settings), since, seed, as_json=json)


def experiment(
    json: Annotated[bool, typer.Option("--json", help="Print the differences on standard output.")] = False,
    config: ConfigFile = None,
) -> None:
    """How the experiment of the settings stands; look as often as you like."""
    from kaczmatch.cli.experiment import run

    run(config, as_json=json)


def register(app: typer.Typer) -> None:
    app.add_typer(keys, name="keys")
    app.command("migrate")(migrate)
    app.command("import")(bring)
    app.command("export")(put_away)
    app.command("erase")(erase)
    app.command("verify")(verify)
    app.command("relearn")(relearn)
    app.command("off-policy")(off_policy)
    app.command("experiment")(experiment)
    app.command("backup")(backup)
    app.command("restore")(restore)
