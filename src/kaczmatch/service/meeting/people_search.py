"""Everybody, page by page, for back ends."""

from __future__ import annotations

import unicodedata
from typing import Final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person

MOST_SEARCHED: Final = 10_000  # people looked at per page of a search
_AT_ONCE = 1_000


def search_people(
    context: Context, *, begins: str = "", name: str = "", after: str = "", limit: int = 50
) -> tuple[list[Person], str | None]:
    """People in the order in which they came: those whose id begins so and whose name contains `name`.

    And the id to go on after; None: that is all. No more than so many are looked at at a time, so a page can be short, or
    empty, before the end.
    """
    part, found, last, looked = unicodedata.normalize("NFC", name).casefold(), list[Person](), after, 0
    at_once = _AT_ONCE if begins or part else limit
    with context.store.read() as reader:
        while looked < MOST_SEARCHED:
            page = reader.find(Person, after=(last,) if last else (), limit=at_once)
            for person in page:
                last = person.id
                if last.startswith(begins) and part in person.name.casefold():
                    found.append(person)
                if len(found) == limit:
                    return found, last
            if len(page) < at_once:
                return found, None
            looked += len(page)
    return found, last
