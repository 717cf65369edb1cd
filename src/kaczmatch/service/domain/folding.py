"""A stored state is the fold of its person's events: one step per event, taken live and again in every replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kaczmatch.core.swipes import ShownCandidate, appeal_row
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import EventFold, TrackedState
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.service.domain.feature_snapshots import seen_features
from kaczmatch.service.domain.records import ActiveVersions, Decision, Event, EventKind, StoredState
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Reader

# What was seen of a person who was being erased when a model with traits came to the swipe: it learned nothing from it.
UNSEEN: Final[Vector] = np.empty(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ModelFold:
    """How a model learns from the records of events.

    `dimensions_of` says how many terms a version of the vocabulary has. With traits, events say what was seen (`with_seen`).
    With `first_answers_only`, a user's first answer to a candidate teaches, and later ones teach nothing.
    """

    model: int
    fold: EventFold
    dimensions_of: Callable[[int], int]
    first_answers_only: bool
    traits: TraitModel | None = None  # of a learner that weighs what others said of a candidate's traits

    @property
    def learner(self) -> Learner:
        return self.fold.learner

    @property
    def prior(self) -> Prior:
        return self.fold.prior

    def start(self) -> TrackedState:
        """Of somebody who has not swiped yet."""
        return self.fold.start

    def step(self, before: TrackedState, event: Event, *, repeated: bool) -> TrackedState:
        """After one more event. `without_undone` leaves out undone swipes; the undo itself teaches nothing.

        `repeated` says whether it answers a candidate again (see `AnsweredPeople`).
        """
        if event.kind == EventKind.RESET:
            return self.fold.reset(event.at)
        dimensions = max(self.dimensions_of(event.vocabulary), before.state.dimensions)
        if event.kind == EventKind.SWIPED and event.decision != Decision.SKIP:
            if (repeated and self.first_answers_only) or event.said is UNSEEN:
                return self.fold.wait(before, event.at, dimensions)
            seen = ShownCandidate(unpacked(seen_features(event), dimensions), self._said(event))
            return self.fold.swipe(before, seen, label_of(event), event.at)
        if event.kind == EventKind.SESSION_ENDED:
            return self.fold.end_session(before, event.at, dimensions)
        return self.fold.wait(before, event.at, dimensions)

    def _said(self, event: Event) -> Vector:
        if self.traits is not None and event.said is None:
            raise LookupError(f"what others had said when {event.user!r} made swipe {event.id!r} is not there")
        return appeal_row(event.appeal) if self.traits is None else said_of(event)

    def replay(self, events: Iterable[Event]) -> TrackedState:
        """After all of a person's events, in their order. They know what was seen (`with_seen`)."""
        replay = Replay(self)
        replay.learn(without_undone(events))
        return replay.tracked

    def decode(self, stored: StoredState | None) -> TrackedState:
        if stored is None:
            return self.start()
        state = self.learner.from_bytes(stored.state, self.prior)
        return TrackedState(state, stored.swipes, stored.at, stored.session_direction, stored.stability)

    def encode(self, user: str, tracked: TrackedState) -> StoredState:
        return StoredState(
            model=self.model,
            user=user,
            state=tracked.state.to_bytes(),
            swipes=tracked.swipes,
            at=tracked.at,
            session_direction=tracked.session_direction,
            stability=tracked.stability,
        )


@final
class Replay:
    """A person's state as their events come in order, a page after the other."""

    def __init__(self, fold: ModelFold) -> None:
        self.fold = fold
        self.tracked = fold.start()
        self._answered = AnsweredPeople()

    def learn(self, events: Iterable[Event]) -> None:
        """From some more that were not undone."""
        for event in events:
            self.tracked = self.fold.step(self.tracked, event, repeated=self._answered.repeats(event))


def said_of(event: Event) -> Vector:
    """What others had said of the candidate."""
    return appeal_row(event.appeal) if event.said is None else event.said


def label_of(event: Event) -> int:
    """Of a like or a pass."""
    return 1 if event.decision == Decision.LIKE else -1


def models_that_learn(reader: Reader, current: ActiveVersions, user: str) -> list[int]:
    """Whose states an event of this person changes.

    The model in use, and one that a process still deals by. And one that is being built, if it has come to this person; of
    somebody who has no event yet it knows everything. One with traits goes through the log and comes to the event itself.
    """
    models = [current.model, *([current.previous] if current.previous else [])]
    if (
        current.building
        and not current.building_traits
        and (reader.get(StoredState, current.building, user) is not None or reader.get(StoredState, current.model, user) is None)
    ):
        models.append(current.building)
    return models


@final
class AnsweredPeople:
    """Whom one person has liked or passed since the last reset, as their events come in order."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def repeats(self, event: Event) -> bool:
        """Whether the next event answers somebody again."""
        if event.kind == EventKind.RESET:
            self._ids.clear()
        if event.kind != EventKind.SWIPED or event.decision == Decision.SKIP or event.candidate is None:
            return False
        known = event.candidate in self._ids
        self._ids.add(event.candidate)
        return known


def undo_of(event: Event) -> tuple[str, str]:
    """The key of the event that would undo a swipe."""
    return event.user, f"~undo:{event.id}"


def without_undone(events: Iterable[Event]) -> list[Event]:
    """Events without the swipes that were undone, and without the undos."""
    known = list(events)
    undone = {(event.user, event.undoes) for event in known if event.kind == EventKind.UNDONE}
    return [
        event
        for event in known
        if event.kind != EventKind.UNDONE and not (event.kind == EventKind.SWIPED and (event.user, event.id) in undone)
    ]
