"""A state is the fold of its person's events: one step, taken live after each event and again in every replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import final

import numpy as np

from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Vector, cosine
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.service.domain.records import Event, StoredState
from kaczmatch.service.domain.sparse_features import unpacked

SWIPED, SESSION_ENDED, UNDONE, RESET = "swiped", "session-ended", "undone", "reset"
LIKE, PASS, SKIP = "like", "pass", "skip"

_SESSIONS_KEPT = 8
_NO_TIME = timedelta(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrackedState:
    """What a model knows of one person."""

    state: State
    swipes: int = 0  # that were learned from
    at: datetime | None = None  # the last event
    session_direction: bytes = b""  # the direction at the end of the last session, float32
    stability: tuple[float, ...] = ()  # Δs of the last sessions


@final
@dataclass(frozen=True, slots=True, eq=False)
class EventFold:
    """A learner and a prior, under the number by which states name them.

    `names` says how many names a version of the vocabulary has.
    """

    model: int
    learner: Learner
    prior: Prior
    dimensions_of: Callable[[int], int]
    first: TrackedState = field(init=False, repr=False)  # of somebody who has not swiped yet

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", TrackedState(self.learner.start(self.prior)))

    def start(self) -> TrackedState:
        return self.first

    def step(self, taste: TrackedState, event: Event) -> TrackedState:
        """After one more event. Undone swipes are left out by `effective`; the undoing itself teaches nothing."""
        if event.kind == RESET:
            return replace(self.start(), at=event.at)
        learner, state = self.learner, taste.state
        dimensions = max(self.dimensions_of(event.vocabulary), state.dimensions)
        if dimensions != state.dimensions:
            state = learner.grow(state, dimensions)
        if taste.at is not None:
            state = learner.advance(state, max(event.at - taste.at, _NO_TIME))
        at = event.at if taste.at is None else max(event.at, taste.at)
        if event.kind == SESSION_ENDED:
            return self._rested(replace(taste, state=learner.end_session(state), at=at))
        if event.kind == SWIPED and event.decision != SKIP:
            seen = Seen(unpacked(event.features or b"", dimensions), event.appeal)
            state = learner.swipe(state, seen, 1 if event.decision == LIKE else -1)
            return TrackedState(state, taste.swipes + 1, at, taste.session_direction, taste.stability)
        return replace(taste, state=state, at=at)

    def replay(self, events: Iterable[Event]) -> TrackedState:
        """After all of a person's events, in their order."""
        taste = self.start()
        for event in without_undone(events):
            taste = self.step(taste, event)
        return taste

    def decode(self, learned: StoredState | None) -> TrackedState:
        if learned is None:
            return self.start()
        state = self.learner.from_bytes(learned.state, self.prior)
        return TrackedState(state, learned.swipes, learned.at, learned.session_direction, learned.stability)

    def encode(self, user: str, taste: TrackedState) -> StoredState:
        return StoredState(
            model=self.model,
            user=user,
            state=taste.state.to_bytes(),
            swipes=taste.swipes,
            at=taste.at,
            session_direction=taste.session_direction,
            stability=taste.stability,
        )

    def _rested(self, taste: TrackedState) -> TrackedState:
        """A session has ended: how far did the taste move since the one before?"""
        now = self.learner.direction(taste.state)
        before = np.frombuffer(taste.session_direction, np.float32).astype(np.float64)
        stability = taste.stability
        if len(before):
            stability = (*stability, _stability(before, now))[-_SESSIONS_KEPT:]
        return replace(taste, session_direction=now.astype(np.float32).tobytes(), stability=stability)


def without_undone(events: Iterable[Event]) -> list[Event]:
    """Events without the swipes that were undone."""
    known = list(events)
    undone = {event.undoes for event in known if event.kind == UNDONE}
    return [event for event in known if event.kind != UNDONE and not (event.kind == SWIPED and event.id in undone)]


def _stability(before: Vector, now: Vector) -> float:
    """Δs: the cosine between two directions; a vocabulary may have grown between them."""
    return float(cosine(np.append(before, np.zeros(len(now) - len(before))), now))
