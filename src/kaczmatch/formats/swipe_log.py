"""A swipe log with its candidates, as two tables: the form that commands write and read.

``swipes``: user_id, seq (the user's order), candidate_id, like (0/1), session. ``candidates``: candidate_id, then a column a tag.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix
from kaczmatch.formats.tables import read_table, write_table


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
    log, people = read_table(swipes), read_table(candidates)
    for name, frame, path in (
        ("user_id", log, swipes),
        ("candidate_id", log, swipes),
        ("like", log, swipes),
        ("candidate_id", people, candidates),
    ):
        if name not in frame.columns:
            raise InvalidInput(name, f"this column is missing from {path.name}, which has {', '.join(frame.columns)}")
        if frame[name].null_count():
            raise InvalidInput(name, f"is empty in {frame[name].null_count()} rows of {path.name}")
    if people["candidate_id"].is_duplicated().any():
        twice = people.filter(people["candidate_id"].is_duplicated())["candidate_id"][0]
        raise InvalidInput("candidate_id", f"{twice!r} stands more than once in {candidates.name}")
    tags = people.drop("candidate_id")
    for name, kind in tags.schema.items():
        if not kind.is_numeric() and kind != pl.Boolean:
            raise InvalidInput(name, f"must be numbers in {candidates.name}, got {kind}")
    if "seq" in log.columns:
        log = log.sort("user_id", "seq", maintain_order=True)
    place = {key: row for row, key in enumerate(people["candidate_id"].to_list())}
    missing = [key for key in log["candidate_id"].unique().to_list() if key not in place]
    if missing:
        raise InvalidInput("candidate_id", f"{missing[0]!r} of {swipes.name} is not in {candidates.name}")
    like = log["like"].to_numpy()
    if not np.isin(like, (0, 1)).all():
        raise InvalidInput("like", f"must be 0 or 1 in every row of {swipes.name}")
    return SwipeLog(
        user=log["user_id"].to_numpy(),
        candidate=np.array([place[key] for key in log["candidate_id"].to_list()], np.int64),
        candidates=tags.cast(pl.Float64).to_numpy(),
        label=2 * like.astype(np.int64) - 1,
        session=log["session"].to_numpy() if "session" in log.columns else None,
    )
