"""What is stored: one frozen dataclass per table.

`key` names the fields that identify a record. `order` names the fields by which records are listed: together they are unique, and
none is ever None. `indexes` names what records are also looked up by. A `LogRecord` is only appended, and the store numbers it. A
`SingletonRecord` is the only row of its table. Times are aware and in UTC.

A field that names a person is a `PersonId`. Databases keep the person's number in its place, which says nothing without
its row in `PersonNumber`. Where records are ordered by a person, that is the order in which people came.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Final, final

SINGLE_ROW: Final = 1  # the key of every `SingletonRecord`
NOT_STORED: Final = {"stored": False}  # of a field that a record has in memory only
PERSON: Final = "person"
PersonId = Annotated[str, PERSON]  # empty: nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row."""

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    order: ClassVar[tuple[str, ...]] = ()  # the key where it is empty
    indexes: ClassVar[tuple[tuple[str, ...], ...]] = ()
    indexed_if: ClassVar[str] = ""  # a field: only records where it is true are in the indexes; empty: all are
    bulky: ClassVar[bool] = False  # a thousand bytes or more
    personal: ClassVar[bool] = False  # says something about somebody even without their number: scrubbed after erasures
    parts: ClassVar[str] = ""  # the field by which PostgreSQL divides the table, so that a part of it is scrubbed in a moment

    @classmethod
    @final
    def listed_by(cls) -> tuple[str, ...]:
        return cls.order or cls.key

    @final
    def identity(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord(Record):
    """One line of a log."""

    order: ClassVar[tuple[str, ...]] = ("number",)

    number: int = 0  # given by the store; it rises from one line of a person to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class SingletonRecord(Record):
    """Something that there is once, and that all processes must agree on."""

    key: ClassVar[tuple[str, ...]] = ("id",)

    id: int = SINGLE_ROW


def columns(kind: type[Record]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.metadata != NOT_STORED)
