"""What a process has in memory keeps up with the store, on every store, however long the process was away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kaczmatch.app.backups import back_up, restore
from kaczmatch.service.domain.records import Change
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.storage import SqlStore
from worlds.stores import open_store
from worlds.town import Town


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


def known(world: ServingIndex) -> list[str]:
    return [user for user in ("w0", "m0", "m1", "m2", "m9") if user in world.recommender.index]


def test_a_process_that_stalled_longer_than_changes_are_kept_loads_everybody_again(town: Town) -> None:
    town.couples(3)
    stalled = ServingIndex(town.context)
    stalled.load()
    town.erasing.erase("m1")
    town.people.pause("m2", True).result()
    town.move_in("m9", man=True)
    town.wait(hours=2)
    Maintenance(town.context).run()
    assert town.find(Change) == []
    stalled.follow()
    assert known(stalled) == ["w0", "m0", "m9"]
    town.world.follow()
    assert known(town.world) == ["w0", "m0", "m9"]


def test_a_change_that_was_missed_while_others_are_kept_is_noticed_too(town: Town) -> None:
    town.couples(3)
    stalled = ServingIndex(town.context)
    stalled.load()
    town.erasing.erase("m1")
    town.wait(hours=2)
    town.people.pause("m2", True).result()
    Maintenance(town.context).run()
    stalled.follow()
    assert known(stalled) == ["w0", "m0"]


def test_who_keeps_up_loads_nobody_again(town: Town) -> None:
    town.couples(2)
    late = ServingIndex(town.context)
    town.wait(minutes=30)
    Maintenance(town.context).run()
    late.load()
    loaded = [world.recommender for world in (town.world, late)]
    for world in (town.world, late):
        world.follow()
    for minute in range(20):
        town.people.pause("m1", minute % 2 == 0).result()
        for world in (town.world, late):
            world.follow()
        town.wait(minutes=1)
        Maintenance(town.context).run()
        for world in (town.world, late):
            world.follow()
    assert [world.recommender for world in (town.world, late)] == loaded


def test_a_log_that_goes_on_a_million_later_is_followed(tmp_path: Path) -> None:
    """As it does after a restore."""
    url, backup = f"sqlite:///{tmp_path}/store.db", tmp_path / "backup"
    with closing(SqlStore(url)) as store:
        town = Town(store)
        town.couples(2)
        town.swipe("w0", "m0")
    back_up(url, backup, lambda *_: None)
    restore(backup, url, lambda *_: None, force=True)
    with closing(SqlStore(url)) as store:
        later = Town(store, before=town)
        later.swipe("w1", "m0")
        later.people.pause("m1", True).result()
        later.world.follow()
        assert known(later.world) == ["w0", "m0"]
        assert all(cursor.settled > 1_000_000 for cursor in (later.world._events, later.world._changes))
