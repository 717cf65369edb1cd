"""Records as rows of plain database values, and back.

Times are microseconds since 1970 in UTC, dates and tuples are text (ISO, JSON). What a database could not give back as it was
is refused here, before a transaction has seen it: NUL and lone surrogates in text, NaN, naive times.

A swipe turns some fifteen records into rows or back. So the functions that do it are written out for each kind, as dataclasses
are: a value that is what it should be passes by one comparison, and only others are looked at by a function.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from operator import attrgetter, index
from types import UnionType
from typing import Any, Generic, TypeVar, final, get_args, get_origin, get_type_hints

from kaczmatch.service.domain.records import RECORDS, Record, columns

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
    return EPOCH + timedelta(0, 0, value)


def _day(value: date) -> str:
    return value.isoformat()


def _tuple(value: tuple[Any, ...]) -> str:
    return _dumps(value) if value else "[]"


@lru_cache(4_096)
def _from_tuple(value: str) -> tuple[Any, ...]:
    return () if value == "[]" else tuple(_loads(value))


@final
@dataclass(frozen=True, slots=True)
class Form:
    """How values of a type are stored."""

    encode: Coder
    odd: str = "True"  # whether a value has to go through `encode`; others are stored as they are
    decode: Coder | None = None


FORMS: dict[type, Form] = {
    str: Form(text, "type({v}) is not str or '\\0' in {v} or not {v}.isascii()"),
    int: Form(_whole, f"type({{v}}) is not int or not -{LARGEST} <= {{v}} <= {LARGEST}"),
    float: Form(_real, "type({v}) is not float or {v} != {v}"),
    bool: Form(bool, "{v} is not True and {v} is not False", bool),
    bytes: Form(_bytes, "type({v}) is not bytes"),
    datetime: Form(_moment, decode=_from_moment),
    date: Form(_day, decode=date.fromisoformat),
    tuple: Form(_tuple, decode=_from_tuple),
}


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    single = attrgetter(*names)
    return lambda record: (single(record),)


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A field as it is stored."""

    name: str
    type: type
    optional: bool

    def encode(self, value: Any) -> Any:
        """A value to compare with; None is meant as such."""
        return None if value is None else FORMS[self.type].encode(value)


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


def _encoder(columns: Sequence[Column]) -> Coder:
    """A function from a record to its row."""
    lines = ["def encode(record):"]
    for place, column in enumerate(columns):
        lines += [f" v{place} = record.{column.name}", _encoded(place, column)]
    return _made([*lines, f" return ({_places(columns)})"], "encode", _encoders(columns))


def _key_encoder(kind: type[Record], columns: Sequence[Column]) -> Coder:
    """A function from a key to how it is stored."""
    lines = ["def encode(key):", f" if len(key) != {len(columns)}: refuse(key)", f" {_places(columns)} = key"]
    lines += [_encoded(place, column) for place, column in enumerate(columns)]

    def refuse(key: tuple[Any, ...]) -> None:
        raise TypeError(f"{kind.__name__} is told apart by {', '.join(kind.key)}; {len(key)} values were given")

    return _made([*lines, f" return ({_places(columns)})"], "encode", {"refuse": refuse, **_encoders(columns)})


def _encoded(place: int, column: Column) -> str:
    odd = FORMS[column.type].odd.format(v=f"v{place}")
    some = f"v{place} is not None and " if column.optional else ""
    return f" if {some}({odd}): v{place} = f{place}(v{place})"


def _encoders(columns: Sequence[Column]) -> dict[str, Any]:
    return {f"f{place}": FORMS[column.type].encode for place, column in enumerate(columns)}


def _places(columns: Sequence[Column]) -> str:
    return "".join(f"v{place}, " for place in range(len(columns)))


def _decoder(kind: type[Record], columns: Sequence[Column]) -> Coder:
    """A function from a row to a record."""
    names: dict[str, Any] = {"kind": kind}
    values = []
    for place, column in enumerate(columns):
        value = f"v{place}"
        if decode := FORMS[column.type].decode:
            names[f"f{place}"] = decode
            value = f"f{place}({value})" + (f" if {value} is not None else None" if column.optional else "")
        values.append(f"{column.name}={value}")
    return _made(["def decode(row):", f" {_places(columns)} = row", f" return kind({', '.join(values)})"], "decode", names)


def _made(lines: Sequence[str], name: str, names: dict[str, Any]) -> Coder:
    exec("\n".join(lines), names)  # noqa: S102, made of the names of our own fields
    made: Coder = names[name]
    return made


@final
class Codec(Generic[R]):
    """Between the records of one kind and their rows."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind
        self.columns = described(kind)
        self.names = tuple(column.name for column in self.columns)
        self._by_name = dict(zip(self.names, self.columns, strict=True))
        self.row: Callable[[R], Row] = _encoder(self.columns)
        self.record: Callable[[Sequence[Any]], R] = _decoder(kind, self.columns)
        self.identity: Callable[[R], tuple[Any, ...]] = _getter(kind.key)
        self.key: Callable[[tuple[Any, ...]], Row] = _key_encoder(kind, [self._by_name[name] for name in kind.key])

    def value(self, name: str, value: Any) -> Any:
        """A value to compare a field with."""
        if name not in self._by_name:
            raise TypeError(f"{self.kind.__name__} has no field {name}")
        return self._by_name[name].encode(value)


CODECS: dict[type[Record], Codec[Any]] = {kind: Codec(kind) for kind in RECORDS}


def codec(kind: type[R]) -> Codec[R]:
    return CODECS[kind]
