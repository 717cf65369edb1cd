"""Capacity: how many open matches a person takes at a time. Who has that many leaves decks, and returns when one ends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kaczmatch.recommend.people.schema import Schema
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Change, Person, PersonCounters
from kaczmatch.service.domain.refusals import Full
from kaczmatch.service.domain.store import Reader, Transaction


def capacity_of(person: Person, schema: Schema) -> int | None:
    """Their own, or that of their kinds; None: any number."""
    usual = schema.usual_capacity(person.i_am) if schema.capacity and person.capacity is None else None
    return usual if person.capacity is None else person.capacity


def is_full(reader: Reader, person: Person, schema: Schema) -> bool:
    most = capacity_of(person, schema)
    if most is None:
        return False
    counters = reader.get(PersonCounters, person.id)
    return counters is not None and counters.open_matches >= most


def check_not_full(reader: Reader, me: Person, them: Person, schema: Schema) -> None:
    """Who can take no match can neither like nor be liked, whether or not the other side likes them already."""
    if is_full(reader, me, schema):
        raise Full(f"{me.id!r} has as many open matches as they take; end one first")
    if is_full(reader, them, schema):
        raise Full(f"{them.id!r} has as many open matches as they take, and returns to decks when one ends")


def without_full(reader: Reader, people: Collection[Person], schema: Schema) -> list[Person]:
    """Those of them who take one more match."""
    limits = {person.id: most for person in people if (most := capacity_of(person, schema)) is not None}
    counters = reader.many(PersonCounters, [(user,) for user in limits]) if limits else {}
    full = {user for (user,), one in counters.items() if one.open_matches >= limits[user]}
    return [person for person in people if person.id not in full]


def count_match(transaction: Transaction, context: Context, user: str, change: int) -> None:
    """One match more (1) or less (-1). Where that can move somebody out of decks or back, every process looks again."""
    person, counters = transaction.get(Person, user), transaction.get(PersonCounters, user)
    if person is None or counters is None:
        return  # erased: whoever cleans up counts again
    transaction.put(replace(counters, open_matches=counters.open_matches + change))
    if capacity_of(person, context.config.schema) is not None:
        transaction.append(Change(id=context.new_id(), user=user, at=context.clock()))
