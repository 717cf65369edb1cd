"""`kaczmatch migrate`, `backup`, `restore`, `verify` and `erase`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console

from kaczmatch.app import backups
from kaczmatch.app.composition import credentials_of, ledger_of, scrubbing_of
from kaczmatch.cli.operate.store_access import open_store_of, operator_errors, say, settings_from, spread
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.service.operations.verification import verify as replayed
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.reading import without_password
from kaczmatch.storage import migrating

FAILED = 1
_SHOWN = 20
_SCRUB_TRIES = 60


def migrate(config: Path | None) -> None:
    with operator_errors():
        settings = settings_from(config)
        if settings.url.startswith("sqlite"):
            Path(settings.url.partition(":///")[2]).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        done = migrating.migrate(settings.url)
        say(f"brought up to date: {', '.join(done)}" if done else f"{without_password(settings.url)} is up to date")


def back_up(config: Path | None, file: Path, *, force: bool) -> None:
    with operator_errors(), RowProgress() as progress:
        made = backups.back_up(settings_from(config).url, file, progress, force=force)
    say(f"{made.file}: {made.rows:,} rows, {made.people:,} people, {made.events:,} events; verified")


def restore(config: Path | None, file: Path, *, force: bool) -> None:
    with operator_errors(), RowProgress() as progress:
        settings = settings_from(config)
        again = backups.LaterErasures(settings)
        made = backups.restore(file, settings.url, progress, again.apply, force=force)
    say(f"{without_password(settings.url)}: {made.rows:,} rows, {made.people:,} people, {made.events:,} events; verified")
    if again.people:
        say(f"erased again, since they were erased after the backup was made: {again.people:,}")


def verify(config: Path | None, *, ray: str | None, workers: int | None) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (store, context):
        with RowProgress() as progress:
            parts = spread(settings, store, ray, workers)
            verdict = replayed(context, lambda done, total: progress("replaying", done, total), parts)
        say(
            f"{verdict.people:,} people, {verdict.events:,} events: {verdict.identical:,} states equal their replay bit for bit, "
            f"{verdict.close:,} within 1e-9, {len(verdict.problems):,} problems"
        )
        for problem in verdict.problems[:_SHOWN]:
            say(f"  {problem}")
    if verdict.problems:
        sys.exit(FAILED)


def erase(config: Path | None, user: str) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (store, context):
        with Console(stderr=True).status(f"erasing {user}"):
            scrubbing = scrubbing_of(context, store)
            tokens, ledger = credentials_of(settings, context).erased_tokens, ledger_of(settings)
            Erasure(context, scrubbing, tokens, ledger.record).erase(user)
            tries = iter(range(_SCRUB_TRIES))
            while not (clean := scrubbing.run(now=True)) and next(tries, None) is not None:
                time.sleep(1.0)  # a reader holds old pages, or another process is scrubbing
        if clean:
            say(f"nothing of {user} is left in the database; it stays in backups, and restoring one erases it again")
        else:
            say(f"no record of {user} is left; bytes in the files of the database are overwritten when the service next can")
