"""After a scrub nothing of what was dropped is in the files of the database."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import (
    RECORDS,
    AbuseReport,
    AuditEntry,
    Change,
    DeckAppearances,
    Delivery,
    DemoStart,
    ErasedUser,
    Event,
    FeatureSnapshot,
    HeldPerson,
    ImportProgress,
    LastWebhookError,
    LatestDecision,
    MatchSide,
    Model,
    OutboxMessage,
    PendingScrub,
    PersonCounters,
    PersonNumber,
    PublishedPicks,
    Record,
    RequestMinute,
    SeenTraits,
    ServiceKey,
    ServiceStart,
    ServingProcess,
    StoredConsoleSession,
    StoredDeck,
    StoredExposure,
    StoredLease,
    StoredPrior,
    StoredState,
    StoredTraits,
    StoredVocabulary,
)
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.storage import SqlStore
from kaczmatch.storage.codec import codec

CANARY = "canary-7f3a"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def plant(transaction: Transaction) -> None:
    for i in range(200):
        who = CANARY if i % 9 == 0 else f"person {i}"
        transaction.put(HeldPerson(user=f"{who} {i}", actor="key"))
        transaction.put(LatestDecision(user=f"{i}", candidate=f"{who} {i}", decision="like", at=NOW, swipe="s"))
        transaction.append(Event(user=f"{who} {i}", id="1", kind="swiped", at=NOW))
        transaction.put(AbuseReport(id=f"{i}", user=f"{who} {i}", other=f"{i}", reason="rude", text=who, at=NOW))
        transaction.put(FeatureSnapshot(user=f"{who} {i}", version=1, features=who.encode() * (i * 5)))


def remove(transaction: Transaction) -> list[int]:
    kinds: tuple[type[Record], ...] = (HeldPerson, LatestDecision, Event, FeatureSnapshot, AbuseReport, PersonNumber)
    gone = [record for kind in kinds for record in transaction.find(kind) if CANARY in repr(record)]
    for record in gone:
        transaction.drop(type(record), *record.identity())
    return [record.number for record in gone if isinstance(record, PersonNumber)]


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
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.PATIENCE", 0.1)
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


def test_writes_go_on_while_a_reader_keeps_the_log_from_being_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of another process, and a scrub that tries for as long as it reads."""
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.PATIENCE", 600.0)
    store, log = SqlStore(f"sqlite:///{tmp_path}/store.db"), tmp_path / "store.db-wal"
    store.write(plant).result()
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader, ThreadPoolExecutor(1) as beside:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM held_people").fetchone()
        store.write(remove).result()
        scrub = beside.submit(store.scrub)
        for place in range(50):
            one = HeldPerson(user=f"late {place}", actor="key")
            store.write(lambda transaction, one=one: transaction.put(one)).result(timeout=20)
        assert not scrub.done(), "the log was emptied under a reader"
        reader.execute("COMMIT")
        scrub.result(timeout=20)
    assert log.stat().st_size == 0
    assert found(tmp_path) == []
    store.close()


def test_a_scrub_that_cannot_be_done_now_is_done_by_a_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the job does that calls it again and again."""
    monkeypatch.setattr("kaczmatch.storage.sqlite_log.PATIENCE", 0.0)
    store, written = SqlStore(f"sqlite:///{tmp_path}/store.db"), 0
    store.write(plant).result()
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM held_people").fetchone()
        store.write(remove).result()
        for place in range(20):
            with pytest.raises(StoreUnavailable):
                store.scrub()
            store.write(lambda transaction, place=place: transaction.put(HeldPerson(user=f"{place}", actor="key"))).result()
            written += 1
        reader.execute("COMMIT")
    assert written == 20
    store.scrub()
    assert found(tmp_path) == []
    store.close()


def test_postgres(postgres: Any, new_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the tables; the server's own log goes when it is recycled, which is not ours to do."""
    monkeypatch.setattr("kaczmatch.storage.postgres.TRIES", 3)
    store = SqlStore(new_postgres_url)
    store.write(plant).result()
    postgres.ask("CHECKPOINT")
    assert found(postgres.data / "base")
    name = new_postgres_url.rpartition("/")[2]
    postgres.ask("ANALYZE", name)
    with store.read() as reader:
        reader.count(HeldPerson)  # of a moment when all were there
        numbers = store.write(remove).result()
        with pytest.raises(StoreUnavailable, match="reads the database for too long"):
            store.scrub(numbers)
    store.scrub(numbers)
    postgres.ask("CHECKPOINT")
    assert found(postgres.data / "base") == []
    with store.read() as reader:
        assert reader.count(HeldPerson) == 177
    store.close()


def test_a_scrub_touches_the_parts_of_whom_it_is_about_and_no_table_of_numbers(postgres: Any, new_postgres_url: str) -> None:
    """A table that is written anew gets another file."""
    store = SqlStore(new_postgres_url)
    store.write(plant).result()
    numbers = store.write(remove).result()

    def files() -> dict[str, int]:
        with store.database.readers.connect() as connection:
            query = "SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            return {str(row[0]): int(row[1]) for row in connection.exec_driver_sql(query)}

    before = files()
    store.scrub(numbers[:1])
    changed = sorted(name for name, file in files().items() if file != before[name])
    store.close()
    assert [name.rstrip("0123456789") for name in changed] == [
        "abuse_reports",
        "feature_snapshots_",
        "name_suffixes_",
        "people_",
        "person_numbers_",
    ]


# Text and bytes in tables that are not scrubbed. None names or describes anybody: ids that the service or the app makes, names
# that operators give, words of the service, hashes under a secret, and what was learned about a number that nobody has any more.
UNSCRUBBED: dict[type[Record], set[str]] = {
    PersonCounters: {"quota_use", "session", "last_deck"},
    HeldPerson: {"actor"},
    Event: {"deck", "undoes", "id", "match", "kind", "decision"},
    StoredState: {"state", "stability", "session_direction"},
    SeenTraits: {"swipe", "said", "site"},
    StoredTraits: {"sums"},
    StoredVocabulary: {"terms"},
    StoredPrior: {"data", "version"},
    Model: {"prior", "status", "learner", "settings"},
    LatestDecision: {"decision", "swipe", "first_answer"},
    StoredDeck: {"experiment", "sampler", "id", "arm", "policy", "reason", "unit", "cards"},
    DeckAppearances: {"entries"},
    StoredExposure: {"cards"},
    PublishedPicks: {"assignment"},
    MatchSide: {"outcomes", "id"},
    OutboxMessage: {"body", "topic", "id"},
    Delivery: {"message", "status", "problem"},
    LastWebhookError: {"problem", "topic"},
    ServingProcess: {"id"},
    Change: {"id"},
    ServiceKey: {"hash", "scopes", "id", "name"},
    StoredConsoleSession: {"secret_hash", "service_key"},
    ErasedUser: {"user_hash"},
    AuditEntry: {"actor", "id", "action"},
    StoredLease: {"holder", "name"},
    PendingScrub: {"last_deletion", "numbers"},
    ImportProgress: {"digest"},
    RequestMinute: {"process", "counts"},
    ServiceStart: {"version"},
    DemoStart: {"day"},
}


@pytest.mark.parametrize("kind", [kind for kind in RECORDS if not kind.personal], ids=lambda kind: kind.table)
def test_whoever_adds_text_says_whether_it_is_personal(kind: type[Record]) -> None:
    wordy = (str, bytes, tuple, date)
    assert {one.name for one in codec(kind).columns if one.type in wordy and not one.person} == UNSCRUBBED.get(kind, set())
