"""The log of SQLite: commits write there alone, a thread moves it into the database, and it stays short."""

from __future__ import annotations

import resource
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from kaczmatch.service.domain.records import HeldPerson
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.storage import SqlStore
from worlds.stores import held


def test_a_commit_leaves_the_database_of_sqlite_alone_and_a_thread_moves_the_log_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To move the log takes as long as the disk does, and everybody would wait for that commit."""
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.MOVE_EVERY", 3600)
    store, file = SqlStore(f"sqlite:///{tmp_path}/store.db"), tmp_path / "store.db"

    def write(letter: str) -> None:
        many = [HeldPerson(user=f"{place}", actor=letter * 40_000) for place in range(400)]
        for first in range(0, 400, 50):
            some = many[first : first + 50]
            store.write(lambda transaction, some=some: [transaction.put(one) for one in some]).result()

    before = file.read_bytes()
    write("a")  # 16 MB, four times what SQLite would have moved by itself
    assert file.read_bytes() == before
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.MOVE_EVERY", 0)
    write("b")
    deadline = time.monotonic() + 60
    while b"b" * 1_000 not in file.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    store.close()


def test_a_commit_of_sqlite_makes_no_temporary_file(tmp_path: Path) -> None:
    """Statements of many rows note what they change, to be able to undo it. That is people's data, and as much as the commit."""
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        many = [HeldPerson(user=f"{place}", actor="a" * 1_000) for place in range(1_000)]
        store.write(lambda transaction: [transaction.put(one) for one in many]).result()
        with held(store):  # what follows is one commit
            changed = [replace(one, actor="b" * 1_000) for one in many]
            store.write(lambda transaction: [transaction.put(one) for one in changed])
            files = store.write(lambda transaction: (transaction.count(HeldPerson), open_files()))
        number, names = files.result()
    assert number == len(many)
    assert any("store.db-wal" in name for name in names)
    assert not [name for name in names if "etilqs" in name], "a temporary file of SQLite"


def open_files() -> list[str]:
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return found


def test_the_log_of_sqlite_does_not_grow_under_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is always somebody reading, so SQLite by itself would never start its log anew."""
    limit = 2**20
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.LONG_LOG", limit)
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    over = Event()

    def read() -> None:
        """The next one starts before the last one has ended."""
        last = ExitStack()
        while not over.wait(0.01):
            following = ExitStack()
            following.enter_context(store.read()).find(HeldPerson, limit=1)
            last.close()
            last = following
        last.close()

    reading = Thread(target=read)
    reading.start()
    longest = 0
    for i in range(200):
        store.write(
            lambda transaction, i=i: [
                transaction.put(HeldPerson(user=f"{i % 30}-{j}", actor=f"{i:04}" * 1_000)) for j in range(20)
            ]
        ).result()
        longest = max(longest, (tmp_path / "store.db-wal").stat().st_size)
    over.set()
    reading.join()
    store.close()
    assert longest < 4 * limit


def test_a_thread_that_cannot_be_started_undoes_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system with no room for another thread says so when the log is to be moved: works that are committed do not run again."""

    def no_room(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    ran: list[str] = []

    def work(name: str) -> Callable[[Transaction], None]:
        return lambda transaction: (ran.append(name), transaction.put(HeldPerson(user=name, actor="x")))[1]

    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        monkeypatch.setattr("kaczmatch.storage.sqlite_log.MOVE_EVERY", -1)
        with monkeypatch.context() as patch:
            patch.setattr(Thread, "start", no_room)
            with held(store):
                futures = [store.write(work(name)) for name in ("a", "b")]
            assert [future.result() for future in futures] == [None, None]
        assert ran == ["a", "b"]
        store.scrub()  # waits for whoever moves the log


def test_a_disk_that_is_full_when_the_log_is_moved_undoes_no_commit(tmp_path: Path) -> None:
    """What is committed is in the log already: it was written, and is not written again."""
    file = tmp_path / "store.db"
    with closing(SqlStore(f"sqlite:///{file}")) as store:
        store.write(lambda tx: [tx.put(HeldPerson(user=str(i), actor="x" * 3_000)) for i in range(300)]).result()
        store.scrub()
        ran: list[str] = []

        def work(name: str) -> Callable[[Transaction], None]:
            def one(transaction: Transaction) -> None:
                ran.append(name)
                transaction.put(HeldPerson(user=name, actor="x" * 50_000))

            return one

        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        store.database.log._too_long = 0  # type: ignore[attr-defined]
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, hard))  # the database cannot grow, its log can
        try:
            with held(store):
                futures = [store.write(work(name)) for name in ("a", "b")]
            assert [future.result() for future in futures] == [None, None]
            with pytest.raises(StoreUnavailable):
                store.scrub()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert ran == ["a", "b"]
        store.scrub()


def test_a_log_that_cannot_be_moved_is_said_and_commits_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.MOVE_EVERY", 0)

    def fail(_: object) -> int:
        raise sqlite3.OperationalError("disk I/O error")

    def said(problem: str, store: SqlStore) -> None:
        """A thread moves it: some commit is the one after which it says so."""
        deadline = time.monotonic() + 60
        while store.problem() != problem:
            store.write(lambda transaction: transaction.put(HeldPerson(user="ann", actor="1"))).result()
            assert time.monotonic() < deadline, store.problem()

    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        with monkeypatch.context() as patched:
            patched.setattr("kaczmatch.storage.sqlite_log._move", fail)
            said("the write-ahead log cannot be moved into the database: disk I/O error", store)
        said("", store)
