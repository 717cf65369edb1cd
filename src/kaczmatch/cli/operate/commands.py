"""Commands for operators, and their options. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kaczmatch.cli.operate.bulk_commands import export_data, import_data, refit, relearn, verify
from kaczmatch.cli.operate.options import ConfigFile, Force
from kaczmatch.cli.operate.picks_command import picks
from kaczmatch.cli.terminal import choices
from kaczmatch.cli.terminal.help import CommandGroups

PANEL = "To run the service"


class ScopeName(StrEnum):
    APP = "app"
    TOKENS = "tokens"
    DATA = "data"
    OPERATOR = "operator"


class LogTarget(StrEnum):
    JSON = "json"
    FILE = "file"


class PolicyName(StrEnum):
    MUTUAL = "mutual"
    PAPER = "paper"


config_commands = typer.Typer(help="Check the settings of the service.", no_args_is_help=True)
models = typer.Typer(help="Change how the service learns.", no_args_is_help=True)
keys = typer.Typer(help="Give and take access: keys of an app's back end, shown once and kept as hashes.", no_args_is_help=True)


@keys.command("create", epilog="Example: kaczmatch keys create 'my app' --scope app --scope tokens")
def create_key(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[ScopeName], typer.Option(help="What it may do; repeatable.")],
    days: Annotated[float | None, typer.Option(min=0.0, help="How long it is valid; usually until revoked.")] = None,
    config: ConfigFile = None,
) -> None:
    """Give an app's back end access: make a key and print it, once."""
    from kaczmatch.cli.operate.keys import create_key as run

    run(config, name, [one.value for one in scope], days)


@keys.command("list", epilog="Example: kaczmatch keys list")
def list_keys(config: ConfigFile = None) -> None:
    """See who has access: every key, without its secret."""
    from kaczmatch.cli.operate.keys import list_keys as run

    run(config)


@keys.command("revoke", epilog="Example: kaczmatch keys revoke k1a2b3")
def revoke_key(key: Annotated[str, typer.Argument(help="Its id.")], config: ConfigFile = None) -> None:
    """Take access away: end a key and the tokens made with it."""
    from kaczmatch.cli.operate.keys import revoke_key as run

    run(config, key)


@keys.command("rotate", epilog="Example: kaczmatch keys rotate k1a2b3 --grace-hours 48")
def rotate_key(
    key: Annotated[str, typer.Argument(help="Its id.")],
    grace_hours: Annotated[float, typer.Option(min=0.0, help="How long the old key works beside the new one.")] = 24.0,
    config: ConfigFile = None,
) -> None:
    """Replace a key: make a new one like it, and let the old one end after a while."""
    from kaczmatch.cli.operate.keys import rotate_key as run

    run(config, key, grace_hours)


def migrate(config: ConfigFile = None) -> None:
    """Update the database to this version: bring its tables up to date."""
    from kaczmatch.cli.operate.database import migrate as run

    run(config)


