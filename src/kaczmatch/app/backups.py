"""Backups as an operator makes and restores them: the files of `storage.backups`, each verified by replaying everybody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import final

from kaczmatch.app.composition import ledger_of, new_id, now, scrubbing_of, service_config_of, token_secret
from kaczmatch.app.store_workers import copy_context, parts_of_copy
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import SINGLE_ROW, ActiveVersions, Person
from kaczmatch.service.domain.store import Store
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore, backups
from kaczmatch.storage.backups import Backup, Progress, Replayed

_AT_ONCE = 1_000


def _nothing(store: SqlStore) -> None:
    """As it was backed up."""


def back_up(url: str, file: Path, progress: Progress, *, force: bool = False) -> Backup:
    """The database as of one moment, while it is in use."""
    return backups.back_up(url, file, replay_everybody, progress, force=force)


def restore(
    file: Path, url: str, progress: Progress, change: Callable[[SqlStore], None] = _nothing, *, force: bool = False
) -> Backup:
    """A copy of a backup, changed and verified, takes the place of a database; the backup stays as it is."""

    def check(store: SqlStore, progress: Progress) -> Replayed:
        change(store)
        return replay_everybody(store, progress)

    return backups.restore(file, url, check, progress, force=force)


@final
class LaterErasures:
    """Erases those again who were erased after a backup was made, by the ledger of erasures."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime] = now) -> None:
        self._settings, self._clock = settings, clock
        self.people = 0  # whom it has erased

    def apply(self, store: SqlStore) -> None:
        context = Context(store, service_config_of(self._settings), self._clock, new_id)
        erasure = Erasure(context, scrubbing_of(context, store), ErasedTokens(context, token_secret(self._settings)))
        last: tuple[str, ...] = ()
        erasures = ledger_of(self._settings).last_erasures()
        gone: list[str] = []
        with store.read() as reader:
            while page := reader.find(Person, after=last, limit=_AT_ONCE):
                gone += [person.id for person in page if erasures.erased_since(person.id, person.created)]
                last = (page[-1].id,)
        for user in gone:
            erasure.erase(user)
        self.people = len(gone)


def replay_everybody(store: Store, progress: Progress) -> Replayed:
    """Refuses a store in which a state is not the replay of its events, or in which records contradict each other."""
    with store.read() as reader:
        if reader.get(ActiveVersions, SINGLE_ROW) is None and not reader.count(Person):
            return Replayed(0, 0)  # of a service that was never started
    verdict = verify(copy_context(store), lambda done, total: progress("replaying", done, total), parts_of_copy(store))
    if verdict.problems:
        more = f", and {len(verdict.problems) - 1} more" if len(verdict.problems) > 1 else ""
        raise InvalidInput("backup", f"{verdict.problems[0]}{more}; see `kaczmatch verify`")
    return Replayed(verdict.people, verdict.events)
