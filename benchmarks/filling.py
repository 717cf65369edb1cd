"""The people of `million.py` and their swipes: made up from a seed, imported by the command, copied where there must be more."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import importing
import service
from copied_people import copy_people

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION, TOGETHER, FURTHER = 10, 100, 50_000
COLUMNS = ["id", "name", "born", "i_am", "i_look_for", "youngest", "oldest", "latitude", "longitude", "within_km", "tags"]


def people_file(path: Path, people: range, rng: np.random.Generator) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for place in people:
            kind, other = ("man", "woman") if place % 2 else ("woman", "man")
            born = f"{1970 + place % 35}-{1 + place % 12:02}-{1 + place % 28:02}"
            tags = "|".join(f"tag {one}" for one in rng.permutation(service.TAGS)[: rng.integers(4, 14)].tolist())
            at = [f"{50.0 + rng.random() * 2.0:.4f}", f"{8.0 + rng.random() * 2.0:.4f}", 150]
            out.writerow([f"p{place}", f"Person {place}", born, kind, other, 18, 99, *at, tags])


def swipes_file(path: Path, people: range, rng: np.random.Generator) -> None:
    """Of every tenth, on anybody. In the order of time, as a log is: a hundred swipe side by side, then a hundred others."""
    users, second = rng.permutation(people)[: len(people) // SESSION], 0
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["user", "candidate", "decision", "at"])
        for first in range(0, len(users), TOGETHER):
            for _ in range(SESSION):
                for user in users[first : first + TOGETHER].tolist():
                    other = (user + 1 + 2 * int(rng.integers(people.stop // 2 - 1))) % people.stop
                    at, second = START + timedelta(seconds=second), second + 1
                    out.writerow([f"p{user}", f"p{other}", "like" if rng.random() < 0.4 else "pass", at.isoformat()])


def bulk(arguments: Sequence[str], folder: Path) -> float:
    ran = importing.ran([str(one) for one in arguments], folder)
    if ran.rc:
        raise SystemExit(f"kaczmatch {' '.join(map(str, arguments))} failed")
    return ran.cpu


def copy_of(file: Path, into: Path) -> Path:
    """A store, with what lies in its log."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(into)) as target:
        source.backup(target)
    return into


def fill(folder: Path, people: int, first: Path) -> tuple[int, dict[str, float]]:
    """A store in `data` with everybody imported, or with copies of those in the first store and some more imported.

    How many people there are then, and the processor microseconds of the import of a profile and of a swipe.
    """
    rng, store, new = np.random.default_rng(0), folder / "data" / "kaczmatch.sqlite3", range(people)
    if first.exists():
        with closing(sqlite3.connect(first)) as database:
            (entered,) = database.execute("SELECT count(*) FROM people").fetchone()
        copy_people(copy_of(first, store), people // entered)
        new = range(people, people + FURTHER)
    people_file(folder / "people.csv", new, rng)
    swipes_file(folder / "swipes.csv", new, rng)
    taken = {
        what: 1e6 * bulk(["import", what, str(folder / file)], store.parent) / len(new)
        for what, file in (("profiles", "people.csv"), ("swipes", "swipes.csv"))
    }
    if not first.exists():
        copy_of(store, first)
    return new.stop, taken