def erase(
    user: Annotated[str, typer.Argument(help="Whom to forget.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: ConfigFile = None,
) -> None:
    """Erase a person, and every trace of them in other people's data."""
    if not yes:
        typer.confirm(f"Erase {user} for good?", abort=True, err=True)
    from kaczmatch.cli.operate.database import erase as run

    run(config, user)


def backup(
    file: Annotated[Path, typer.Argument(help="A new file.", dir_okay=False)], force: Force = False, config: ConfigFile = None
) -> None:
    """Make a backup: the database as of now in one file, while it is in use, and verified."""
    from kaczmatch.cli.operate.database import back_up as run

    run(config, file, force=force)


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", dir_okay=False)], force: Force = False, config: ConfigFile = None
) -> None:
    """Put a backup in place of the database, after verifying it. Stop the service first."""
    from kaczmatch.cli.operate.database import restore as run

    run(config, file, force=force)


def off_policy(
    policy: Annotated[PolicyName, typer.Argument(help="The policy to judge.")],
    settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    learner: Annotated[
        str | None, typer.Option(help=f"As if people had been learned by it; usually as they were: {choices.LEARNERS}.")
    ] = None,
    learner_settings: Annotated[str, typer.Option(help="Its settings, as JSON.")] = "{}",
    since: Annotated[
        datetime | None, typer.Option(help="Judge by decks from then on (UTC); usually by all that are kept.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the decks that the policy deals.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the table on standard output.")] = False,
    config: ConfigFile = None,
) -> None:
    """Estimate what another policy would have earned: likes per card, from logged decks and propensities."""
    from kaczmatch.cli.operate.off_policy import run

    run(config, (policy.value, settings), None if learner is None else (learner, learner_settings), since, seed, as_json=json)


def experiment(
    json: Annotated[bool, typer.Option("--json", help="Print the differences on standard output.")] = False,
    config: ConfigFile = None,
) -> None:
    """See how the experiment of the settings stands. Look as often as you like."""
    from kaczmatch.cli.operate.experiment import run

    run(config, as_json=json)


@config_commands.command("check", epilog="Example: kaczmatch config check --config kaczmatch.toml")
def config_check(config: ConfigFile = None) -> None:
    """See the settings in force, secrets masked, and what is wrong with them."""
    from kaczmatch.cli.operate.serve import check

    check(config)


def serve(
    config: ConfigFile = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; usually 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Port to listen on; usually 8000.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes that answer requests, at most one per core.")] = None,
    demo: Annotated[bool | None, typer.Option("--demo/--no-demo", help="Invented people to play with.")] = None,
    about: Annotated[str | None, typer.Argument(help="What the demo is about.", metavar=choices.DEMOS)] = None,
    data: Annotated[Path | None, typer.Option(help="Folder for the database file.", file_okay=False)] = None,
    log: Annotated[
        LogTarget | None, typer.Option(help="Where log lines go; usually to a file in the data folder if you are at a terminal.")
    ] = None,
) -> None:
    """Run the service. `kaczmatch serve --demo` shows it with invented people, `--demo mentoring` beyond dating."""
    from kaczmatch.cli.operate.serve import serve as run

    if about is not None and not demo:
        raise typer.BadParameter(f"{about!r} is what a demo can be about: kaczmatch serve --demo {about}")
    run(config, host=host, port=port, workers=workers, demo=about or demo, data=data, log=log and log.value)


@models.command("rollback", epilog="Example: kaczmatch models rollback --config kaczmatch.toml")
def rollback(config: ConfigFile = None) -> None:
    """Take the last change of the model back: everybody is learned again as before it, beside the service."""
    from kaczmatch.cli.operate.learning import rollback as run

    run(config)


def openapi() -> None:
    """Print the OpenAPI document of the service, for authors of clients."""
    from kaczmatch.cli.operate.serve import openapi as run

    run()


COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "serve": (serve, "--demo mentoring --port 9000"),
    "import": (import_data, "profiles people.csv --column id=user_id --dry-run"),
    "export": (export_data, "swipes swipes.parquet"),
    "migrate": (migrate, "--config kaczmatch.toml"),
    "backup": (backup, "monday.backup"),
    "restore": (restore, "monday.backup --force"),
    "verify": (verify, "--config kaczmatch.toml"),
    "erase": (erase, "user-17 --yes"),
    "relearn": (relearn, "probit --settings '{\"appeal\": true}'"),
    "refit": (refit, "--config kaczmatch.toml"),
    "experiment": (experiment, "--json"),
    "off-policy": (off_policy, "mutual --since 2026-05-01"),
    "picks": (picks, "picks.parquet --assignment stable --publish"),
    "openapi": (openapi, "> openapi.json"),
}


def register(app: typer.Typer) -> None:
    for name, (command, example) in COMMANDS.items():
        app.command(name, rich_help_panel=PANEL, epilog=f"Example: kaczmatch {name} {example}")(command)
    for name, group in (("config", config_commands), ("keys", keys), ("models", models)):
        app.add_typer(group, name=name, cls=CommandGroups, rich_help_panel=PANEL)
