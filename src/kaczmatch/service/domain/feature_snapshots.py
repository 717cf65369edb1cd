"""What candidates looked like when they were swiped on. It is kept with the candidate, once per version."""

from __future__ import annotations

from collections.abc import Iterable

from kaczmatch.service.domain.records import Event, FeatureSnapshot
from kaczmatch.service.domain.store import Reader


def with_features(reader: Reader, events: Iterable[Event]) -> list[Event]:
    """The same events, which now know the features that were seen: what folding them takes."""
    known = list(events)
    wanted = {(event.candidate, event.features_version) for event in known if event.features_version and event.features is None}
    found = reader.many(FeatureSnapshot, wanted)
    for event in known:
        snapshot = found.get((event.candidate, event.features_version))
        if snapshot is not None and event.features is None:
            object.__setattr__(event, "features", snapshot.features)  # a copy of each would take as long as reading it
    return known


def seen_features(event: Event) -> bytes:
    """The candidate's features, as seen."""
    if event.features is None and event.features_version:
        raise LookupError(f"version {event.features_version} of what swipe {event.id!r} of {event.user!r} saw is not there")
    return event.features or b""
