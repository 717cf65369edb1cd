"""The text of PostgreSQL's statements. Rows and keys travel as one array per column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy.dialects import postgresql

from kaczmatch.service.domain.records import PersonNumber
from kaczmatch.storage.codec import Codec, codec
from kaczmatch.storage.database import quoted
from kaczmatch.storage.schema import TABLES


@cache
def _types(code: Codec[Any]) -> dict[str, str]:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    return {column.name: column.type.compile(dialect).partition(" COLLATE")[0] for column in TABLES[code.kind].columns}


def _arrays(code: Codec[Any], names: Sequence[str]) -> str:
    """One array per column. Bytes travel as they are, everything else as text."""
    types = _types(code)
    return ", ".join(f"{'%b' if types[name] == 'BYTEA' else '%s'}::{types[name]}[]" for name in names)


@cache
def among(code: Codec[Any]) -> str:
    return f"({quoted(code.kind.key)}) IN (SELECT * FROM unnest({_arrays(code, code.kind.key)}))"


@cache
def select(code: Codec[Any], by: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> str:
    """Keys first, each looked up by the index: the fence (OFFSET 0) leaves the server no other way."""
    key = by or code.kind.key
    places = [f"k{place}" for place in range(len(key))]
    same = " AND ".join(f'"{name}" = k.{place}' for name, place in zip(key, places, strict=True))
    return (
        f"SELECT t.* FROM unnest({_arrays(code, key)}) AS k({', '.join(places)}) CROSS JOIN LATERAL "
        f'(SELECT {quoted(only or code.names)} FROM "{code.kind.table}" WHERE {same} OFFSET 0) AS t'
    )


@cache
def select_own(code: Codec[Any]) -> str:
    """Rows of people by part and id, each after the id."""
    (key,), numbers = code.kind.key, codec(PersonNumber)
    return (
        f'SELECT p."id", t.* FROM unnest({_arrays(numbers, numbers.kind.key)}) AS k(k0, k1) CROSS JOIN LATERAL '
        f'(SELECT "id", "number" FROM "{numbers.kind.table}" WHERE "part" = k.k0 AND "id" = k.k1 OFFSET 0) AS p '
        f'CROSS JOIN LATERAL (SELECT {quoted(code.names)} FROM "{code.kind.table}" WHERE "{key}" = p."number" OFFSET 0) AS t'
    )


@cache
def counted(code: Codec[Any]) -> str:
    """How many rows there are with some keys."""
    return f"SELECT count(*) FROM ({select(code, only=code.kind.key)}) AS found"


@cache
def upsert(code: Codec[Any], replace: bool = True) -> str:
    names = code.names
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in names if replace and name not in code.kind.key)
    return (
        f'INSERT INTO "{code.kind.table}" ({quoted(names)}) SELECT * FROM unnest({_arrays(code, names)}) '
        f"ON CONFLICT ({quoted(code.kind.key)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
    )


@cache
def append(code: Codec[Any]) -> str:
    names = code.names[1:]
    return f'INSERT INTO "{code.kind.table}" ({quoted(names)}) SELECT * FROM unnest({_arrays(code, names)})'
