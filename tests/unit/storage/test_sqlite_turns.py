"""Processes that write to one SQLite file take turns: who waits goes on soon, and nobody waits for ever."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from kaczmatch.service.domain.records import HeldPerson
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.storage import SqlStore, group, sqlite


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path, store: SqlStore) -> Iterator[sqlite3.Connection]:
    """Another process that writes, and takes its time."""
    del store  # which has made the file
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def put(name: str) -> Callable[[Transaction], None]:
    return lambda transaction: transaction.put(HeldPerson(user=name, actor="1"))


def names(store: SqlStore) -> set[str]:
    with store.read() as reader:
        return {held.user for held in reader.find(HeldPerson)}


def test_a_commit_waits_for_another_process_and_looks_often(
    store: SqlStore, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never waits much longer than it has to: half a millisecond, a twentieth of what it has waited, ten milliseconds."""
    now, pauses = 0.0, list[float]()

    def pause(seconds: float) -> None:
        nonlocal now
        assert seconds <= min(max(sqlite.LOOK_AGAIN, now / 20), 0.01)
        now += seconds
        pauses.append(seconds)
        if now > 1.0 and other.in_transaction:
            other.execute("COMMIT")

    monkeypatch.setattr(sqlite, "time", SimpleNamespace(sleep=pause, monotonic=lambda: now))
    store.write(put("ann")).result(60)
    assert names(store) == {"ann"}
    assert pauses[0] == sqlite.LOOK_AGAIN
    assert 1.0 < now < 1.1
    assert len(pauses) < 250  # a long wait costs next to nothing


def test_who_waits_too_long_is_told_and_nothing_is_written_later(
    store: SqlStore, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "WAIT", 0.02)
    monkeypatch.setattr(group, "PAUSES", (0.0,))
    with pytest.raises(StoreUnavailable, match="locked"):
        store.write(put("ann")).result(60)
    other.execute("ROLLBACK")
    store.write(put("bob")).result(60)
    assert names(store) == {"bob"}


def test_a_write_is_told_after_five_seconds_and_those_behind_it_at_once(
    store: SqlStore, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that writes for long is waited for once, however many works queue and however often a commit is tried."""
    now = 0.0

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds

    clock = SimpleNamespace(sleep=pause, monotonic=lambda: now)
    monkeypatch.setattr(sqlite, "time", clock)
    monkeypatch.setattr(group, "time", clock)  # which would try again
    with pytest.raises(StoreUnavailable, match="locked"):
        store.write(put("ann")).result(60)
    assert now < 5.2
    for name in ("bob", "cem"):
        before = now
        with pytest.raises(StoreUnavailable, match="locked"):
            store.write(put(name)).result(60)
        assert now - before < 0.2
    other.execute("ROLLBACK")
    store.write(put("dia")).result(60)
    assert names(store) == {"dia"}


def test_a_process_that_is_killed_while_it_writes_holds_nobody_up(store: SqlStore, tmp_path: Path) -> None:
    program = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    program += "c.execute('BEGIN IMMEDIATE'); print('begun', flush=True); time.sleep(600)"
    command = [sys.executable, "-c", program, str(tmp_path / "store.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as victim:  # noqa: S603
        assert victim.stdout is not None
        assert victim.stdout.readline() == b"begun\n"
        waiting = store.write(put("ann"))
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        victim.kill()
    waiting.result(60)
    assert names(store) == {"ann"}


def test_a_log_that_another_process_is_moving_is_emptied_afterwards(store: SqlStore, tmp_path: Path) -> None:
    """SQLite waits for readers, but not for another one that moves the log, who here waits for a reader."""
    file, log = tmp_path / "store.db", tmp_path / "store.db-wal"

    def connected() -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False))

    def move(mover: sqlite3.Connection) -> None:
        while mover.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            pass  # it does not wait for the one who looks whether it has begun, either

    with connected() as mover, connected() as looking, ThreadPoolExecutor() as threads, connected() as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM held_people").fetchone()
        store.write(put("ann")).result(60)
        moving = threads.submit(move, mover)
        while not looking.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[0]:
            time.sleep(0.01)
        emptying = threads.submit(store.scrub)
        with pytest.raises(TimeoutError):
            emptying.result(0.2)
        reader.execute("COMMIT")
        emptying.result(60)
        moving.result(60)
    assert log.stat().st_size == 0
