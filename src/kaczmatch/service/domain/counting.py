"""What follows from a person's own events alone: counters, and the decision that stands on each candidate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kaczmatch.service.domain.folding import LIKE, RESET, SESSION_ENDED, SKIP, SWIPED, without_undone
from kaczmatch.service.domain.records import Event, PersonCounters
from kaczmatch.service.domain.records.people import NEVER


def recounted(standing: PersonCounters, events: Iterable[Event]) -> PersonCounters:
    """Somebody's counters as a swiper, anew; how others took to them stays."""
    kept = without_undone(events)
    swipes = [event for event in kept if event.kind == SWIPED]
    session, talking = "", False
    for event in kept:
        if event.kind == SWIPED and not talking:
            session, talking = event.id, True
        elif event.kind in (SESSION_ENDED, RESET):
            talking = False
    return replace(
        standing,
        swipes=sum(event.decision != SKIP for event in swipes),
        likes=sum(event.decision == LIKE for event in swipes),
        last_swipe_at=swipes[-1].at if swipes else NEVER,
        session=session,
        in_session=talking,
    )


def decisions(events: Iterable[Event]) -> dict[str, Event]:
    """The swipe that stands on each candidate: the last one, but for imports that are older."""
    stands: dict[str, Event] = {}
    for event in without_undone(events):
        if event.kind == SWIPED and event.candidate is not None:
            before = stands.get(event.candidate)
            if before is None or not event.imported or event.at >= before.at:
                stands[event.candidate] = event
    return stands
