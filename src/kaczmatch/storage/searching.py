"""Searches: records by the values of their fields, in their order, from a place on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, TypeVar

from kaczmatch.service.domain.records import Record
from kaczmatch.storage.codec import LARGEST, Codec, codec
from kaczmatch.storage.database import quoted, rows_of
from kaczmatch.storage.people import NOBODY, PeopleByNumber

R = TypeVar("R", bound=Record)

SEARCHES: Final = 512


@lru_cache(SEARCHES)
def _search(
    code: Codec[Any],
    placeholder: str,
    equal: tuple[tuple[str, bool], ...],
    after: int,
    beyond: str,
    newest: bool,
    limited: bool,
    skipping: bool,
) -> str:
    """The text of a search; `equal` are names, and whether they are to be null."""
    kind = code.kind
    order = kind.listed_by()
    conditions = [f'"{name}" IS NULL' if null else f'"{name}" = {placeholder}' for name, null in equal]
    if after:
        conditions.append(f"({quoted(order[:after])}) {beyond} ({', '.join([placeholder] * after)})")
    direction = " DESC" if newest else ""
    return (
        f'SELECT {quoted(code.names)} FROM "{kind.table}"'
        + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
        + " ORDER BY "
        + ", ".join(f'"{name}"{direction}' for name in order)
        + (f" LIMIT {placeholder}" if limited else "")
        + (f" OFFSET {placeholder}" if skipping else "")
    )


def search(
    people: PeopleByNumber,
    kind: type[R],
    *,
    after: Sequence[Any],
    newest: bool,
    skip: int,
    limit: int | None,
    equal: dict[str, Any],
) -> list[R]:
    """`Reader.find`."""
    code = codec(kind)
    compared = _compared(people, code, equal)
    values = [value for _, value in compared if value is not None]
    check_place(kind, after)
    start, whole = _start(people, code, after)
    if skip and limit is None:
        limit = LARGEST  # SQLite skips only where there is a limit
    values += [*start, *([] if limit is None else [limit]), *([skip] if skip else [])]
    nulls = tuple((name, value is None) for name, value in compared)
    beyond = ("<" if newest else ">") + ("" if whole else "=")
    statement = _search(code, people.database.placeholder, nulls, len(start), beyond, newest, limit is not None, skip > 0)
    found = people.records(code, rows_of(people.connection, statement, values))
    if limit is not None and found:
        _remember_place(people, code, found[-1])
    return found


def search_people(people: PeopleByNumber, kind: type[R], field: str, wanted: Collection[str]) -> dict[str, list[R]]:
    """`Reader.of_people`."""
    code = codec(kind)
    numbers = people.look_up(wanted)
    keys = [(numbers[person],) for person in wanted if numbers[person] != NOBODY]
    order = [code.names.index(name) for name in kind.listed_by()]
    rows = sorted(people.database.fetch(people.connection, kind, keys, (field,)), key=itemgetter(*order))
    found: dict[str, list[R]] = {person: [] for person in wanted}
    for record in people.records(code, rows):
        found[getattr(record, field)].append(record)
    return found


def delete_through(people: PeopleByNumber, kind: type[Record], last: Sequence[Any]) -> None:
    """`Transaction.drop_through`. If the person at the place was erased meanwhile, nobody knows the place: nothing goes."""
    values, whole = _start(people, codec(kind), last)
    if whole:
        names, places = quoted(kind.listed_by()[: len(values)]), ", ".join([people.database.placeholder] * len(values))
        people.connection.exec_driver_sql(f'DELETE FROM "{kind.table}" WHERE ({names}) <= ({places})', tuple(values))


def check_place(kind: type[Record], place: Sequence[Any]) -> None:
    order = kind.listed_by()
    if len(place) > len(order):
        raise TypeError(f"{kind.__name__} is listed by {', '.join(order)}; {len(place)} values were given")
    for name, value in zip(order, place, strict=False):
        codec(kind).value(name, value)


def count(people: PeopleByNumber, kind: type[Record], equal: dict[str, Any]) -> int:
    """`Reader.count`."""
    compared = _compared(people, codec(kind), equal)
    conditions = " AND ".join(
        f'"{name}" IS NULL' if value is None else f'"{name}" = {people.database.placeholder}' for name, value in compared
    )
    statement = f'SELECT count(*) FROM "{kind.table}"' + (f" WHERE {conditions}" if conditions else "")
    return int(rows_of(people.connection, statement, [value for _, value in compared if value is not None])[0][0])


def _compared(people: PeopleByNumber, code: Codec[Any], equal: dict[str, Any]) -> list[tuple[str, Any]]:
    compared = [(name, code.value(name, value)) for name, value in equal.items()]
    numbers = people.look_up([value for name, value in compared if code.column(name).person and value is not None])
    return [(name, numbers[value] if code.column(name).person else value) for name, value in compared]


def _start(people: PeopleByNumber, code: Codec[Any], after: Sequence[Any]) -> tuple[list[Any], bool]:
    """The values after which a search starts, and whether those are all of `after`.

    Somebody whom a page ended with may have been erased since. If this process made the page, it knows their place. Otherwise the
    search starts with the records that share the values before: some may come again, and none is left out.
    """
    start: list[Any] = []
    for name, value in zip(code.kind.listed_by(), after, strict=False):
        plain = code.value(name, value)
        if code.column(name).person:
            number = people.look_up([plain])[plain]
            plain = people.database.places.get(hash(plain), NOBODY) if number == NOBODY else number
            if plain == NOBODY:
                return start, False
        start.append(plain)
    return start, True


def _remember_place(people: PeopleByNumber, code: Codec[R], last: R) -> None:
    for name in code.kind.listed_by():
        if code.column(name).person:
            person = getattr(last, name)
            people.database.places.put(hash(person), people.numbers.get(person, NOBODY))
