"""The text of SQLite's statements, each for so many rows or keys."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from kaczmatch.service.domain.records import PersonNumber
from kaczmatch.storage.codec import Codec
from kaczmatch.storage.database import quoted

STATEMENTS: Final = 1_024  # kept compiled by a connection


def _marks(width: int, rows: int) -> str:
    return ", ".join([f"({', '.join('?' * width)})"] * rows)


@lru_cache(STATEMENTS)
def select(code: Codec[Any], size: int, by: tuple[str, ...] = (), only: tuple[str, ...] = (), *, counted: bool = False) -> str:
    """Keys first, each looked up by the index: what SQLite makes of `(a, b) IN (VALUES ...)` is a scan of the table."""
    key = by or code.kind.key
    places = [f"k{place}" for place in range(len(key))]
    same = " AND ".join(f't."{name}" = k.{place}' for name, place in zip(key, places, strict=True))
    names = "count(*)" if counted else ", ".join(f't."{name}"' for name in only or code.names)
    keys = f"WITH k({', '.join(places)}) AS (VALUES {_marks(len(places), size)})"
    return f'{keys} SELECT {names} FROM k CROSS JOIN "{code.kind.table}" AS t ON {same}'


@lru_cache(STATEMENTS)
def select_own(code: Codec[Any], size: int) -> str:
    """Rows of people by part and id, each after the id."""
    (key,), names = code.kind.key, ", ".join(f't."{name}"' for name in code.names)
    people = f'k CROSS JOIN "{PersonNumber.table}" AS p ON p."part" = k.part AND p."id" = k.id'
    own = f'CROSS JOIN "{code.kind.table}" AS t ON t."{key}" = p."number"'
    return f'WITH k(part, id) AS (VALUES {_marks(2, size)}) SELECT p."id", {names} FROM {people} {own}'


@lru_cache(STATEMENTS)
def delete(code: Codec[Any]) -> str:
    same = " AND ".join(f'"{name}" = ?' for name in code.kind.key)
    return f'DELETE FROM "{code.kind.table}" WHERE {same}'


@lru_cache(STATEMENTS)
def upsert(code: Codec[Any], size: int, replace: bool = True) -> str:
    names = code.names
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in names if replace and name not in code.kind.key)
    return (
        f'INSERT INTO "{code.kind.table}" ({quoted(names)}) VALUES {_marks(len(names), size)} '
        f"ON CONFLICT ({quoted(code.kind.key)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
    )


@lru_cache(STATEMENTS)
def append(code: Codec[Any], size: int) -> str:
    names = code.names[1:]
    return f'INSERT INTO "{code.kind.table}" ({quoted(names)}) VALUES {_marks(len(names), size)}'
