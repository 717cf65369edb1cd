"""Files that are there as a whole or not at all, so that a job that was killed goes on with those that are."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import polars as pl


def write_whole(frame: pl.DataFrame, path: Path, *, row_group_size: int | None = None) -> None:
    """The file takes its name when it is on disk. Two that write the same file at once do not disturb each other."""
    made = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with made.open("wb") as file:
            frame.write_parquet(file, compression="uncompressed", row_group_size=row_group_size)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
