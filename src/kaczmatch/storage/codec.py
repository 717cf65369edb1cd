"""Records as rows of plain database values, and back.

Times are microseconds since 1970 in UTC, dates and tuples are text (ISO, JSON). People are text in a row, and `people.py` puts
their numbers there. What a database could not give back as it was is refused here, before a transaction has seen it: NUL and lone
surrogates in text, NaN, naive times.

A swipe turns some fifteen records into rows or back. So the functions that do it are generated for each kind of record, as
dataclasses do: a value that is what it should be passes by one comparison, and only others go through a function. Measured for
events, counters and decisions: one function per column takes 2 to 4 times as long to encode and 1.2 to 2 times as long to decode;
msgspec, which leaves times as they are and checks less, takes 1.2 to 1.8 times as long to encode and 0.7 to 1.2 times to decode;
cattrs takes 1.3 to 1.8 and 2 to 2.3 times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter, index
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, final, get_args, get_origin, get_type_hints

from kaczmatch.core.moments import EPOCH
from kaczmatch.service.domain.records import PERSON, RECORDS, Record, columns

R = TypeVar("R", bound=Record)

Row = tuple[Any, ...]
Convert = Callable[[Any], Any]

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


def _choice(kind: type[StrEnum]) -> ColumnForm:
    """Text that is one of a few; a plain string with such a value will do."""
    values = {member.value: member.value for member in kind}
    members = {member.value: member for member in kind}

    def encode(value: Any) -> str:
        if value not in values:
            raise ValueError(f"{kind.__name__} is one of {', '.join(values)}")
        return values[value]

    return ColumnForm(encode, decode=members.__getitem__)


@final
@dataclass(frozen=True, slots=True)
class ColumnForm:
    """How values of a type become database values, and back."""

    encode: Convert
    needs_encoding: str = "True"  # an expression over {v}; where it is false, the value is stored as it is
    decode: Convert | None = None


FORMS: dict[type, ColumnForm] = {
    str: ColumnForm(text, "type({v}) is not str or '\\0' in {v} or not {v}.isascii()"),
    int: ColumnForm(_whole, f"type({{v}}) is not int or not -{LARGEST} <= {{v}} <= {LARGEST}"),
    float: ColumnForm(_real, "type({v}) is not float or {v} != {v}"),
    bool: ColumnForm(bool, "{v} is not True and {v} is not False", bool),
    bytes: ColumnForm(_bytes, "type({v}) is not bytes"),
    datetime: ColumnForm(_moment, decode=_from_moment),
    date: ColumnForm(_day, decode=date.fromisoformat),
    tuple: ColumnForm(_tuple, decode=_from_tuple),
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
    type: type  # of what the database keeps
    optional: bool
    form: ColumnForm
    person: bool = False  # whether it names one: text here, a number in the database

    def encode(self, value: Any) -> Any:
        """A value to compare with; None is meant as such."""
        return None if value is None else self.form.encode(value)


def columns_of(kind: type[Record]) -> tuple[Column, ...]:
    """The columns of a kind, from its annotations."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for name in columns(kind):
        hint = hints[name]
        optional = get_origin(hint) in (Union, UnionType)
        if optional:
            (hint,) = (part for part in get_args(hint) if part is not type(None))
        if get_origin(hint) is Annotated and PERSON in hint.__metadata__:
            found.append(Column(name, int, optional, FORMS[str], person=True))
        elif isinstance(hint, type) and issubclass(hint, StrEnum):
            found.append(Column(name, str, optional, _choice(hint)))
        else:
            plain = get_origin(hint) or hint
            found.append(Column(name, plain, optional, FORMS[plain]))
    return tuple(found)


def _encoder(columns: Sequence[Column]) -> Convert:
    """A function from a record to its row."""
    lines = ["def encode(record):"]
    for place, column in enumerate(columns):
        lines += [f" v{place} = record.{column.name}", _encoded(place, column)]
    return _compiled([*lines, f" return ({_places(columns)})"], "encode", _encoders(columns))


