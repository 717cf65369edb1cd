"""What is stored: one frozen dataclass a table.

`key` names the fields that tell two records apart, `order` the ones they are listed by (the last of them tells apart what the
others do not; none is ever None), `indexes` what they are also looked up by. A `Logged` record is only ever appended; the store
numbers it. Times are aware and in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, final


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row."""

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]
    order: ClassVar[tuple[str, ...]] = ()  # the key where it is empty
    indexes: ClassVar[tuple[tuple[str, ...], ...]] = ()
    bulky: ClassVar[bool] = False  # a thousand bytes or more

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

    number: int = 0  # given by the store, rising within each person's lines


def columns(kind: type[Record]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
