"""The tables, made from the records."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint
from sqlalchemy.types import TypeEngine

from kaczmatch.service.records import RECORDS, Logged, Record
from kaczmatch.storage.codec import codec

NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # only an INTEGER key counts by itself there
TEXT = Text().with_variant(Text(collation="C"), "postgresql")  # ordered like Python's strings, everywhere

TYPES: dict[type, TypeEngine[Any]] = {
    str: TEXT,
    int: BigInteger(),
    float: Double(),
    bool: Boolean(),
    bytes: LargeBinary(),
    datetime: BigInteger(),
    date: TEXT,
    tuple: TEXT,
}


def _table(metadata: MetaData, kind: type[Record]) -> Table:
    numbered = issubclass(kind, Logged)
    columns: list[Column[Any]] = []
    for column in codec(kind).columns:
        if numbered and column.name == "number":
            columns.append(Column("number", NUMBER, primary_key=True, autoincrement=True))
        else:
            key = not numbered and column.name in kind.key
            type_ = TYPES[column.type]
            columns.append(Column(column.name, type_, primary_key=key, nullable=column.optional, autoincrement=False))
    constraints = [UniqueConstraint(*kind.key, name=f"{kind.table}_key")] if numbered else []
    indexes = [
        Index(f"{kind.table}_{'_'.join(fields)}", *fields) for fields in kind.indexes if fields != ("number",)
    ]  # number is a key already
    return Table(kind.table, metadata, *columns, *constraints, *indexes, sqlite_autoincrement=numbered)


METADATA = MetaData()
TABLES: dict[type[Record], Table] = {kind: _table(METADATA, kind) for kind in RECORDS}