def _key_encoder(kind: type[Record], columns: Sequence[Column]) -> Convert:
    """A function from a key to how it is stored."""
    lines = ["def encode(key):", f" if len(key) != {len(columns)}: refuse(key)", f" {_places(columns)} = key"]
    lines += [_encoded(place, column) for place, column in enumerate(columns)]

    def refuse(key: tuple[Any, ...]) -> None:
        raise TypeError(f"{kind.__name__} is identified by {', '.join(kind.key)}; {len(key)} values were given")

    return _compiled([*lines, f" return ({_places(columns)})"], "encode", {"refuse": refuse, **_encoders(columns)})


def _renumbering(columns: Sequence[Column]) -> Callable[[Row, Mapping[Any, Any]], Row] | None:
    """A function from values in which people are text to values in which they are numbers; None: nobody is named."""
    if not any(column.person for column in columns):
        return None
    values = "".join(f"of[v{place}], " if column.person else f"v{place}, " for place, column in enumerate(columns))
    return _compiled(["def renumber(row, of):", f" {_places(columns)} = row", f" return ({values})"], "renumber", {})


def _encoded(place: int, column: Column) -> str:
    odd = column.form.needs_encoding.format(v=f"v{place}")
    some = f"v{place} is not None and " if column.optional else ""
    return f" if {some}({odd}): v{place} = f{place}(v{place})"


def _encoders(columns: Sequence[Column]) -> dict[str, Any]:
    return {f"f{place}": column.form.encode for place, column in enumerate(columns)}


def _places(columns: Sequence[Column]) -> str:
    return "".join(f"v{place}, " for place in range(len(columns)))


def _decoder(kind: type[Record], columns: Sequence[Column]) -> Callable[..., Any]:
    """A function from a row, and from who has which number, to a record. It fills slots: `__init__` would take twice as long."""
    names: dict[str, Any] = {"kind": kind, "new": object.__new__}
    lines = ["def decode(row, ids):", f" {_places(columns)} = row", " record = new(kind)"]
    for place, column in enumerate(columns):
        value = f"v{place}"
        if column.person:
            value = f"ids[{value}]"
        elif decode := column.form.decode:
            names[f"f{place}"] = decode
            value = f"f{place}({value})" + (f" if {value} is not None else None" if column.optional else "")
        names[f"s{place}"] = getattr(kind, column.name).__set__
        lines.append(f" s{place}(record, {value})")
    stored = {column.name for column in columns}
    for field in fields(kind):
        if field.name not in stored:
            names |= {f"d_{field.name}": field.default, f"s_{field.name}": getattr(kind, field.name).__set__}
            lines.append(f" s_{field.name}(record, d_{field.name})")
    return _compiled([*lines, " return record"], "decode", names)


def _compiled(lines: Sequence[str], name: str, names: dict[str, Any]) -> Callable[..., Any]:
    exec("\n".join(lines), names)  # noqa: S102, made of the names of our own fields
    return names[name]  # type: ignore[no-any-return]


@final
class Codec(Generic[R]):
    """Between the records of one kind and their rows."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind
        self.columns = columns_of(kind)
        self.names = tuple(column.name for column in self.columns)
        self._by_name = dict(zip(self.names, self.columns, strict=True))
        of_key = [self._by_name[name] for name in kind.key]
        self.row: Callable[[R], Row] = _encoder(self.columns)
        self.record: Callable[[Sequence[Any], Mapping[Any, Any]], R] = _decoder(kind, self.columns)
        self.identity: Callable[[R], tuple[Any, ...]] = _getter(kind.key)
        self.key: Callable[[tuple[Any, ...]], Row] = _key_encoder(kind, of_key)
        self.not_stored = {field.name: field.default for field in fields(kind) if field.name not in self.names}
        self.people = tuple(place for place, column in enumerate(self.columns) if column.person)
        self.people_of_key = tuple(place for place, column in enumerate(of_key) if column.person)
        self.renumber_row = _renumbering(self.columns)
        self.renumber_key = _renumbering(of_key)

    def value(self, name: str, value: Any) -> Any:
        """A value to compare a field with; a person as text."""
        return self.column(name).encode(value)

    def column(self, name: str) -> Column:
        if name not in self._by_name:
            raise TypeError(f"{self.kind.__name__} has no field {name}")
        return self._by_name[name]


CODECS: dict[type[Record], Codec[Any]] = {kind: Codec(kind) for kind in RECORDS}


def codec(kind: type[R]) -> Codec[R]:
    return CODECS[kind]
