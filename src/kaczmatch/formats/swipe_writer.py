"""Simulated swipes and their candidates as files, in the one form that `evaluate` and the service's import read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.vectors import Matrix
from kaczmatch.formats.columns import LIKE, PASS, time_text
from kaczmatch.formats.tables import write_table

START = datetime(2020, 1, 1, tzinfo=UTC)
_BETWEEN_SESSIONS, _BETWEEN_SWIPES = timedelta(days=1), timedelta(seconds=10)


def write_swipes(path: Path, shown: NDArray[np.int64], labels: NDArray[np.int8], cards: int) -> None:
    """Swipes of users x time in sessions of `cards`: one session per day, one swipe every ten seconds."""
    users, swipes = shown.shape
    session = np.arange(swipes) // cards
    at = [time_text(START + int(s) * _BETWEEN_SESSIONS + int(n) * _BETWEEN_SWIPES) for n, s in enumerate(session)]
    frame = pl.DataFrame(
        {
            "user": np.repeat(np.arange(users), swipes),
            "candidate": shown.ravel(),
            "decision": np.where(labels.ravel() > 0, LIKE, PASS),
            "at": at * users,
            "session": np.tile(session, users),
        }
    )
    write_table(frame, path)


def write_candidates(path: Path, tags: Matrix) -> None:
    """One row per candidate, one column per tag."""
    names = [f"tag_{i:02d}" for i in range(tags.shape[1])]
    values = pl.DataFrame(tags.astype(np.int8), schema=names)
    write_table(values.insert_column(0, pl.Series("id", np.arange(len(tags)))), path)
