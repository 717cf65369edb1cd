"""Whether every state equals the replay of its person's events, and every match has two sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.learners.state import StoredState
from kaczmatch.service.context import Context
from kaczmatch.service.decks import kept_apart
from kaczmatch.service.folding import LIKE
from kaczmatch.service.records import Event, Learned, Match, Pair, Person
from kaczmatch.service.store import Reader

_AT_ONCE = 500
_CLOSE = 1e-9  # another CPU or build may round differently


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """How many were looked at, and what is wrong, a line each."""

    people: int
    events: int
    identical: int  # states that equal their replay bit for bit
    close: int  # states that differ in the last bits only
    problems: tuple[str, ...]


def verify(context: Context, told: Callable[[int, int], None] | None = None) -> Verdict:
    """Replay everybody and compare."""
    people = events = identical = close = 0
    problems: list[str] = []
    last: tuple[str, ...] = ()
    with context.store.read() as reader:
        current, total = context.catalogue.current(reader), reader.count(Person)
        fold = context.catalogue.fold(reader, current.model)
        while page := reader.find(Person, after=last, limit=_AT_ONCE):
            learned = reader.many(Learned, [(current.model, person.id) for person in page])
            for person in page:
                log = reader.find(Event, user=person.id)
                events += len(log)
                stored = learned.get((current.model, person.id))
                replayed = fold.written(person.id, fold.of(log))
                if stored == replayed or (stored is None and not log):
                    identical += 1
                elif stored is not None and _alike(stored, replayed):
                    close += 1
                else:
                    problems.append(f"the state of {person.id!r} is not the replay of its {len(log)} events")
                problems += _unmatched(reader, person.id)
            people, last = people + len(page), (page[-1].id,)
            if told is not None:
                told(people, total)
    return Verdict(people, events, identical, close, tuple(problems))


def _unmatched(reader: Reader, user: str) -> list[str]:
    """Matches with one side, and two likes without a match."""
    problems = []
    matches = {match.other: match for match in reader.find(Match, user=user)}
    likes = reader.find(Pair, user=user, decision=LIKE)
    back = reader.many(Pair, [(pair.other, user) for pair in likes])
    apart = kept_apart(reader, user)  # an import may bring likes of people who have blocked each other
    sides = reader.many(Match, [(other, user) for other in matches])
    for other, match in matches.items():
        if (other, user) not in sides or sides[other, user].id != match.id:
            problems.append(f"match {match.id!r} of {user!r} has no other side")
    for pair in likes:
        returned = back.get((pair.other, user))
        if returned is not None and returned.decision == LIKE and pair.other not in apart:
            problems.append(f"{user!r} and {pair.other!r} like each other and have no match")
    return problems


def _alike(stored: Learned, replayed: Learned) -> bool:
    mine, theirs = StoredState.read(stored.state), StoredState.read(replayed.state)
    same = (mine.learner, mine.version, mine.dimensions) == (theirs.learner, theirs.version, theirs.dimensions)
    same = same and (stored.swipes, stored.at, len(mine.cells)) == (replayed.swipes, replayed.at, len(theirs.cells))
    return same and bool(np.allclose(mine.cells, theirs.cells, _CLOSE, _CLOSE))
