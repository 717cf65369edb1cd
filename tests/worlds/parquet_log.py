"""A small log in Parquet files, and the job that replays it in several parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import kaczmatch
from kaczmatch.jobs.locations import Location
from kaczmatch.jobs.replay import ReplayJob, swipe_files

PEOPLE, TAGS = 40, 6


def write_parquet_log(folder: Path, *, texts: bool = False, rows: int = 900) -> None:
    """Two files; times that are not in order, sessions and skips. Users and candidates are numbers, or else texts."""
    rng = np.random.default_rng(7)

    def name(numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
        return pl.Series([f"person {number}" for number in numbers]) if texts else pl.Series(numbers)

    tags = pl.DataFrame((rng.random((PEOPLE, TAGS)) < 0.5).astype(np.int8), schema=[f"tag {i}" for i in range(TAGS)])
    tags.insert_column(0, name(np.arange(PEOPLE)).alias("id")).write_parquet(folder / "candidates.parquet")
    (folder / "swipes").mkdir()
    for number in range(2):
        at = np.datetime64("2026-01-01", "us") + rng.integers(0, 10**12, rows).astype("timedelta64[us]")
        columns = {
            "user": name(rng.integers(0, PEOPLE, rows)),
            "candidate": name(rng.integers(0, PEOPLE, rows)),
            "decision": rng.choice(["like", "pass", "skip"], rows, p=[0.4, 0.5, 0.1]),
            "at": at,
            "session": [f"day {day}" for day in at.astype("datetime64[D]")] if texts else at.astype("datetime64[D]").astype(int),
        }
        pl.DataFrame(columns).write_parquet(folder / "swipes" / f"{number}.parquet")


def job_on(folder: Location, out: str) -> ReplayJob:
    return ReplayJob(
        swipes=swipe_files(folder / "swipes"),
        candidates=folder / "candidates.parquet",
        out=folder / out,
        learner=kaczmatch.learner("probit-diag"),
        rows=250,
    )
