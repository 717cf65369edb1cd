"""Makes a SQLite store many times as large, by copying everybody in it under another id: minutes where entering them takes hours.

`p7` of 100,000 people becomes `p100007`, `p200007` and so on. Copies have the profile, the swipes and the state of those whom
they are copied from, and have swiped on copies of the same people.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from kaczmatch.service.domain.records import PARTS, part_of

PEOPLE = {  # the columns that hold numbers of people
    "people": {"id"},
    "name_suffixes": {"user"},
    "feature_snapshots": {"user"},
    "person_counters": {"user"},
    "states": {"user"},
    "events": {"user", "candidate"},
    "latest_decisions": {"user", "candidate"},
    "matches": {"user", "other"},
}
MATCHES = {("matches", "id"), ("events", "match")}
GIVEN = "number"  # by the database


def copy_people(file: Path, times: int) -> None:
    """`times` as many people as there were, none of whom may have a deck or a message yet."""
    with closing(sqlite3.connect(file)) as database:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000")
        database.execute("CREATE TEMP TABLE copies (old INTEGER PRIMARY KEY, new INTEGER, id TEXT)")
        known = database.execute("SELECT id, number FROM person_numbers ORDER BY number").fetchall()
        (given,) = database.execute("SELECT given FROM last_person_number").fetchone()
        limits = {table: database.execute(f"SELECT max({_first(table)}) FROM {table}").fetchone()[0] for table in PEOPLE}  # noqa: S608
        for turn in range(1, times):
            made = []
            for person, number in known:
                given, copy = given + 1, f"p{int(person[1:]) + turn * len(known)}"
                made.append((number, given * PARTS + part_of(copy), copy))
            database.execute("DELETE FROM copies")
            database.executemany("INSERT INTO copies VALUES (?, ?, ?)", made)
            database.execute(f"INSERT INTO person_numbers (part, id, number) SELECT new % {PARTS}, id, new FROM copies")  # noqa: S608
            for table, columns in PEOPLE.items():
                if limits[table] is not None:  # nobody has any
                    _copy(database, table, columns, limits[table], turn)
            print(f"  {(turn + 1) * len(known):,} people", flush=True)
        database.execute("UPDATE last_person_number SET given = ?", (given,))
        database.commit()
        database.execute("PRAGMA journal_mode = WAL")


def _first(table: str) -> str:
    """The column that says which rows were there at first."""
    return GIVEN if table == "events" else min(PEOPLE[table] - {"candidate", "other"})


def _copy(database: sqlite3.Connection, table: str, people: set[str], limit: int, turn: int) -> None:
    names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})") if name != GIVEN]
    sources = [
        f"of_{name}.new" if name in people else f"old.\"{name}\" || '-{turn}'" if (table, name) in MATCHES else f'old."{name}"'
        for name in names
    ]
    joins = " ".join(f'JOIN copies AS of_{name} ON of_{name}.old = old."{name}"' for name in sorted(people))
    listed = ", ".join(f'"{name}"' for name in names)
    database.execute(
        f"INSERT INTO {table} ({listed}) SELECT {', '.join(sources)} FROM {table} AS old {joins} "  # noqa: S608, made of our own names
        f"WHERE old.{_first(table)} <= {limit} ORDER BY old.{_first(table)}"
    )
