"""What only PostgreSQL can do wrong: commits whose outcome is unknown, and plans that read whole tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from kaczmatch.service.domain.records import HeldPerson, LatestDecision, PersonCounters
from kaczmatch.service.domain.store import OutcomeUnknown, Transaction
from kaczmatch.storage import SqlStore
from kaczmatch.storage.codec import codec
from kaczmatch.storage.postgres_statements import select


@pytest.fixture
def store(postgres_url: str) -> Iterator[SqlStore]:
    kept = SqlStore(postgres_url)
    yield kept
    kept.close()


def rise(transaction: Transaction) -> int:
    standing = transaction.get(PersonCounters, "ann") or PersonCounters(user="ann")
    transaction.put(replace(standing, swipes=standing.swipes + 1))
    return standing.swipes + 1


@pytest.mark.parametrize("committed", [True, False], ids=["after it was committed", "before it was committed"])
def test_a_connection_lost_while_committing_counts_once(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    dialect = store.database.writer.dialect
    commit = dialect.do_commit
    cuts = 1

    def cut(connection: Any) -> None:
        nonlocal cuts
        if cuts == 0:
            commit(connection)
            return
        cuts -= 1
        if committed:
            commit(connection)
        connection.driver_connection.close()
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(dialect, "do_commit", cut)
    assert store.write(rise).result(30) == 1
    assert store.write(rise).result(30) == 2


def test_nobody_is_told_a_guess(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is lost while committing, and the server cannot be asked."""

    def cut(connection: Any) -> None:
        connection.driver_connection.close()
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(store.database.writer.dialect, "do_commit", cut)
    monkeypatch.setattr("kaczmatch.storage.postgres.Postgres.was_committed", lambda _: None)
    with pytest.raises(OutcomeUnknown):
        store.write(rise).result(30)


def test_keys_are_found_by_the_index(store: SqlStore) -> None:
    """In a table that is small enough for a server to prefer reading all of it."""
    now = datetime(2026, 1, 2, tzinfo=UTC)

    def fill(transaction: Transaction) -> None:
        for i in range(2_000):
            transaction.put(LatestDecision(user=f"{i % 50}", candidate=f"{i // 50}", decision="like", at=now, swipe="s"))

    store.write(fill).result()
    keys = [[64] * 256, list(range(256))]
    with store.database.writer.begin() as connection:
        connection.exec_driver_sql("ANALYZE latest_decisions")
        plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {select(codec(LatestDecision))}", tuple(keys)))
    assert "Index Scan using latest_decisions_pkey" in plan, plan
    assert """Index Cond: (("user" = k.k0) AND (candidate = k.k1))""" in plan, plan


def test_what_is_read_again_is_not_planned_again(store: SqlStore) -> None:
    """A plan over the parts of a table takes the server longer than its answer does."""
    for _ in range(12):  # the driver has a statement prepared once it has come five times
        with store.read() as reader:
            reader.get(PersonCounters, "ann")
    with store.database.readers.connect() as connection:
        found = connection.exec_driver_sql("SELECT statement FROM pg_prepared_statements").fetchall()
    assert any("person_numbers" in statement for (statement,) in found)


def test_errors_name_nobody(store: SqlStore) -> None:
    """They end up in logs."""
    with store.read() as reader, pytest.raises(Exception, match=r"LIMIT") as caught:
        reader.find(HeldPerson, user="canary-7f3a", limit=-1)
    assert "canary-7f3a" not in str(caught.value)


def test_many_stores_do_not_wait_for_strangers(postgres_url: str) -> None:
    """A store that works on somebody does not hold up one that works on somebody else."""
    first, second = SqlStore(postgres_url), SqlStore(postgres_url)

    def outer(transaction: Transaction) -> None:
        second.write(lambda inner: inner.put(HeldPerson(user="inner", actor="1")), locks=["bob"]).result(10)
        transaction.put(HeldPerson(user="outer", actor="1"))

    first.write(outer, locks=["ann"]).result(20)
    with first.read() as reader:
        assert reader.count(HeldPerson) == 2
    first.close()
    second.close()
