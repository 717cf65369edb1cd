"""Who has which number. All tables but `PersonNumber` name people by number, so text is looked up before keys and rows are sent.

Nothing is remembered beyond a transaction: an id may get another number, and memory must name nobody who was erased.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, final

from sqlalchemy import Connection

from kaczmatch.service.domain.records import PARTS, Person, PersonNumber, Record, part_of
from kaczmatch.storage.codec import Codec, Row
from kaczmatch.storage.database import Database

R = TypeVar("R", bound=Record)

NOBODY: Final = -1  # the number of an id that has none: no row has it
MOST_KNOWN: Final = 1 << 16  # people
_BY_NUMBER: Final = ("part", "number")


@final
class PeopleByNumber:
    """What one transaction has found out. `committed`: it sees nothing else, so others may be told of it."""

    def __init__(self, database: Database, connection: Connection, *, committed: bool = False) -> None:
        self.database = database
        self.connection = connection
        self.committed = committed
        self.numbers: dict[Any, Any] = {None: None, "": 0}
        self.ids: dict[Any, Any] = {None: None, 0: ""}

    def next_question(self) -> None:
        """A reader asks again and again, and must not have everybody in memory in the end."""
        if max(len(self.numbers), len(self.ids)) > MOST_KNOWN:
            self.numbers, self.ids = {None: None, "": 0}, {None: None, 0: ""}

    def look_up(self, people: Iterable[str | None]) -> Mapping[Any, Any]:
        """The numbers of people, and of others that are known."""
        known, ids = self.numbers, self.ids
        unknown = {person: None for person in people if person and person not in known}
        if unknown:
            keys = [(part_of(person), person) for person in unknown]
            for _, person, number in self.database.fetch(self.connection, PersonNumber, keys):
                known[person], ids[number] = number, person
            for person in unknown:
                if person not in known:
                    known[person] = _number_of_nobody(person)
        return known

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        """`Reader.numbers_of`."""
        numbers = self.look_up(people)
        return {person: numbers[person] for person in people if numbers[person] > 0}

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        """`Reader.people_with`."""
        self._identify(numbers)
        return {number: self.ids[number] for number in numbers if self.ids[number] != f"~{number}"}

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        """`Reader.with_profile`. Mostly it is all of them, which takes no list."""
        keys, given = [(number,) for number in numbers], set(numbers)
        if self.database.count(self.connection, Person, keys) == len(given):
            return given
        return {number for (number,) in self.database.fetch(self.connection, Person, keys, only=Person.key)}

    def keys(self, code: Codec[Any], keys: Sequence[Row]) -> list[Row]:
        """Keys as the database has them."""
        self.look_up_keys(code, keys)
        return self.numbered_keys(code, keys)

    def look_up_keys(self, code: Codec[Any], keys: Collection[Row]) -> None:
        """Everybody who is named in keys of one kind."""
        self.look_up([key[place] for place in code.people_of_key for key in keys])

    def numbered_keys(self, code: Codec[Any], keys: Collection[Row]) -> list[Row]:
        """Keys as the database has them, whose people were looked up."""
        renumber, numbers = code.renumber_key, self.numbers
        return list(keys) if renumber is None else [renumber(key, numbers) for key in keys]

    def rows(self, code: Codec[Any], rows: Sequence[Row]) -> Sequence[Row]:
        """Rows as the database has them; everybody in them has a number."""
        renumber = code.renumber_row
        return rows if renumber is None else [renumber(row, self.numbers) for row in rows]

    def fetched(self, code: Codec[R], keys: Sequence[Row]) -> list[R]:
        """The records with these keys; those there are."""
        if len(code.kind.key) > 1 or not code.people_of_key:
            return self.records(code, self.database.fetch(self.connection, code.kind, self.keys(code, keys)))
        # Whoever is not known yet is looked up by the same statement. What stands for somebody erased has no row to look up.
        new = [person for (person,) in keys if person not in self.numbers and person[0] != "~"]
        known = keys if not new else [key for key in keys if key[0] in self.numbers or key[0][0] == "~"]
        rows: list[Sequence[Any]] = []
        if known:
            rows += self.database.fetch(self.connection, code.kind, self.keys(code, known))
        if new:
            place = code.people[0]
            for person, *row in self.database.fetch_own(self.connection, code.kind, [(part_of(one), one) for one in new]):
                self.numbers[person], self.ids[row[place]] = row[place], person
                rows.append(row)
        return self.records(code, rows)

    def records(self, code: Codec[R], rows: Sequence[Sequence[Any]]) -> list[R]:
        """Rows of the database as records. Where a number has lost its person, it stands for them itself."""
        known = self.ids
        self._identify({row[place] for place in code.people for row in rows})
        decode = code.record
        return [decode(row, known) for row in rows]

    def _identify(self, numbers: Collection[int]) -> None:
        unknown = {number for number in numbers if number not in self.ids}
        if unknown:
            self.ids.update((number, f"~{number}") for number in unknown)
            keys = [(number % PARTS, number) for number in unknown]
            for _, person, number in self.database.fetch(self.connection, PersonNumber, keys, _BY_NUMBER):
                self.numbers[person], self.ids[number] = number, person

    def give_numbers(self, people: Iterable[str | None]) -> None:
        """People about whom something is written for the first time get a number, in their order."""
        new = [person for person in people if person and self.numbers[person] == NOBODY]
        if not new:
            return
        fresh = self.database.new_numbers(self.connection, len(new))
        rows = [(part_of(person), person, number * PARTS + part_of(person)) for person, number in zip(new, fresh, strict=True)]
        self.database.upsert(self.connection, PersonNumber, sorted(rows), replace=False)
        for person in new:
            del self.numbers[person]
        self.look_up(new)  # another process may have been first

    def forget(self, keys: Iterable[Row]) -> None:
        """People whose numbers were dropped."""
        for _, person in keys:
            self.ids.pop(self.numbers.pop(person, NOBODY), None)
            self.numbers[person] = NOBODY


def _number_of_nobody(person: str) -> int:
    """Of an id that has no number: the one that it stands for (see `records`), if it does."""
    return int(person[1:]) if person[0] == "~" and person[1:].isdecimal() else NOBODY
