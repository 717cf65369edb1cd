"""Records as rows of plain database values, and back.

Times are microseconds since 1970 in UTC, dates and tuples are text (ISO, JSON). What a database could not give back as it was
is refused here, before a transaction has seen it: NUL and lone surrogates in text, NaN, naive times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter, index
from types import UnionType
from typing import Any, Generic, TypeVar, final, get_args, get_origin, get_type_hints

from kaczmatch.service.records import RECORDS, Record, columns

R = TypeVar("R", bound=Record)

Row = tuple[Any, ...]
Coder = Callable[[Any], Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST = 2**63 - 1

_dumps = json.JSONEncoder(separators=(",", ":")).encode
_loads = json.JSONDecoder().decode


def text(value: str) -> str:
    if type(value) is not str:
        if not isinstance(value, str):
            raise TypeError(f"text is needed, not {type(value).__name__}")
        value = str.__str__(value)
    if "\0" in value:
        raise ValueError("text with a NUL character cannot be stored")
    if not value.isascii():
        value.encode()  # a lone surrogate is an error
    return value


def _whole(value: Any) -> int:
    number = index(value)
    if not -LARGEST <= number <= LARGEST:
        raise ValueError("a number beyond 64 bits cannot be stored")
    return number


def _real(value: Any) -> float:
    number = float(value)
    if number != number:
        raise ValueError("NaN cannot be stored")
    return number


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"bytes are needed, not {type(value).__name__}")
    return value


def _moment(value: datetime) -> int:
    since = value - EPOCH  # a naive time is an error
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _from_moment(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


def _day(value: date) -> str:
    return value.isoformat()


def _tuple(value: tuple[Any, ...]) -> str:
    return _dumps(value) if value else "[]"


def _from_tuple(value: str) -> tuple[Any, ...]:
    return () if value == "[]" else tuple(_loads(value))


CODERS: dict[type, tuple[Coder, Coder | None]] = {
    str: (text, None),
    int: (_whole, None),
    float: (_real, None),
    bool: (bool, bool),
    bytes: (_bytes, None),
    datetime: (_moment, _from_moment),
    date: (_day, date.fromisoformat),
    tuple: (_tuple, _from_tuple),
}


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    single = attrgetter(*names)
    return lambda record: (single(record),)


def _optional(coder: Coder) -> Coder:
    return lambda value: None if value is None else coder(value)


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A field as it is stored."""

    name: str
    type: type
    optional: bool

    def encoder(self) -> Coder:
        coder = CODERS[self.type][0]
        return _optional(coder) if self.optional else coder

    def decoder(self) -> Coder | None:
        coder = CODERS[self.type][1]
        return _optional(coder) if coder and self.optional else coder


def described(kind: type[Record]) -> tuple[Column, ...]:
    """The columns of a kind, from its annotations."""
    hints = get_type_hints(kind)
    found = []
    for name in columns(kind):
        hint = hints[name]
        optional = isinstance(hint, UnionType)
        if optional:
            (hint,) = (part for part in get_args(hint) if part is not type(None))
        found.append(Column(name, get_origin(hint) or hint, optional))
    return tuple(found)


@final
class Codec(Generic[R]):
    """Between the records of one kind and their rows."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind
        self.columns = described(kind)
        self.names = tuple(column.name for column in self.columns)
        self._encoders = [column.encoder() for column in self.columns]
        self._decoders = [(place, coder) for place, column in enumerate(self.columns) if (coder := column.decoder())]
        self._by_name = dict(zip(self.names, self._encoders, strict=True))
        self._key_coders = tuple(self._by_name[name] for name in kind.key)
        self._values = attrgetter(*self.names)
        self.identity: Callable[[R], tuple[Any, ...]] = _getter(kind.key)

    def row(self, record: R) -> Row:
        """What is stored of a record, in the order of `names`."""
        return tuple([coder(value) for coder, value in zip(self._encoders, self._values(record), strict=True)])

    def record(self, row: Sequence[Any]) -> R:
        values = list(row)
        for place, coder in self._decoders:
            values[place] = coder(values[place])
        return self.kind(**dict(zip(self.names, values, strict=True)))

    def value(self, name: str, value: Any) -> Any:
        """A value to compare a column with; None is meant as such."""
        if name not in self._by_name:
            raise TypeError(f"{self.kind.__name__} has no field {name}")
        return None if value is None else self._by_name[name](value)

    def key(self, key: tuple[Any, ...]) -> Row:
        if len(key) != len(self._key_coders):
            raise TypeError(f"{self.kind.__name__} is told apart by {', '.join(self.kind.key)}; {len(key)} values were given")
        return tuple([coder(value) for coder, value in zip(self._key_coders, key, strict=True)])


CODECS: dict[type[Record], Codec[Any]] = {kind: Codec(kind) for kind in RECORDS}


def codec(kind: type[R]) -> Codec[R]:
    return CODECS[kind]
