"""One user's state, folded event by event, with what is counted along: swipes, the time of the last event, stability.

Each step takes a tracked state and returns the next one. Live calls and replays take the same steps, so they give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, final

import numpy as np

from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Vector, cosine
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State

_SESSIONS_KEPT: Final = 8
_NO_TIME: Final = timedelta(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrackedState:
    """What was learned about one user."""

    state: State
    swipes: int = 0  # that were learned from
    at: datetime | None = None  # the last event
    session_direction: bytes = b""  # the direction at the end of the last session, float32
    stability: tuple[float, ...] = ()  # Δs of the last sessions


@final
@dataclass(frozen=True, slots=True, eq=False)
class EventFold:
    """A learner and the prior where users start.

    Events may come with more terms than a state has: the state grows first. Time never runs back within a state.
    """

    learner: Learner
    prior: Prior
    start: TrackedState = field(init=False, repr=False)  # before the first event

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", TrackedState(self.learner.start(self.prior)))

    def swipe(self, before: TrackedState, seen: ShownCandidate, label: int, at: datetime) -> TrackedState:
        """After a like (+1) or a pass (-1)."""
        state, at = self.brought_to(before, at, len(seen.features))
        state = self.learner.swipe(state, seen, label)
        return TrackedState(state, before.swipes + 1, at, before.session_direction, before.stability)

    def end_session(self, before: TrackedState, at: datetime, dimensions: int) -> TrackedState:
        """After the end of a session, which is compared with the one before."""
        state, at = self.brought_to(before, at, dimensions)
        state = self.learner.end_session(state)
        now = self.learner.direction(state)
        earlier = np.frombuffer(before.session_direction, np.float32).astype(np.float64)
        stability = before.stability
        if len(earlier):
            stability = (*stability, _stability(earlier, now))[-_SESSIONS_KEPT:]
        return TrackedState(state, before.swipes, at, now.astype(np.float32).tobytes(), stability)

    def wait(self, before: TrackedState, at: datetime, dimensions: int) -> TrackedState:
        """After an event that teaches nothing, such as a skip: only time has passed."""
        state, at = self.brought_to(before, at, dimensions)
        return replace(before, state=state, at=at)

    def reset(self, at: datetime) -> TrackedState:
        """Everything is forgotten."""
        return replace(self.start, at=at)

    def brought_to(self, before: TrackedState, at: datetime, dimensions: int) -> tuple[State, datetime]:
        """The state over so many terms, at a later moment."""
        state = before.state
        if dimensions > state.dimensions:
            state = self.learner.grow(state, dimensions)
        if before.at is None:
            return state, at
        return self.learner.advance(state, max(at - before.at, _NO_TIME)), max(at, before.at)


def _stability(before: Vector, now: Vector) -> float:
    """Δs: the cosine between two directions; a vocabulary may have grown between them."""
    return float(cosine(np.append(before, np.zeros(len(now) - len(before))), now))
