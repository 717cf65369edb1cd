"""Processes that share a snapshot of the serving index, and all that one of them knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.meeting import snapshot_keeping
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.storage import SqlStore
from worlds.town import Town


def small_town(store: SqlStore, files: SnapshotFiles) -> Town:
    town = Town(store, snapshot=files)
    town.couples(5)
    town.swipe("w0", "m1")
    town.swipe("w1", "m1", "pass")
    return town


def known(index: ServingIndex, town: Town, *, compact: bool = True) -> dict[Any, Any]:
    """All that a process has in memory to deal decks from. `compact`: with the rounded states by which it finds a shortlist."""
    people = index.recommender.index
    with people.reading() as view:
        numbers = view.all_numbers()
        rows, columns = view.candidate_rows(numbers), view.rows(numbers)
    found = {}
    for place, user in enumerate(rows.ids()):
        (state,) = index.recommender.states([user])
        found[user] = (
            state.to_bytes(),
            rows.features[place].tolist(),
            np.round(rows.others[place], 6).tolist(),  # it fades with time
            [
                np.round(column[..., place], 6).tolist()
                for column in columns[1 : None if compact else columns._fields.index("mean")]
            ],
            round(index.exposure.cards_of(user, town.now), 9),
        )
    return found


def started(town: Town, **changes: Any) -> tuple[ServingIndex, list[int]]:
    """Another process, and how many people it read from the store page by page."""
    index, built = ServingIndex(replace(town.context, **changes)), []
    build = index._build
    index._build = lambda **how: (built.append(1), build(**how))[1]  # type: ignore[method-assign, misc]
    index.load()
    return index, built


def from_store(town: Town) -> ServingIndex:
    return started(town, snapshot=None)[0]


def renewed(town: Town, *, due: bool = True) -> bool:
    """As a process of its own writes it."""
    town.world.follow()
    world = town.world

    def write() -> None:
        ServingIndex(town.context).write_snapshot()

    if due:
        world._keep_snapshot()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(snapshot_keeping, "_MUCH", -1)
            patch.setattr(snapshot_keeping, "_SHARE", 10**9)
            done = world.renew_snapshot(write)
    else:
        done = world.renew_snapshot(write)
    world.follow()
    return done
