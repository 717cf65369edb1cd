"""Whether all that is derived follows from the events: states, decisions, counters, answers on cards, matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import final

import numpy as np

from kaczmatch.learners.logs.event_fold import TrackedState
from kaczmatch.learners.state import EncodedState
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.display_names import name_suffixes
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.records import (
    Event,
    LatestDecision,
    MatchSide,
    NameSuffix,
    Person,
    PersonCounters,
    Record,
    SeenTraits,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.traits import with_seen
from kaczmatch.service.meeting.profiles import being_erased
from kaczmatch.service.operations.consistency import ConsistencyCheck, RecordsOfPeople

_AT_ONCE = 200
_CLOSE = 1e-9  # another CPU or build may round differently


@final
@dataclass(frozen=True, slots=True)
class VerificationResult:
    """How many were looked at, and what is wrong, a line each."""

    people: int
    events: int
    identical: int  # states that equal their replay bit for bit
    close: int  # states that differ in the last bits only
    problems: tuple[str, ...]


def verify(context: Context, on_progress: Callable[[int, int], None] | None = None) -> VerificationResult:
    """Replay everybody and compare. An erasure that is under way is no problem: whoever has the store finishes it."""
    people = events = identical = close = 0
    problems: list[str] = []
    seen: Counter[type[Record]] = Counter()
    last: tuple[str, ...] = ()
    with context.store.read() as reader:
        current, total = context.catalogue.current(reader), reader.count(Person)
        fold = context.catalogue.fold(reader, current.model)
        leaving = frozenset(being_erased(reader))
        while page := reader.find(Person, after=last, limit=_AT_ONCE):
            learned = reader.many(StoredState, [(current.model, person.id) for person in page])
            records = RecordsOfPeople.read(reader, [person.id for person in page])
            named = reader.of_people(NameSuffix, "user", [person.id for person in page])
            with_seen(reader, fold, chain.from_iterable(records.events.values()))
            for person in page:
                log = records.events[person.id]
                events += len(log)
                stored = learned.get((current.model, person.id))
                replayed = fold.encode(person.id, _grown_like(stored, fold, fold.replay(log)))
                if stored == replayed or (stored is None and not log):
                    identical += 1
                elif stored is not None and _alike(stored, replayed):
                    close += 1
                else:
                    problems.append(f"the state of {person.id!r} is not the replay of its {len(log)} events")
                suffixes = {one.text for one in named[person.id]}
                if suffixes != name_suffixes(person.name):
                    problems.append(f"{person.id!r} cannot be found by their name")
                seen[NameSuffix] += len(suffixes)
                problems += ConsistencyCheck(context, reader, fold, person.id, records, seen, leaving).problems()
            people, last = people + len(page), (page[-1].id,)
            if on_progress is not None:
                on_progress(people, total)
        for kind in (LatestDecision, SeenTraits):
            equal = {"model": current.model} if kind is SeenTraits else {}
            seen[kind] += sum(reader.count(kind, user=user, **equal) for user in leaving)
        problems += _nobodys(reader, seen, current.model)
    return VerificationResult(people, events, identical, close, tuple(problems))


def _nobodys(reader: Reader, seen: Mapping[type[Record], int], model: int) -> list[str]:
    """Records of people who are not there."""
    more: dict[type[Record], int] = {
        kind: reader.count(kind) - seen[kind] for kind in (Event, PersonCounters, LatestDecision, MatchSide, NameSuffix)
    }
    more |= {kind: reader.count(kind, model=model) - seen[kind] for kind in (SeenTraits, StoredTraits)}
    return [f"{number:,} {kind.table} belong to nobody" for kind, number in more.items() if number]


def _grown_like(stored: StoredState | None, fold: ModelFold, replayed: TrackedState) -> TrackedState:
    """A stored state may have been rewritten over more terms since its last event."""
    terms = 0 if stored is None else EncodedState.read(stored.state).dimensions
    if terms <= replayed.state.dimensions:
        return replayed
    return replace(replayed, state=fold.learner.grow(replayed.state, terms))


def _alike(stored: StoredState, replayed: StoredState) -> bool:
    mine, theirs = EncodedState.read(stored.state), EncodedState.read(replayed.state)
    same = (mine.learner, mine.version, mine.dimensions) == (theirs.learner, theirs.version, theirs.dimensions)
    same = same and (stored.swipes, stored.at, len(mine.cells)) == (replayed.swipes, replayed.at, len(theirs.cells))
    return same and bool(np.allclose(mine.cells, theirs.cells, _CLOSE, _CLOSE))
