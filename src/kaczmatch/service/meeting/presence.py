"""Who has been there of late: people who are away are in no deck, until they ask for something again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, timedelta

from kaczmatch.service.domain.capacity import without_full
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Change, Person
from kaczmatch.service.domain.store import Reader, Transaction


def today(context: Context) -> date:
    return context.clock().astimezone(UTC).date()


def note_presence(transaction: Transaction, context: Context, person: Person) -> None:
    """Somebody has asked for something: written at most once a day. Whoever was away is in decks again."""
    day = today(context)
    if person.seen < day:
        transaction.put(replace(person, seen=day))
        if person.away(context.config.away_days, day):
            transaction.append(Change(id=context.new_id(), user=person.id, at=context.clock()))


def in_decks(reader: Reader, people: Iterable[Person], context: Context) -> list[Person]:
    """Those who are neither paused nor away, and take one more match."""
    days, day = context.config.away_days, today(context)
    there = [person for person in people if not person.paused and not person.away(days, day)]
    return without_full(reader, there, context.config.schema)


def newly_away(reader: Reader, context: Context, since: date) -> list[str]:
    """Who has been away for too long today, and had not on that day. A process takes them out of its memory."""
    days = context.config.away_days
    if days is None:
        return []
    last_seen = [since + timedelta(days=passed - days) for passed in range((today(context) - since).days)]
    return [person.id for day in last_seen for person in reader.find(Person, seen=day)]
