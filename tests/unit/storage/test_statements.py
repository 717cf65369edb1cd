"""Rows are found by an index, whatever is asked for by key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from kaczmatch.service.domain.records import RECORDS, Person, PersonCounters, Record
from kaczmatch.storage import SqlStore, postgres, searching, sqlite, sqlite_statements
from kaczmatch.storage.codec import codec


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    store = SqlStore(f"sqlite:///{tmp_path_factory.mktemp('plans')}/store.db")
    with store.database.readers.connect() as connection:
        yield connection
    store.close()


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.table)
@pytest.mark.parametrize(
    "text",
    [
        lambda code: sqlite_statements.select(code, 4),
        lambda code: sqlite_statements.select(code, 4, counted=True),
        sqlite_statements.delete,
    ],
    ids=["read", "count", "delete"],
)
def test_sqlite_never_scans_a_table_for_keys(connection: Connection, kind: type[Record], text: Callable[[Any], str]) -> None:
    query = text(codec(kind))
    plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", ("x",) * query.count("?"))]
    assert not any(line.startswith((f"SCAN {kind.table}", "SCAN t")) for line in plan), plan
    assert any(line.startswith((f"SEARCH {kind.table} USING", "SEARCH t USING")) for line in plan), plan


def test_sqlite_scans_no_table_for_people_by_their_ids(connection: Connection) -> None:
    query = sqlite_statements.select_own(codec(Person), 4)
    plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", ("x",) * query.count("?"))]
    assert not any(line.startswith(("SCAN p", "SCAN t")) for line in plan), plan
    assert sum(line.startswith(("SEARCH p USING", "SEARCH t USING")) for line in plan) == 2, plan


def test_open_sessions_are_found_by_their_own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of only some records is found where a statement says of which, not where a value does."""
    asked: list[str] = []
    run = searching.rows_of
    here = threading.get_ident()

    def noted(on: Connection, text: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
        # A service that serves a whole module of tests reads its changes in a thread of its own.
        if threading.get_ident() == here:
            asked.append(text)
        return run(on, text, values)

    monkeypatch.setattr(searching, "rows_of", noted)
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store, store.read() as reader:
        reader.find(PersonCounters, in_session=True, limit=10)
        with store.database.readers.connect() as connection:
            plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked[0]}", (10,))]
    assert plan == ["SCAN person_counters USING INDEX person_counters_last_swipe_at_user"]


@given(st.integers(1, 2_000))
def test_parts_hold_everything_once_in_powers_of_two(n: int) -> None:
    rows = [(i,) for i in range(n)]
    parts = list(sqlite.parts(rows))
    assert [row for part in parts for row in part] == rows
    assert all(len(part).bit_count() == 1 and len(part) <= sqlite.LARGEST for part in parts)
    assert len(parts) <= n // sqlite.LARGEST + 8


@given(st.integers(1, 2_000))
def test_padding_adds_no_keys(n: int) -> None:
    rows = [(i,) for i in range(n)]
    parts = list(sqlite.padded(rows))
    assert [row for part in parts for row in part if row != (None,)] == rows
    assert all(len(part).bit_count() == 1 for part in parts)


def test_locks_are_numbers_of_64_bits_with_a_sign() -> None:
    numbers = [postgres.lock_number(f"person {i}") for i in range(1_000)]
    assert len(set(numbers)) == 1_000
    assert all(-(2**63) <= number < 2**63 for number in numbers)
    assert min(numbers) < 0 < max(numbers)
