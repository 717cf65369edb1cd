"""`kaczmatch migrate`, `keys`, `import`, `export`, `erase`, `verify`, `relearn`, `backup` and `restore`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kaczmatch.api.routes.transfer import columns_of
from kaczmatch.app.collecting import collect_rarely
from kaczmatch.app.composing import access_of, scrubbing_of
from kaczmatch.cli.operating import Stages, chosen, opened, plainly, say, settings_from
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.writing import write_rows
from kaczmatch.learners.registry import learner
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.records import Person
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.verification import verify as replayed
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.service.transfer.exporting import COLUMNS, Batch, exported
from kaczmatch.service.transfer.importing import Importing, ImportRequest, ImportResult
from kaczmatch.service.transfer.profiles import ProfileImport
from kaczmatch.service.transfer.swipes import SwipeImport
from kaczmatch.settings.reading import without_password
from kaczmatch.storage import backups, migrating

FAILED = 1
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_SHOWN = 20
_SCRUB_TRIES = 60


def migrate(config: Path | None) -> None:
    with plainly():
        settings = settings_from(config)
        if settings.url.startswith("sqlite"):
            Path(settings.url.partition(":///")[2]).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        done = migrating.migrate(settings.url)
        say(f"brought up to date: {', '.join(done)}" if done else f"{without_password(settings.url)} is up to date")


def create_key(config: Path | None, name: str, scopes: Sequence[str], days: float | None) -> None:
    with plainly(), opened(settings := settings_from(config)) as (_, context):
        expires = None if days is None else context.clock() + timedelta(days=days)
        key, text = access_of(settings, context).create(name, scopes, expires=expires)
    Console(stderr=True).print(f"key {key.id} ({', '.join(key.scopes)}); it is shown once, keep it safe:", highlight=False)
    print(text)


def list_keys(config: Path | None) -> None:
    with plainly(), opened(settings := settings_from(config)) as (_, context):
        keys, now = access_of(settings, context).keys(), context.clock()
    table = Table("id", "name", "scopes", "created", "state")
    for key in keys:
        ended = key.expires is not None and key.expires <= now
        until = "" if key.expires is None else f" until {key.expires:%Y-%m-%d %H:%M}"
        state = f"revoked {key.revoked:%Y-%m-%d}" if key.revoked is not None else "expired" if ended else f"valid{until}"
        table.add_row(key.id, key.name, ", ".join(key.scopes), f"{key.created:%Y-%m-%d}", state)
    Console().print(table if keys else "there is no key yet: kaczmatch keys create my-app --scope app")


def revoke_key(config: Path | None, identifier: str) -> None:
    with plainly(), opened(settings := settings_from(config)) as (_, context):
        access_of(settings, context).revoke(identifier).result()
        say(f"key {identifier} is revoked, and the tokens minted with it end within two seconds")


def rotate_key(config: Path | None, identifier: str, hours: float) -> None:
    with plainly(), opened(settings := settings_from(config)) as (_, context):
        key, text = access_of(settings, context).rotate(identifier, grace=timedelta(hours=hours))
    ends = f"ends in {hours:g} hours" if hours else "has ended"
    Console(stderr=True).print(f"key {key.id} takes the place of {identifier}, which {ends}:", highlight=False)
    print(text)


def bring(
    config: Path | None, what: str, file: Path, kind: str | None, columns: list[str], *, dry_run: bool, skip_bad: bool
) -> None:
    with plainly(), opened(settings_from(config)) as (_, context):
        asked = ImportRequest(file, kind or _format(file), columns_of(columns), dry_run, skip_bad)
        collect_rarely()  # half of an import's time went into looking for garbage
        with Stages() as stages:
            if what == "profiles":
                result = Importing(context, ProfileImport(context)).run(asked, stages)
            else:
                result = Importing(context, SwipeImport(context)).run(asked, stages)
        _tell(result, what, asked)


def put_away(config: Path | None, what: str, file: Path, kind: str | None, *, force: bool) -> None:
    with plainly(), opened(settings_from(config)) as (_, context):
        if file.exists() and not force:
            raise InvalidInput("file", f"{file} is there already; choose another name, or --force to replace it")
        chosen = kind or _format(file)
        with context.store.read() as reader:
            people = reader.count(Person)
        done = 0
        with Stages() as stages:

            def watched() -> Iterator[Batch]:
                nonlocal done
                for batch in exported(context, what):
                    yield batch
                    done += len(batch)
                    stages("exporting", done, people if what == "profiles" else 0)

            written = write_rows(watched(), COLUMNS[what], chosen, file)
        say(f"{written:,} {what} in {file}")


def erase(config: Path | None, user: str) -> None:
    with plainly(), opened(settings := settings_from(config)) as (store, context):
        with Console(stderr=True).status(f"erasing {user}"):
            scrubbing = scrubbing_of(context, store)
            Erasure(context, scrubbing, access_of(settings, context).farewells).erase(user)
            tries = iter(range(_SCRUB_TRIES))
            while not (clean := scrubbing.run(now=True)) and next(tries, None) is not None:
                time.sleep(1.0)  # somebody reads, or another process is at it
        if clean:
            say(f"nothing of {user} is left in the database; backups keep it until they are deleted")
        else:
            say(f"no record of {user} is left; bytes in the files of the database are overwritten when the service next can")


def verify(config: Path | None) -> None:
    with plainly(), opened(settings_from(config)) as (_, context):
        with Stages() as stages:
            verdict = replayed(context, lambda done, total: stages("replaying", done, total))
        say(
            f"{verdict.people:,} people, {verdict.events:,} events: {verdict.identical:,} states equal their replay bit for bit, "
            f"{verdict.close:,} within 1e-9, {len(verdict.problems):,} problems"
        )
        for problem in verdict.problems[:_SHOWN]:
            say(f"  {problem}")
    if verdict.problems:
        sys.exit(FAILED)


def relearn(config: Path | None, slug: str, text: str) -> None:
    with plainly(), opened(settings_from(config)) as (_, context):
        settings, models = chosen("settings", text), Models(context)
        with context.store.read() as reader:
            words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        rule = learner(slug, **settings)
        with Stages() as stages:
            prior = models.fit_prior(slug, settings) or neutral_prior(rule, words.dimensions)
            number = models.change(slug, settings, prior, lambda done, total: stages("learning anew", done, total))
        say(f"model {number} is in use: {slug}, everybody's swipes learned anew from {prior.version}")


def back_up(config: Path | None, file: Path, *, force: bool) -> None:
    with plainly(), Stages() as stages:
        made = backups.back_up(settings_from(config).url, file, stages, force=force)
    say(f"{made.file}: {made.rows:,} rows, {made.people:,} people, {made.events:,} events; verified")


def restore(config: Path | None, file: Path, *, force: bool) -> None:
    with plainly(), Stages() as stages:
        settings = settings_from(config)
        made = backups.restore(file, settings.url, stages, force=force)
    say(f"{without_password(settings.url)}: {made.rows:,} rows, {made.people:,} people, {made.events:,} events; verified")


def _format(file: Path) -> str:
    if file.suffix.lower() not in _ENDINGS:
        raise InvalidInput("file", f"{file.name!r} must end in one of {', '.join(_ENDINGS)}, or say --format")
    return _ENDINGS[file.suffix.lower()]


def _tell(result: ImportResult, what: str, asked: ImportRequest) -> None:
    for one in result.problems[:_SHOWN]:
        say(f"row {one.row}: {one.field}: {one.problem}")
    if result.bad > _SHOWN:
        say(f"… and {result.bad - _SHOWN:,} more bad rows")
    if result.unread:
        say(f"columns that mean nothing here: {', '.join(result.unread)}")
    if asked.dry_run:
        say(f"{result.rows:,} rows, {result.bad:,} bad; a dry run, nothing was written")
    elif not result.complete:
        say(f"{result.bad:,} of {result.rows:,} rows are bad, so nothing was written; mend them, or use --skip-bad")
    else:
        again = f", going on after row {result.resumed:,} of an earlier try" if 0 < result.resumed < result.rows else ""
        say(f"{result.written:,} {what} written, {result.unchanged:,} were there already, {result.bad:,} bad{again}")
    if result.bad and not asked.skip_bad:
        sys.exit(FAILED)
