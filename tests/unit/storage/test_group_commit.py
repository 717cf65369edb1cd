"""Works that wait at the same time are committed together, and one that fails harms no other."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from kaczmatch.service.domain.records import Change, HeldPerson, OutboxMessage, PersonCounters
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable, Transaction
from kaczmatch.storage import DuplicateKey, SqlStore, database
from kaczmatch.storage.group import LARGE_COMMIT
from kaczmatch.storage.postgres import MOST_LOCKS
from worlds.stores import held

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    address: str = f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    kept = SqlStore(url, waiting=500, together=100)
    yield kept
    kept.close()


@contextmanager
def commits(store: SqlStore) -> Iterator[list[int]]:
    done: list[int] = []

    def committed(_: Any) -> None:
        done.append(1)

    event.listen(store.database.writer, "commit", committed)
    yield done
    event.remove(store.database.writer, "commit", committed)


def message(id: str) -> OutboxMessage:
    return OutboxMessage(id=id, topic="match.created", user="ann", at=NOW)


def put(name: str) -> Callable[[Transaction], None]:
    return lambda tx: tx.put(HeldPerson(user=name, actor="1"))


def names(store: SqlStore) -> set[str]:
    with store.read() as reader:
        return {held.user for held in reader.find(HeldPerson)}


def test_what_waits_is_committed_together(store: SqlStore) -> None:
    with commits(store) as done:
        with held(store):
            futures = [store.write(put(str(i))) for i in range(250)]
        for future in futures:
            future.result()
    assert len(done) == 1 + 3


def test_a_full_queue_says_so_at_once(store: SqlStore) -> None:
    with held(store):
        futures = [store.write(put(str(i))) for i in range(500)]
        assert store.waiting() == 500
        with pytest.raises(StoreUnavailable):
            store.write(put("one too many"))
    for future in futures:
        future.result()
    assert len(names(store)) == 500


def test_a_work_nobody_waits_for_any_more_is_not_run(store: SqlStore) -> None:
    with held(store):
        given_up = store.write(put("given up"))
        assert given_up.cancel()
        wanted = store.write(put("wanted"))
    wanted.result()
    assert names(store) == {"wanted"}


def test_works_of_one_commit_see_each_other_in_turn(store: SqlStore) -> None:
    def rise(transaction: Transaction) -> int:
        standing = transaction.get(PersonCounters, "ann") or PersonCounters(user="ann")
        transaction.put(replace(standing, swipes=standing.swipes + 1))
        return standing.swipes

    with held(store):
        rising = [store.write(rise, prefetch=[(PersonCounters, ("ann",))]) for _ in range(5)]
        counted = store.write(lambda tx: (tx.count(PersonCounters, swipes=5), tx.find(PersonCounters)[0].swipes))
        appended = store.write(lambda tx: tx.append(message("m")))
        line = store.write(lambda tx: tx.get(OutboxMessage, "m"))
        again = store.write(lambda tx: tx.append(message("m")))
        gone = store.write(lambda tx: (tx.drop(PersonCounters, "ann"), tx.drop(OutboxMessage, "m")))
        nobody = store.write(lambda tx: (tx.get(PersonCounters, "ann"), tx.many(OutboxMessage, [("m",)])))
        empty = store.write(lambda tx: tx.count(PersonCounters))
    assert [future.result() for future in rising] == [0, 1, 2, 3, 4]
    assert counted.result() == (1, 5)
    appended.result()
    found = line.result()
    assert found is not None
    assert found.number > 0
    with pytest.raises(DuplicateKey):
        again.result()
    gone.result()
    assert nobody.result() == (None, {})
    assert empty.result() == 0


def test_a_line_that_is_there_already_harms_no_other_work(store: SqlStore) -> None:
    store.write(lambda tx: tx.append(message("5"))).result()
    with held(store):
        futures = [
            store.write(
                lambda transaction, i=i: (
                    transaction.append(message(str(i))),
                    transaction.put(HeldPerson(user=str(i), actor="1")),
                )
            )
            for i in range(60)
        ]
    for i, future in enumerate(futures):
        if i == 5:
            with pytest.raises(DuplicateKey):
                future.result()
        else:
            future.result()
    assert names(store) == {str(i) for i in range(60) if i != 5}
    with store.read() as reader:
        assert [line.id for line in reader.find(OutboxMessage)] == ["5", *(str(i) for i in range(60) if i != 5)]


def before_statements(store: SqlStore, monkeypatch: pytest.MonkeyPatch, act: Callable[[str], None]) -> None:
    """Call something before every statement of a commit."""
    driven = database._driven

    def watched(connection: Any, statement: str, *values: Any, **how: Any) -> Any:
        if connection.engine is store.database.writer:
            act(statement)
        return driven(connection, statement, *values, **how)

    monkeypatch.setattr(database, "_driven", watched)


def test_an_error_of_the_database_cannot_be_swallowed_by_a_work(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(statement: str) -> None:
        if 'FROM "changes"' in statement:
            raise OperationalError("SELECT", {}, Exception("broken"))

    before_statements(store, monkeypatch, refuse)

    def swallow(transaction: Transaction) -> None:
        try:
            transaction.count(Change)
        except OperationalError:
            transaction.put(HeldPerson(user="half", actor="1"))

    with held(store):
        before, bad, after = store.write(put("before")), store.write(swallow), store.write(put("after"))
    before.result()
    after.result()
    with pytest.raises(OperationalError):
        bad.result()
    assert names(store) == {"before", "after"}


def test_a_commit_is_all_or_nothing_wherever_it_fails(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The n-th statement fails, for every n there is: none of the works of that commit is kept, or all are."""

    def work(transaction: Transaction, n: int) -> None:
        transaction.get(HeldPerson, "x")
        transaction.put(HeldPerson(user=f"{n}", actor="1"))
        transaction.put(PersonCounters(user=f"{n}"))
        transaction.append(message(f"{n}"))
        transaction.append(Change(id=f"{n}", user="ann", at=NOW))

    n, failed, statements = 0, True, 0

    def count_down(statement: str) -> None:
        nonlocal statements
        statements += 1
        if statements == n:
            raise RuntimeError("pulled the plug")

    before_statements(store, monkeypatch, count_down)
    while failed:
        n, statements = n + 1, 0
        future = store.write(lambda transaction, n=n: work(transaction, n), locks=["ann"])
        failed = future.exception() is not None
        with store.read() as reader:
            there = {
                reader.count(HeldPerson, user=f"{n}"),
                reader.count(PersonCounters, user=f"{n}"),
                reader.count(OutboxMessage, id=f"{n}"),
                reader.count(Change, id=f"{n}"),
            }
        assert there == ({0} if failed else {1})
    assert n > 5
    monkeypatch.undo()
    assert store.write(put("alive")).result() is None


