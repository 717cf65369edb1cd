"""Files that are there as a whole or not at all, so that a job that was killed goes on with those that are."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

import polars as pl

from kaczmatch.jobs.locations import Location, rename


def write_whole(frame: pl.DataFrame, path: Location, *, row_group_size: int | None = None) -> None:
    """A table, as Parquet."""
    _write(path, lambda file: frame.write_parquet(file, compression="uncompressed", row_group_size=row_group_size))


def write_whole_text(text: str, path: Location) -> None:
    _write(path, lambda file: file.write(text.encode()))


def _write(path: Location, fill: Callable[[IO[bytes]], object]) -> None:
    """The file takes its name when it is on disk. Two that write the same file at once do not disturb each other."""
    made = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with made.open("wb") as file:
            fill(file)
            if isinstance(path, Path):
                file.flush()
                os.fsync(file.fileno())
        rename(made, path.name)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
