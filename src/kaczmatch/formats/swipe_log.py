"""A swipe log with its candidates, as two tables: the form that commands write and read.

``swipes``: user_id, seq (the user's order), candidate_id, like (0/1), session. ``candidates``: candidate_id, then a column a tag.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.formats.tables import write_table


def write_swipes(path: Path, shown: NDArray[np.int64], labels: NDArray[np.int8], cards: int) -> None:
    """Swipes of users x time, in sessions of `cards`."""
    users, swipes = shown.shape
    frame = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(users), swipes),
            "seq": np.tile(np.arange(swipes), users),
            "candidate_id": shown.ravel(),
            "like": (labels.ravel() > 0).astype(np.int8),
            "session": np.tile(np.arange(swipes) // cards, users),
        }
    )
    write_table(frame, path)


def write_candidates(path: Path, tags: Matrix) -> None:
    names = [f"tag_{i:02d}" for i in range(tags.shape[1])]
    values = pl.DataFrame(tags.astype(np.int8), schema=names)
    write_table(values.insert_column(0, pl.Series("candidate_id", np.arange(len(tags)))), path)


def read_log(swipes: Path, candidates: Path) -> SwipeLog:
    """Both tables as one log, every user's swipes in the order of ``seq``."""
    return read_swipes(swipes, candidates).log()
