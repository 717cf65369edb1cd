"""Everybody, page by page, and people by their names, for back ends."""

from __future__ import annotations

from collections.abc import Sequence

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.display_names import folded_name, name_suffixes
from kaczmatch.service.domain.records import NameSuffix, Person
from kaczmatch.service.domain.store import Transaction


def all_people(context: Context, after: Sequence[str], limit: int) -> list[Person]:
    """In the order in which they came, from somebody on."""
    with context.store.read() as reader:
        return reader.find(Person, after=after, limit=limit)


def find_by_name(context: Context, name: str, after: Sequence[str], limit: int) -> tuple[list[Person], Sequence[str] | None]:
    """People a word of whose name begins so, and those words go on so, in the order of the alphabet.

    And the place to go on from; None: that is all.
    """
    wanted = folded_name(name)
    place, found = after or (wanted, ""), list[Person]()
    with context.store.read() as reader:
        while wanted:
            page = [one for one in reader.find(NameSuffix, after=place, limit=limit) if one.text.startswith(wanted)]
            people = reader.many(Person, [(one.user,) for one in page])
            for one in page:
                place, person = (one.text, one.user), people[one.user,]
                if one.text == min(text for text in name_suffixes(person.name) if text.startswith(wanted)):
                    found.append(person)  # once, also where several words begin so
                if len(found) == limit:
                    return found, place
            if len(page) < limit:
                break
    return found, None


def save_name(transaction: Transaction, person: Person, before: str) -> None:
    """Somebody is found by the name they have, and not by the one before."""
    if person.name != before:
        for gone in sorted(name_suffixes(before) - name_suffixes(person.name)):
            transaction.drop(NameSuffix, person.id, gone)
        for suffix in suffixes_of(person):
            transaction.put(suffix)


def suffixes_of(person: Person) -> list[NameSuffix]:
    """What somebody is found by."""
    return [NameSuffix(user=person.id, text=text) for text in sorted(name_suffixes(person.name))]
