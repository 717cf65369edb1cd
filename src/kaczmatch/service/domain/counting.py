"""What follows from a person's own events alone: their counters, and their latest decision about each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kaczmatch.service.domain.folding import without_undone
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


def swipes_learned_from(events: Sequence[Event]) -> list[Event]:
    """The likes and passes behind a person's present state: not undone, and since the last reset."""
    kept = without_undone(events)
    reset = max((place for place, event in enumerate(kept) if event.kind == EventKind.RESET), default=-1)
    return [event for event in kept[reset + 1 :] if event.kind == EventKind.SWIPED and event.decision != Decision.SKIP]
