"""Whether all that is derived follows from the events: states, decisions, counters, answers on cards, matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import final

import numpy as np

from kaczmatch.learners.logs.fold import TrackedState
from kaczmatch.learners.state import EncodedState
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.display_names import name_suffixes
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.leaving import being_erased
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
from kaczmatch.service.domain.store import Snapshot
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.service.domain.traits import with_seen
from kaczmatch.service.operations.consistency import ConsistencyCheck, RecordsOfPeople

_AT_ONCE = 200
_CLOSE = 1e-9  # another CPU or build may round differently


@final
@dataclass(frozen=True, slots=True)
class VerificationResult:
    """How many were looked at, and what is wrong, a line each."""

    people: int = 0
    events: int = 0
    identical: int = 0  # states that equal their replay bit for bit
    close: int = 0  # states that differ in the last bits only
    problems: tuple[str, ...] = ()

    def plus(self, other: VerificationResult) -> VerificationResult:
        return VerificationResult(
            self.people + other.people,
            self.events + other.events,
            self.identical + other.identical,
            self.close + other.close,
            self.problems + other.problems,
        )


def verify(
    context: Context,
    on_progress: Callable[[int, int], None] | None = None,
    parts: StoreParts = StoreParts(),  # noqa: B008
) -> VerificationResult:
    """Replay everybody and compare. An erasure that is under way is no problem: whoever has the store finishes it."""
    with context.store.read() as reader:
        total = reader.count(Person)
    found = VerificationResult()
    for part in parts.of_people(context, verify_people, _AT_ONCE):
        found = found.plus(part)
        if on_progress is not None:
            on_progress(found.people, max(found.people, total))
    with context.store.read() as reader:
        nobodys = _nobodys(reader, context.catalogue.current(reader).model)
    return replace(found, problems=(*found.problems, *nobodys))


def verify_people(context: Context, people: Sequence[str]) -> VerificationResult:
    """Those of them who are there, as of one moment."""
    events = identical = close = 0
    problems: list[str] = []
    with context.store.read() as reader:
        current = context.catalogue.current(reader)
        fold = context.catalogue.fold(reader, current.model)
        leaving = frozenset(being_erased(reader))
        page = list(reader.many(Person, [(user,) for user in people]).values())
        learned = reader.many(StoredState, [(current.model, person.id) for person in page])
        records = RecordsOfPeople.read(reader, [person.id for person in page])
        named = reader.of_people(NameSuffix, "user", [person.id for person in page])
        with_seen(reader, fold, chain.from_iterable(records.events.values()))
        for person in page:
            log = records.events[person.id]
            events += len(log)
            stored = learned.get((current.model, person.id))
            # Who has not swiped has no state.
            replayed = fold.encode(person.id, _grown_like(stored, fold, fold.replay(log))) if stored or log else None
            if stored == replayed:
                identical += 1
            elif stored is not None and replayed is not None and _alike(stored, replayed):
                close += 1
            else:
                problems.append(f"the state of {person.id!r} is not the replay of its {len(log)} events")
            if {one.text for one in named[person.id]} != name_suffixes(person.name):
                problems.append(f"{person.id!r} cannot be found by their name")
            problems += ConsistencyCheck(context, reader, fold, person.id, records, leaving).problems()
    return VerificationResult(len(page), events, identical, close, tuple(problems))


def _nobodys(reader: Snapshot, model: int) -> list[str]:
    """Records of people who are not there, nor being erased."""
    left = being_erased(reader)
    kinds: tuple[type[Record], ...] = (Event, PersonCounters, LatestDecision, MatchSide, NameSuffix, SeenTraits, StoredTraits)
    of_model = {SeenTraits: {"model": model}, StoredTraits: {"model": model}}
    found = {kind: reader.count_of_nobody(kind, **of_model.get(kind, {})) for kind in kinds}
    for kind in kinds:
        found[kind] -= sum(reader.count(kind, user=user, **of_model.get(kind, {})) for user in left)
    return [f"{number:,} {kind.table} belong to nobody" for kind, number in found.items() if number]


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
