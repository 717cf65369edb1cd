"""Backups as an operator makes and restores them: the files of `storage.backups`, each verified by replaying everybody."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import SINGLE_ROW, ActiveVersions, Person
from kaczmatch.service.domain.store import Store
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import backups
from kaczmatch.storage.backups import Backup, Progress, Replayed


def back_up(url: str, file: Path, progress: Progress, *, force: bool = False) -> Backup:
    """The database as of one moment, while it is in use."""
    return backups.back_up(url, file, replay_everybody, progress, force=force)


def restore(file: Path, url: str, progress: Progress, *, force: bool = False) -> Backup:
    """A verified copy of a backup takes the place of a database; the backup stays as it is."""
    return backups.restore(file, url, replay_everybody, progress, force=force)


def replay_everybody(store: Store, progress: Progress) -> Replayed:
    """Refuses a store in which a state is not the replay of its events, or in which records contradict each other."""
    context = Context(store, ServiceConfig(), lambda: datetime.now(UTC), lambda: "")
    with store.read() as reader:
        if reader.get(ActiveVersions, SINGLE_ROW) is None and not reader.count(Person):
            return Replayed(0, 0)  # of a service that was never started
    verdict = verify(context, lambda done, total: progress("replaying", done, total))
    if verdict.problems:
        more = f", and {len(verdict.problems) - 1} more" if len(verdict.problems) > 1 else ""
        raise InvalidInput("backup", f"{verdict.problems[0]}{more}; see `kaczmatch verify`")
    return Replayed(verdict.people, verdict.events)
