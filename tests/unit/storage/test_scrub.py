"""After a scrub nothing of what was dropped is in the files of the database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import Event, FeatureSnapshot, HeldPerson, LatestDecision, PersonNumber, Record
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.storage import SqlStore

CANARY = "canary-7f3a"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def plant(transaction: Transaction) -> None:
    for i in range(200):
        who = CANARY if i % 9 == 0 else f"person {i}"
        transaction.put(HeldPerson(user=f"{who} {i}", actor=who * 20))
        transaction.put(LatestDecision(user=f"{i}", candidate=f"{who} {i}", decision="like", at=NOW, swipe=who))
        transaction.append(Event(user=f"{who} {i}", id="1", kind="swiped", at=NOW, deck=who))
        transaction.put(FeatureSnapshot(user=f"{who} {i}", version=1, features=who.encode() * (i * 5)))


def remove(transaction: Transaction) -> None:
    kinds: tuple[type[Record], ...] = (HeldPerson, LatestDecision, Event, FeatureSnapshot, PersonNumber)
    for record in [record for kind in kinds for record in transaction.find(kind)]:
        if CANARY in repr(record):
            transaction.drop(type(record), *record.identity())


def found(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


def test_sqlite(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    store.write(plant).result()
    assert found(tmp_path)
    store.write(remove).result()
    assert found(tmp_path) == ["store.db-wal"]
    store.scrub()
    assert found(tmp_path) == []
    with store.read() as reader:
        assert reader.count(HeldPerson) == 177
    store.close()


def test_sqlite_says_when_a_reader_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.storage.sqlite.WAIT", 0.1)
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    store.write(plant).result()
    with store.read() as reader:
        reader.count(HeldPerson)
        store.write(remove).result()
        with pytest.raises(StoreUnavailable):
            store.scrub()
    store.scrub()
    assert found(tmp_path) == []
    store.close()


def test_postgres(postgres: Any, postgres_url: str) -> None:
    """In the tables; the server's own log goes when it is recycled, which is not ours to do."""
    store = SqlStore(postgres_url)
    store.write(plant).result()
    postgres.ask("CHECKPOINT")
    assert found(postgres.data / "base")
    store.write(remove).result()
    store.scrub()
    postgres.ask("CHECKPOINT")
    assert found(postgres.data / "base") == []
    with store.read() as reader:
        assert reader.count(HeldPerson) == 177
    store.close()