def test_a_commit_that_fails_is_rolled_back(store: SqlStore) -> None:
    def refuse(connection: Any) -> None:
        raise RuntimeError("not today")

    event.listen(store.database.writer, "commit", refuse)
    with pytest.raises(RuntimeError, match="not today"):
        store.write(put("a")).result()
    event.remove(store.database.writer, "commit", refuse)
    store.write(put("b")).result()
    assert names(store) == {"b"}


@pytest.mark.parametrize("crowd", [3, MOST_LOCKS + 1])
def test_two_stores_on_one_database_lose_nothing(url: str, crowd: int) -> None:
    """Two stores stand for two processes."""
    stores = [SqlStore(url) for _ in range(2)]
    people, times = ["ann", "bob", "cem"], 60
    everybody = [*people, *(f"person {i}" for i in range(crowd - 3))]
    barrier = Barrier(2)

    def count(mine: int) -> None:
        barrier.wait()
        futures = []
        for i in range(times):
            pair = [people[(i + mine) % 3], people[(i + 1) % 3]]

            def work(transaction: Transaction, pair: list[str] = pair) -> None:
                for person in pair:
                    standing = transaction.get(PersonCounters, person) or PersonCounters(user=person)
                    transaction.put(replace(standing, swipes=standing.swipes + 1))

            futures.append(
                stores[mine].write(
                    work, locks=everybody if i % 20 == 0 else pair, prefetch=[(PersonCounters, (p,)) for p in pair]
                )
            )
            if i % 7 == 0:
                futures[-1].result()
        for future in futures:
            future.result()

    threads = [Thread(target=count, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with stores[0].read() as reader:
        assert sum(standing.swipes for standing in reader.find(PersonCounters)) == 2 * 2 * times
    for store in stores:
        store.close()


def test_a_disk_that_fails_while_committing_leaves_the_outcome_open(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SqlStore(url)) as store:
        store.write(put("before")).result()
        broken = sqlite3.OperationalError("disk I/O error") if url.startswith("sqlite") else psycopg.errors.IoError("fsync")
        if isinstance(broken, sqlite3.Error):
            broken.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC

        def fail(_: object) -> None:
            raise broken

        with monkeypatch.context() as failing:
            failing.setattr(store.database.writer.dialect, "do_commit", fail)
            with pytest.raises(OutcomeUnknown):
                store.write(put("perhaps")).result()
        store.write(put("after")).result()
        assert names(store) >= {"before", "after"}


def crowd(store: SqlStore, size: int) -> None:
    """So many are committed together."""
    with held(store):
        works = [store.write(put(f"crowd {place}")) for place in range(size)]
    for work in works:
        work.result()


def test_as_many_as_were_just_answered_are_waited_for(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.storage.group.LINGER", 30.0)
    crowd(store, LARGE_COMMIT)
    with commits(store) as done:
        works = [store.write(put("first"))]
        while store.waiting() != 1:
            time.sleep(0.001)
        works += [store.write(put(f"{place}")) for place in range(LARGE_COMMIT - 1)]
        for work in works:
            work.result(30)
    assert len(done) == 1


def test_few_wait_for_nobody_and_a_crowd_that_does_not_come_back_is_given_up(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaczmatch.storage.group.LINGER", 0.05)
    crowd(store, LARGE_COMMIT)
    store.write(put("alone")).result(30)
    monkeypatch.setattr("kaczmatch.storage.group.LINGER", 3_600.0)
    for place in range(3):
        store.write(put(f"{place}")).result(30)
    assert {"alone", "0", "1", "2"} <= names(store)


def test_closing_does_not_wait_for_those_who_might_come(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.storage.group.LINGER", 3_600.0)
    kept = SqlStore(url, together=100)
    crowd(kept, LARGE_COMMIT)
    last = kept.write(put("last"))
    kept.close()
    assert last.done()


def test_what_fails_after_a_commit_is_said_and_harms_no_work(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(store.database, "after_commit", fail)
        store.write(put("ann")).result()
        with held(store):  # the commit before has ended
            pass
        assert store.problem() == "after a commit: OSError: no room"
    store.write(put("bob")).result()
    with held(store):
        pass
    assert store.problem() == ""
    assert names(store) == {"ann", "bob"}


def test_the_place_of_a_page_is_kept_by_many_threads() -> None:
    """A full one made room by its oldest entry, which another thread had just removed."""
    places, errors = database.PlacesOfPages(), list[BaseException]()

    def fill(first: int) -> None:
        try:
            for person in range(first, first + 50_000):
                places.put(person % 9_000, person)
        except RuntimeError as error:
            errors.append(error)

    threads = [Thread(target=fill, args=(place * 1_000,)) for place in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert len(places._numbers) == database.MOST_PLACES
