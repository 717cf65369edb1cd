"""What follows from a person's own events alone: their counters, and their latest decision about each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kaczmatch.service.domain.folding import AnsweredPeople, without_undone
from kaczmatch.service.domain.records import Decision, Event, EventKind, PersonCounters
from kaczmatch.service.domain.records.people import NEVER


def recounted(counters: PersonCounters, events: Iterable[Event]) -> PersonCounters:
    """Somebody's counters as a user, counted again; their appeal stays."""
    kept = without_undone(events)
    swipes = [event for event in kept if event.kind == EventKind.SWIPED]
    session, in_session = "", False
    for event in kept:
        if event.kind == EventKind.SWIPED and not in_session:
            session, in_session = event.id, True
        elif event.kind in (EventKind.SESSION_ENDED, EventKind.RESET):
            in_session = False
    return replace(
        counters,
        resets=sum(event.kind == EventKind.RESET for event in kept),
        swipes=sum(event.decision != Decision.SKIP for event in swipes),
        likes=sum(event.decision == Decision.LIKE for event in swipes),
        last_swipe_at=swipes[-1].at if swipes else NEVER,
        session=session,
        in_session=in_session,
    )


def standing_decisions(events: Iterable[Event]) -> dict[str, Event]:
    """The swipe that counts for each candidate: the last one, but an import that is older does not replace a newer one."""
    latest: dict[str, Event] = {}
    for event in without_undone(events):
        if event.kind == EventKind.SWIPED and event.candidate is not None:
            before = latest.get(event.candidate)
            if before is None or not event.imported or event.at >= before.at:
                latest[event.candidate] = event
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
