"""Searches: records by the values of their fields, in their order, from a place on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, TypeVar

from kaczmatch.service.domain.records import PARTS, ErasedId, Person, PersonNumber, Record
from kaczmatch.storage.codec import LARGEST, Codec, codec, text
from kaczmatch.storage.database import execute, quoted, rows_of
from kaczmatch.storage.people import NOBODY, PeopleByNumber

R = TypeVar("R", bound=Record)

SEARCHES: Final = 512


@lru_cache(SEARCHES)
def _search(
    code: Codec[Any],
    chosen: tuple[str, ...],
    placeholder: str,
    equal: tuple[str, ...],
    after: int,
    beyond: str,
    newest: bool,
    limited: bool,
    skipping: bool,
) -> str:
    """The text of a search; `equal` are conditions. `chosen`: only these fields, with ids."""
    kind = code.kind
    order = kind.listed_by()
    conditions = [*equal]
    if after:
        conditions.append(f"({quoted(order[:after])}) {beyond} ({', '.join([placeholder] * after)})")
    direction = " DESC" if newest else ""
    return (
        f'SELECT {_columns(code, chosen) if chosen else quoted(code.names)} FROM "{kind.table}"'
        + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
        + " ORDER BY "
        + ", ".join(f'"{name}"{direction}' for name in order)
        + (f" LIMIT {placeholder}" if limited else "")
        + (f" OFFSET {placeholder}" if skipping else "")
    )


def _columns(code: Codec[Any], names: Sequence[str]) -> str:
    """The database looks people up itself: to ask it for whole records, and then for who has which number, takes far longer."""
    found = []
    for name in names:
        number = f'"{code.kind.table}"."{name}"'
        place = f'p."part" = ({number} & {PARTS - 1}) AND p."number" = {number}'
        person = f'(SELECT p."id" FROM "{PersonNumber.table}" AS p WHERE {place})'
        nobody = f"CASE {number} WHEN 0 THEN '' ELSE '~' || {number} END"
        found.append(f"COALESCE({person}, {nobody})" if code.column(name).person else number)
    return ", ".join(found)


@lru_cache(SEARCHES)
def _named_with(fields: tuple[tuple[type[Record], str, str], ...], placeholder: str) -> str:
    return " UNION ALL ".join(
        f'SELECT {_columns(codec(kind), (other,))} FROM "{kind.table}" WHERE "{own}" = {placeholder}'
        for kind, own, other in fields
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
    found = people.records(code, _rows(people, code, (), after, newest, skip, limit, equal))
    if limit is not None and found:
        _remember_place(people, code, {name: getattr(found[-1], name) for name in kind.listed_by()})
    return found


def values(
    people: PeopleByNumber,
    kind: type[Record],
    names: tuple[str, ...],
    *,
    after: Sequence[Any],
    newest: bool,
    limit: int | None,
    equal: dict[str, Any],
) -> list[tuple[Any, ...]]:
    """`Snapshot.values`. Where a page ended is known only of records that are listed by what is asked for."""
    code = codec(kind)
    rows = _rows(people, code, names, after, newest, 0, limit, equal)
    if not rows:
        return []
    if limit is not None and kind.listed_by() == names:
        _remember_place(people, code, dict(zip(names, rows[-1], strict=True)))
    decoders = [None if code.column(name).person else code.column(name).form.decode for name in names]
    columns = [
        column if decode is None else [None if value is None else decode(value) for value in column]
        for decode, column in zip(decoders, zip(*rows, strict=True), strict=True)
    ]
    return list(zip(*columns, strict=True))


def _rows(
    people: PeopleByNumber,
    code: Codec[Any],
    chosen: tuple[str, ...],
    after: Sequence[Any],
    newest: bool,
    skip: int,
    limit: int | None,
    equal: dict[str, Any],
) -> Sequence[Sequence[Any]]:
    kind = code.kind
    conditions, compared_with = _compared(people, code, equal)
    check_place(kind, after)
    start, whole = _start(people, code, after)
    if skip and limit is None:
        limit = LARGEST  # SQLite skips only where there is a limit
    compared_with += [*start, *([] if limit is None else [limit]), *([skip] if skip else [])]
    beyond = ("<" if newest else ">") + ("" if whole else "=")
    limited, skipping = limit is not None, skip > 0
    statement = _search(code, chosen, people.database.placeholder, conditions, len(start), beyond, newest, limited, skipping)
    return rows_of(people.connection, statement, compared_with)


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


def named_with(people: PeopleByNumber, person: str, fields: tuple[tuple[type[Record], str, str], ...]) -> frozenset[str]:
    """`Snapshot.named_with`."""
    number = people.look_up([text(person)])[person]
    rows = rows_of(people.connection, _named_with(fields, people.database.placeholder), [number] * len(fields))
    return frozenset(other for (other,) in rows)


def delete_through(people: PeopleByNumber, kind: type[Record], last: Sequence[Any]) -> None:
    """`Transaction.drop_through`. If the person at the place was erased meanwhile, nobody knows the place: nothing goes."""
    values, whole = _start(people, codec(kind), last)
    if whole:
        names, places = quoted(kind.listed_by()[: len(values)]), ", ".join([people.database.placeholder] * len(values))
        execute(people.connection, f'DELETE FROM "{kind.table}" WHERE ({names}) <= ({places})', tuple(values))


def check_place(kind: type[Record], place: Sequence[Any]) -> None:
    order = kind.listed_by()
    if len(place) > len(order):
        raise TypeError(f"{kind.__name__} is listed by {', '.join(order)}; {len(place)} values were given")
    for name, value in zip(order, place, strict=False):
        codec(kind).value(name, value)


def count(people: PeopleByNumber, kind: type[Record], equal: dict[str, Any], *, of_nobody: bool = False) -> int:
    """`Reader.count` and `Snapshot.count_of_nobody`."""
    conditions, compared_with = _compared(people, codec(kind), equal)
    if of_nobody:
        conditions = (*conditions, f'NOT EXISTS (SELECT 1 FROM "{Person.table}" AS p WHERE p."id" = "{kind.table}"."user")')
    statement = f'SELECT count(*) FROM "{kind.table}"' + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    return int(rows_of(people.connection, statement, compared_with)[0][0])


def _compared(people: PeopleByNumber, code: Codec[Any], equal: dict[str, Any]) -> tuple[tuple[str, ...], list[Any]]:
    """Conditions, and the values that they leave open. Truth is written out: by a value, no `indexed_if` would be found."""
    fields = {name: code.value(name, value) for name, value in equal.items()}
    numbers = people.look_up([value for name, value in fields.items() if code.column(name).person and value is not None])
    conditions, values = list[str](), list[Any]()
    for name, value in fields.items():
        if value is None:
            conditions.append(f'"{name}" IS NULL')
        elif isinstance(value, bool):
            conditions.append(f'"{name}"' if value else f'NOT "{name}"')
        else:
            conditions.append(f'"{name}" = {people.database.placeholder}')
            values.append(numbers[value] if code.column(name).person else value)
    return tuple(conditions), values


def _start(people: PeopleByNumber, code: Codec[Any], after: Sequence[Any]) -> tuple[list[Any], bool]:
    """The values after which a search starts, and whether those are all of `after`.

    Somebody whom a page ended with may have been erased since, and what tells of it has another number. If this process made the
    page, it knows their place. Otherwise the search starts with the records that share the values before: some may come again,
    and none is left out.
    """
    start: list[Any] = []
    for name, value in zip(code.kind.listed_by(), after, strict=False):
        plain = code.value(name, value)
        if code.column(name).person:
            known = people.database.places.get(hash(plain), NOBODY)
            number = people.look_up([plain])[plain] if known == NOBODY else known
            if number == NOBODY or (plain and known == NOBODY and _was_erased(people, number)):
                return start, False
            plain = number
        start.append(plain)
    return start, True


def _was_erased(people: PeopleByNumber, number: int) -> bool:
    return bool(people.database.fetch(people.connection, ErasedId, [(number,)]))


def _remember_place(people: PeopleByNumber, code: Codec[Any], last: Mapping[str, Any]) -> None:
    """A number that a work has given may be taken back, and be given to somebody else."""
    for name in code.kind.listed_by():
        if people.committed and code.column(name).person:
            people.database.places.put(hash(last[name]), people.look_up([last[name]])[last[name]])
