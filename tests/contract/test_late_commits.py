"""A commit that comes late is seen, once, and holds up nobody else's. On PostgreSQL; elsewhere commits come in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
from sqlalchemy import event as hooks

from kaczmatch.service.domain.records import RECORDS, AuditEntry, Change, Event, LogRecord, OutboxMessage
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Cursor, Store, Transaction
from kaczmatch.service.meeting.profiles import set_paused
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.trait_pass import TraitPass
from kaczmatch.storage import SqlStore
from kaczmatch.storage.postgres import Postgres
from worlds import snapshots
from worlds.postgres import Server
from worlds.stores import NOW, event, open_store, put
from worlds.town import Town

LOGS = [kind for kind in RECORDS if issubclass(kind, LogRecord)]


@contextmanager
def late(store: SqlStore, work: Callable[[Transaction], Any]) -> Iterator[Callable[[], Any]]:
    """A work of another process that has written everything and does not commit until it is told to."""
    entered, go = Signal(), Signal()

    def wait(_: object) -> None:
        entered.set()
        assert go.wait(60)

    hooks.listen(store.database.writer, "commit", wait)
    future = store.write(work)

    def commit() -> Any:
        go.set()
        return future.result(60)

    try:
        assert entered.wait(60)
        yield commit
    finally:
        commit()
        hooks.remove(store.database.writer, "commit", wait)


def line(kind: type[LogRecord], name: str) -> LogRecord:
    if kind is Event:
        return event("ann", name)
    if kind is Change:
        return Change(id=name, user="ann", at=NOW)
    if kind is AuditEntry:
        return AuditEntry(id=name, at=NOW, actor="ann", action="looked")
    assert kind is OutboxMessage
    return OutboxMessage(id=name, topic="match.created", user="ann", at=NOW)


def became_visible(store: Store, kind: type[LogRecord], since: Cursor | None, limit: int = 1_000) -> tuple[list[str], Cursor]:
    with store.read() as reader:
        lines, cursor = reader.became_visible(kind, since, limit)
    return [one.id for one in lines], cursor


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(request.param, request, tmp_path)) as kept:
        yield kept


@pytest.mark.parametrize("kind", LOGS)
def test_every_line_of_a_log_is_read_once(store: Store, kind: type[LogRecord]) -> None:
    put(store, line(kind, "a"))
    nothing, cursor = became_visible(store, kind, None)
    assert nothing == []
    for names in (["b"], [], ["c", "d"]):
        put(store, *(line(kind, name) for name in names))
        found, cursor = became_visible(store, kind, cursor)
        assert found == names
    assert became_visible(store, kind, cursor)[0] == []


def test_a_page_at_a_time(store: Store) -> None:
    _, start = became_visible(store, Event, None)
    put(store, *(line(Event, f"{place}") for place in range(5)))
    put(store, *(line(Event, f"{place}") for place in range(5, 7)))
    for cursor in (start, Cursor()):
        found = []
        while len(found) < 7:
            names, cursor = became_visible(store, Event, cursor, 2)
            assert 1 <= len(names) <= 2
            found += names
            assert cursor.newest == start.newest + len(found), "what is beyond a page is not read yet"
        assert found == [f"{place}" for place in range(7)]
        assert became_visible(store, Event, cursor)[0] == []


def test_whoever_comes_back_goes_on_from_what_is_settled(store: Store) -> None:
    put(store, line(Event, "a"))
    _, cursor = became_visible(store, Event, Cursor())
    put(store, line(Event, "b"))
    assert became_visible(store, Event, Cursor(cursor.settled))[0] == ["b"]
    with store.read() as reader:
        newest = reader.find(Event, newest=True, limit=1)[0].number
    assert became_visible(store, Event, cursor)[1].settled == newest


@pytest.fixture
def two(postgres_url: str) -> Iterator[tuple[SqlStore, SqlStore]]:
    with closing(SqlStore(postgres_url)) as one, closing(SqlStore(postgres_url)) as other:
        yield one, other


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("limit", [1, 2, 1_000])
def test_a_commit_that_comes_late_is_read_once_and_holds_up_no_other(
    two: tuple[SqlStore, SqlStore], kind: type[LogRecord], limit: int
) -> None:
    """The numbers of what hangs are lower than those of others. Several transactions hang, and end in another order."""
    store, hanging = two
    put(store, line(kind, "before"))
    _, cursor = became_visible(store, kind, None)
    seen: list[str] = []

    def follow() -> list[str]:
        nonlocal cursor
        fresh: list[str] = []
        while True:
            found, cursor = became_visible(store, kind, cursor, limit)
            fresh += found
            if not found:
                seen.extend(fresh)
                return fresh

    with closing(SqlStore(store.database.writer.url.render_as_string(hide_password=False))) as third:
        with (
            late(hanging, lambda tx: tx.append(line(kind, "late"))) as commit,
            late(third, lambda tx: tx.append(line(kind, "later"))) as commit_other,
        ):
            for place in range(20):
                put(store, line(kind, f"{place}"))
                assert follow() == [f"{place}"]
                durable = Cursor(cursor.settled)
            commit()
            put(store, line(kind, "between"))
            assert sorted(follow()) == ["between", "late"]
            assert follow() == []
            commit_other()
        assert follow() == ["later"]
        put(store, line(kind, "after"))
        assert follow() == ["after"]
    assert len(set(seen)) == len(seen) == 20 + 4
    assert set(became_visible(store, kind, durable)[0]) >= set(seen), "a process that begins again misses none"
    with store.read() as reader:
        assert cursor.settled == max(one.number for one in reader.find(kind))


def test_what_is_settled_has_no_line_before_it_that_is_still_to_come(two: tuple[SqlStore, SqlStore]) -> None:
    store, hanging = two
    put(store, line(Event, "first"))
    _, cursor = became_visible(store, Event, Cursor())
    first = cursor.settled
    assert first > 0
    with late(hanging, lambda tx: tx.append(line(Event, "late"))) as commit:
        for place in range(3):
            put(store, line(Event, f"{place}"))
            _, cursor = became_visible(store, Event, cursor)
            _, fresh = became_visible(store, Event, None)
            assert cursor.settled == first
            assert fresh.settled == 0
            assert fresh.newest == cursor.newest
        commit()
    for opened in (cursor, fresh):
        assert became_visible(store, Event, opened)[1].settled == cursor.newest


def test_only_new_lines_are_looked_at_while_a_transaction_hangs(two: tuple[SqlStore, SqlStore]) -> None:
    """By the index: however many were committed since that transaction began."""
    store, hanging = two
    put(store, line(Event, "before"))  # from here on the person has a number
    with late(hanging, lambda tx: tx.append(line(Event, "late"))):
        for first in range(0, 3_000, 1_000):
            put(store, *(line(Event, f"{place}") for place in range(first, first + 1_000)))
        _, cursor = became_visible(store, Event, Cursor(), 10_000)
        looked_at: list[int] = []
        with store.database.readers.connect() as connection:
            raw: Any = connection.connection.driver_connection
            ask = raw.execute

            def explained(statement: str, values: Any = ()) -> Any:
                if "txid" in statement:
                    plan = ask(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).fetchone()[0][0]["Plan"]
                    looked_at.append(_rows(plan))
                return ask(statement, values)

            raw.execute = explained
            try:
                assert isinstance(store.database, Postgres)
                store.database.became_visible(connection, Event, cursor, 10_000)
            finally:
                del raw.execute
        assert sum(looked_at) <= 1, "what hangs, and nothing that was read before"


def _rows(plan: dict[str, Any]) -> int:
    """Those that the leaves of a plan have read."""
    below = plan.get("Plans", [])
    own = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) if not below else 0
    return int(own) + sum(map(_rows, below))


@pytest.fixture
def towns(two: tuple[SqlStore, SqlStore]) -> tuple[Town, SqlStore]:
    return Town(two[0]), two[1]


def known(world: ServingIndex) -> list[str]:
    return [user for user in ("w0", "m0", "m1", "m2") if user in world.recommender.index]


def test_every_process_sees_a_person_who_resumes_late(towns: tuple[Town, SqlStore]) -> None:
    """Others who pause meanwhile are seen at once. Changes are kept for as long as one may still turn up among them."""
    town, hanging = towns
    town.couples(3)
    other = ServingIndex(town.context)
    other.load()
    town.people.pause("m0", True).result()
    processes = [town.world, other]
    for world in processes:
        world.follow()
    assert [known(world) for world in processes] == [["w0", "m1", "m2"]] * 2
    m0 = town.people.get("m0")
    with late(hanging, lambda tx: set_paused(tx, town.context, m0, paused=False)) as commit:
        for user in ("m1", "m2"):
            town.people.pause(user, True).result()
            for world in processes:
                world.follow()
                assert user not in world.recommender.index
        town.wait(minutes=30)  # changes are kept for five minutes, if every process has read them
        for world in processes:
            world.follow()
        Maintenance(town.context).run()
        started_meanwhile = ServingIndex(town.context)
        started_meanwhile.load()
        processes.append(started_meanwhile)
        assert [known(world) for world in processes] == [["w0"]] * 3
        commit()
    for world in processes:
        world.follow()
    assert [known(world) for world in processes] == [["w0", "m0"]] * 3
    assert [world.follow() for world in processes] == [0] * 3, "once"


def test_a_server_that_is_killed_meanwhile_loses_no_line(postgres: Server, postgres_url: str) -> None:
    """What hung is gone with the server, and is tried again when that is back."""
    with closing(SqlStore(postgres_url)) as store:
        put(store, line(Event, "a"))
        _, cursor = became_visible(store, Event, None)
        with closing(SqlStore(postgres_url)) as hanging, late(hanging, lambda tx: tx.append(line(Event, "late"))):
            put(store, line(Event, "b"))
            postgres.crash()
            postgres.start()
        put(store, line(Event, "c"))
        found, cursor = became_visible(store, Event, cursor)
        assert sorted(found) == ["b", "c", "late"]
        assert became_visible(store, Event, cursor)[0] == []


def test_changes_are_kept_while_a_lower_one_may_come(towns: tuple[Town, SqlStore]) -> None:
    town, hanging = towns
    town.couples(1)
    with late(hanging, lambda tx: tx.append(Change(id="late", user="m0", at=town.now))) as commit:
        town.people.pause("w0", True).result()
        for _ in range(3):
            town.world.follow()
            town.wait(seconds=60)
            Maintenance(town.context).run()
        kept = {change.user for change in town.find(Change)}
        assert "w0" in kept
        commit()
    town.wait(minutes=5)
    for _ in range(2):
        town.world.follow()
        town.wait(minutes=1)
    Maintenance(town.context).run()
    assert town.find(Change) == []


def test_lines_that_a_tool_has_copied_from_another_server_come_before_everything(postgres: Server, postgres_url: str) -> None:
    with closing(SqlStore(postgres_url)) as store:
        put(store, line(Event, "a"), line(Event, "b"))
    name = postgres_url.rpartition("/")[2]
    postgres.ask("UPDATE events SET txid = '1000000000000' WHERE id = 'b'", name)
    with closing(SqlStore(postgres_url)) as store:
        _, cursor = became_visible(store, Event, None)
        for added in ("c", "d"):
            put(store, line(Event, added))
            found, cursor = became_visible(store, Event, cursor)
            assert found == [added]


def test_a_model_is_built_up_to_where_no_event_can_turn_up(towns: tuple[Town, SqlStore]) -> None:
    """The pass through the log waits for a commit that hangs. Nobody waits for the pass."""
    town, hanging = towns
    town.couples(1)
    town.swipe_outside("w0", "m0")
    turns = iter([True] * 3 + [False])
    with late(hanging, lambda tx: tx.append(event("m0", "late"))) as commit:
        town.swipe_outside("w0", "m0", "pass")
        trait_pass = TraitPass(town.context, 1)
        assert trait_pass.last_event(lambda: next(turns)) is None
        assert next(turns, None) is None
        commit()
    assert trait_pass.last_event(lambda: True) == max(one.number for one in town.find(Event))


def test_a_snapshot_that_is_written_beside_a_commit_that_hangs_can_be_used(
    two: tuple[SqlStore, SqlStore], tmp_path: Path
) -> None:
    """What is dropped while it is written is in it: changes are kept for it as soon as its writer begins to read."""
    store, other = two
    town = snapshots.small_town(store, SnapshotFiles(tmp_path / "data" / "snapshot", least_people=0))
    town.wait(days=8)  # the one that is there is too old: everybody is read from the store
    town.world.follow()

    def write() -> None:
        with late(other, lambda tx: tx.append(Change(id="late", user="m1", at=town.now + timedelta(hours=1)))):
            ServingIndex(town.context).write_snapshot()
        town.wait(minutes=6)
        Maintenance(town.context).run()

    town.wait(minutes=1)
    town.world.follow()
    assert town.world.renew_snapshot(write)
    town.world.follow()
    index, built = snapshots.started(town)
    assert built == []
    assert snapshots.known(index, town) == snapshots.known(snapshots.from_store(town), town)
