"""The serving index in files, as of a change and an event of the store's logs. A process that starts applies what came since.

A snapshot belongs to the store that has its record: one of a `ServingProcess`, for which changes are kept like for any process.
A store that was restored, or another one under the same settings, has no such record, and then everybody is loaded anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.index import storage
from kaczmatch.recommend.index.checked_files import Damaged
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ActiveVersions, ServingProcess
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Cursor, Reader

# Appeal fades with time, and nobody's is counted again who was not judged since: after so long everybody is loaded anew. A
# process that does nothing else does it a day before, so that no start has to.
LONGEST_LIFE: Final = timedelta(days=7)
RENEWED_BEFORE: Final = timedelta(days=1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class IndexSnapshot:
    """What a snapshot holds, mapped from its files."""

    id: str  # of its record in the store
    built: datetime  # when everybody was loaded from the store
    people: IndexedStates
    exposure: Exposure
    counted_until: datetime  # decks up to then are in the exposure
    versions: ActiveVersions
    changes: Cursor  # what it has seen is in it, or its people are in `stale`
    events: Cursor
    day: date  # up to which people who are away were taken out
    stale: NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )  # numbers in the store of whoever has changed since
    odd: list[str] = field(default_factory=list)  # whose states are not in it


def write_snapshot(files: SnapshotFiles, context: Context, made: IndexSnapshot) -> None:
    """Beside the one that is there."""
    cards, origin = made.exposure.kept()
    about = {
        "id": made.id,
        "built": made.built.isoformat(),
        "rules": _rules(context),
        "model": made.versions.model,
        "vocabulary_version": made.versions.vocabulary,
        "changes": astuple(made.changes),
        "events": astuple(made.events),
        "day": made.day.isoformat(),
        "counted_until": made.counted_until.isoformat(),
        "cards_in": origin,
        "by_number": ["cards", "state_rows", "state_odd"],
        "by_row": {"state_cells": "state_rows"},
    }
    made.people.save(files.next, about, {"cards": cards})


def open_snapshot(files: SnapshotFiles, context: Context, oldest: datetime) -> IndexSnapshot | None:
    """None: there is none that fits the rules and the model in use, or it was built before a moment, or it was damaged."""
    with context.store.read() as reader:
        current = context.catalogue.current(reader)
        fold = context.catalogue.fold(reader, current.model)
    try:
        with files.reading():
            about = storage.read_about(files.folder)
            if about["rules"] != _rules(context) or datetime.fromisoformat(about["built"]) < oldest:
                return None
            if about["model"] != current.model:
                return None
            stale, known = files.changed()
            people, about, arrays = IndexedStates.open(files.folder, fold.learner, fold.prior)
    except (FileNotFoundError, InvalidInput, Damaged):
        return None
    exposure = Exposure(cap=context.config.exposure_cap, index_ids=people.index.ids_and_numbers)
    exposure.restore(arrays["cards"], about["cards_in"])
    return IndexSnapshot(
        id=about["id"],
        built=datetime.fromisoformat(about["built"]),
        people=people,
        exposure=exposure,
        counted_until=datetime.fromisoformat(about["counted_until"]),
        versions=replace(current, vocabulary=about["vocabulary_version"]),
        changes=listed_to(about, known),
        events=Cursor(*about["events"]),
        day=date.fromisoformat(about["day"]),
        stale=stale,
        odd=[str(one) for one in people.index.ids_of(np.flatnonzero(arrays["state_odd"]).astype(np.int32)) if one is not None],
    )


def listed_to(about: Mapping[str, Any], known: int) -> Cursor:
    """The changes that are in a snapshot, or in the list beside it, which is complete up to a number."""
    built = Cursor(*about["changes"])
    return built if built.settled >= known else Cursor(known, max(known, built.newest))


def fits(snapshot: IndexSnapshot, reader: Reader) -> bool:
    """Whether the store knows it, and has all that came since."""
    kept, complete_to = reader.get(ServingProcess, snapshot.id), snapshot.changes.settled
    return kept is not None and kept.changes_read <= complete_to and last_dropped_change(reader) <= complete_to


def _rules(context: Context) -> int:
    """What people in the index depend on, beside the store; without sets, which every process orders anew."""
    config, schema = context.config, context.config.schema
    said = (schema.kinds, schema.minimum_age, schema.age_required, sorted(schema.capacity.items()))
    return crc32(repr((said, config.away_days, config.appeal)).encode())
