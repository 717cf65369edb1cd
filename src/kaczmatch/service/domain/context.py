"""What every use case works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, final

from kaczmatch.service.domain.catalogue import Catalogue
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Store


def no_rest() -> None:
    """Nobody is waiting."""


def at_once(work: Callable[[], Any]) -> Any:
    """Here and now."""
    return work()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Store and rules; the clock and the source of unguessable ids are handed in, so that tests can choose them.

    Work that grows with the population goes in small batches and calls `rest` after each, so that requests never wait long. What
    computes for long without the store goes through `compute`.
    """

    store: Store
    config: ServiceConfig
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    catalogue: Catalogue = field(default_factory=Catalogue)
    snapshot: SnapshotFiles | None = None  # of the serving index, where one is kept
    rest: Callable[[], None] = no_rest
    compute: Callable[[Callable[[], Any]], Any] = at_once
