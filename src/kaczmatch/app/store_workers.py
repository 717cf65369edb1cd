"""Parts of people on processes of their own, each of which opens the store once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, final

from kaczmatch.app.composition import context_of, open_store
from kaczmatch.app.warm_up import freeze_garbage
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.runner.processes import ProcessRunner
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.store import Store
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore
from kaczmatch.storage.sqlite import Sqlite

_FEW: Final = 10_000  # people, for whom processes take longer to start than they save
_opened: list[tuple[Settings | Path, Context]] = []  # the one of this process


def parts_on(runner: Runner, settings: Settings) -> StoreParts:
    """A runner of threads has the store that is open already."""
    return StoreParts(runner, None if isinstance(runner, LocalRunner) else _SettingsStore(settings))


def local_parts(settings: Settings, store: Store, *, many: bool | None = None) -> StoreParts:
    """All cores of this machine, where there is much to do. None: where there are many people."""
    return parts_on(ProcessRunner(), settings) if (_are_many(store) if many is None else many) else StoreParts()


def parts_of_copy(store: Store) -> StoreParts:
    """All cores for a file that is a copy of a database, whose settings nobody knows. A service may be at work beside it."""
    if isinstance(store, SqlStore) and isinstance(store.database, Sqlite) and _are_many(store):
        return StoreParts(ProcessRunner(idle=True), _CopiedStore(store.database.file))
    return StoreParts()


def copy_context(store: Store) -> Context:
    return Context(store, ServiceConfig(), lambda: datetime.now(UTC), lambda: "")


def _are_many(store: Store) -> bool:
    with store.read() as reader:
        return bool(reader.find(Person, skip=_FEW - 1, limit=1))


def _once(place: Settings | Path, opened: Callable[[], Context]) -> Context:
    if not _opened or _opened[0][0] != place:
        _opened[:] = [(place, opened())]
        freeze_garbage(bulk=True)
    return _opened[0][1]


@final
@dataclass(frozen=True, slots=True)
class _SettingsStore:
    settings: Settings

    def __call__(self) -> Context:
        return _once(self.settings, lambda: context_of(self.settings, open_store(self.settings)))


@final
@dataclass(frozen=True, slots=True)
class _CopiedStore:
    file: Path

    def __call__(self) -> Context:
        return _once(self.file, lambda: copy_context(SqlStore(f"sqlite:///{self.file}", readers=2)))
