"""The tables, made from the records."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from kaczmatch.service.domain.records import RECORDS, LogRecord, Record
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
    numbered = issubclass(kind, LogRecord)
    columns: list[Column[Any]] = []
    for column in codec(kind).columns:
        if numbered and column.name == "number":
            columns.append(Column("number", NUMBER, primary_key=True, autoincrement=True))
        elif not numbered and column.name in kind.key:
            columns.append(Column(column.name, TYPES[column.type], primary_key=True, autoincrement=False))
        else:
            columns.append(Column(column.name, TYPES[column.type], nullable=column.optional))
    constraints = [UniqueConstraint(*kind.key, name=f"{kind.table}_key")] if numbered else []
    where = text(f'"{kind.indexed_if}"') if kind.indexed_if else None
    indexes = [
        Index(f"{kind.table}_{'_'.join(names)}", *names, sqlite_where=where, postgresql_where=where)
        for names in kind.indexes
        if names != ("number",)
    ]
    # A number is never given twice. Small rows lie in the order of their keys, so that finding one finds it whole.
    options: dict[str, Any] = {"sqlite_autoincrement": True} if numbered else {"sqlite_with_rowid": kind.bulky}
    if kind.parts:
        options["postgresql_partition_by"] = f'HASH ("{kind.parts}")'
    items: list[SchemaItem] = [*columns, *constraints, *indexes]
    return Table(kind.table, metadata, *items, **options)


METADATA = MetaData()
TABLES: dict[type[Record], Table] = {kind: _table(METADATA, kind) for kind in RECORDS}
