"""What follows from a person's own events alone: their counters, and their latest decision about each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

from kaczmatch.service.domain.folding import AnsweredPeople, without_undone
from kaczmatch.service.domain.records import Decision, Event, EventKind, PersonCounters
from kaczmatch.service.domain.records.people import NEVER


@final
class LogCounts:
    """What is counted of a person's events as they come in order, without those that were undone.

    And of one candidate that it is `about`: the swipe that stands, and how many resets there had been at the last like or pass.
    """

    def __init__(self, about: str = "") -> None:
        self._about = about
        self.standing: Event | None = None
        self.answered_after_resets: int | None = None
        self._resets = self._swipes = self._likes = 0
        self._last_swipe_at, self._session, self._in_session = NEVER, "", False

    def add(self, event: Event) -> None:
        if event.kind == EventKind.SWIPED:
            self._swipes += event.decision != Decision.SKIP
            self._likes += event.decision == Decision.LIKE
            self._last_swipe_at = event.at
            if not self._in_session:
                self._session, self._in_session = event.id, True
            if event.candidate == self._about:
                self.standing = standing_swipe(self.standing, event)
                if event.decision != Decision.SKIP:
                    self.answered_after_resets = self._resets
        elif event.kind in (EventKind.SESSION_ENDED, EventKind.RESET):
            self._in_session = False
            self._resets += event.kind == EventKind.RESET

    def of(self, counters: PersonCounters) -> PersonCounters:
        """Somebody's counters as a user, counted again; their appeal stays."""
        return replace(
            counters,
            resets=self._resets,
            swipes=self._swipes,
            likes=self._likes,
            last_swipe_at=self._last_swipe_at,
            session=self._session,
            in_session=self._in_session,
        )


def standing_swipe(before: Event | None, event: Event) -> Event:
    """The swipe on a candidate that counts: the last one, but an import that is older does not replace a newer one."""
    return event if before is None or not event.imported or event.at >= before.at else before


def recounted(counters: PersonCounters, events: Iterable[Event]) -> PersonCounters:
    """Somebody's counters as a user, counted again from all of their events."""
    counts = LogCounts()
    for event in without_undone(events):
        counts.add(event)
    return counts.of(counters)


def standing_decisions(events: Iterable[Event]) -> dict[str, Event]:
    """The swipe that counts for each candidate."""
    latest: dict[str, Event] = {}
    for event in without_undone(events):
        if event.kind == EventKind.SWIPED and event.candidate is not None:
            latest[event.candidate] = standing_swipe(latest.get(event.candidate), event)
    return latest


def resets_at_last_answers(events: Iterable[Event]) -> dict[str, int]:
    """How many resets there had been when each candidate was last liked or passed."""
    found: dict[str, int] = {}
    resets = 0
    for event in without_undone(events):
        resets += event.kind == EventKind.RESET
        if event.kind == EventKind.SWIPED and event.decision != Decision.SKIP and event.candidate is not None:
            found[event.candidate] = resets
    return found


def swipes_learned_from(events: Sequence[Event], *, first_answers_only: bool) -> list[Event]:
    """The likes and passes behind a person's present state: not undone, since the last reset, and counted by the model."""
    kept, answered = without_undone(events), AnsweredPeople()
    taught: list[Event] = []
    for event in kept:
        repeated = answered.repeats(event)
        if event.kind == EventKind.RESET:
            taught.clear()
        elif event.kind == EventKind.SWIPED and event.decision != Decision.SKIP and not (repeated and first_answers_only):
            taught.append(event)
    return taught
