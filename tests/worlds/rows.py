"""How many rows of the database a request reads, and in which thread."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.storage import database

COMMITS = "kaczmatch group commit"


@dataclass
class RowsRead:
    """Rows by the name of the thread, and the steps that SQLite took in commits: looks at rows that it did not hand over."""

    rows: Counter[str] = field(default_factory=Counter)
    steps: int = 0

    @property
    def in_commits(self) -> int:
        return self.rows[COMMITS]

    @property
    def in_all(self) -> int:
        return self.rows.total()


_STEPS = 10


@contextmanager
def rows_read(file: Path) -> Iterator[RowsRead]:
    """Of everything that reads this database meanwhile."""
    found, drive = RowsRead(), database.drive

    def step() -> None:
        found.steps += _STEPS

    def counted(connection: Any, statement: str, values: Sequence[Any] = (), *, find: bool = False) -> Sequence[Sequence[Any]]:
        if connection.engine.url.database != str(file):
            return drive(connection, statement, values, find=find)
        thread, driver = threading.current_thread().name, connection.connection.driver_connection
        if thread == COMMITS:
            driver.set_progress_handler(step, _STEPS)
        rows = drive(connection, statement, values, find=find)
        if thread == COMMITS:
            driver.set_progress_handler(None, 0)
        found.rows[thread] += len(rows)
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "drive", counted)
        yield found
