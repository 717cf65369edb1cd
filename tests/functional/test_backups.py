"""Backups: consistent while in use, verified before they are called so, the same after a restore, from and to each."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.app.backups import LaterErasures, back_up, restore
from kaczmatch.app.composition import ledger_of, scrubbing_of, token_secret
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import (
    RECORDS,
    Event,
    HeldPerson,
    LastPersonNumber,
    Person,
    Record,
    ServingProcess,
    StoredState,
)
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore
from worlds.town import Town

Url = Callable[[str], str]


def silent(stage: str, done: int, total: int) -> None:
    assert stage
    assert 0 <= done <= max(total, 1)


def test_a_restore_beside_a_running_service_is_refused_before_anything_is_copied(tmp_path: Path) -> None:
    url, file, stages = f"sqlite:///{tmp_path}/store.db", tmp_path / "backup", list[str]()
    with closing(SqlStore(url)) as store:
        store.write(lambda transaction: transaction.put(HeldPerson(user="ann", actor="1"))).result()
        back_up(url, file, silent)
        with pytest.raises(InvalidInput, match="in use: stop the service first"):
            restore(file, url, lambda stage, *_: stages.append(stage), force=True)
        assert stages == []
        store.write(lambda transaction: transaction.put(HeldPerson(user="bob", actor="1"))).result()


def everything(url: str) -> dict[type[Record], list[Any]]:
    store = SqlStore(url)
    try:
        with store.read() as reader:
            return {kind: list(reader.find(kind)) for kind in RECORDS if kind is not LastPersonNumber}  # a restore skips some
    finally:
        store.close()


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Url:
    """The address of a database that is not there yet, or empty."""

    numbers = count()

    def make(kind: str) -> str:
        if kind == "postgres":
            return str(request.getfixturevalue("postgres_url"))
        return f"sqlite:///{tmp_path}/{next(numbers)}-store.db"

    return make


def lived(url: str) -> None:
    """A service with a little of everything."""
    town = Town(SqlStore(url))
    town.populate(8)
    town.swipe("p0", "p1"), town.swipe("p1", "p0")
    rng = random.Random(1)  # noqa: S311
    for number in range(60):
        one, two = rng.sample(range(8), 2)
        town.import_swipe(f"p{one}", f"p{two}", rng.choice(["like", "pass", "skip"]), id=f"import-{number}")
    feed = Feed(town.context)
    feed.acknowledge(feed.read()[1].number)
    Erasure(town.context, Scrubbing(town.context), ErasedTokens(town.context, b"secret")).erase("p7")
    town.context.store.close()


@pytest.mark.parametrize(("source", "target"), [("sqlite", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")])
def test_what_is_restored_equals_what_was_backed_up(url: Url, source: str, target: str, tmp_path: Path) -> None:
    first, second, file = url(source), url(target), tmp_path / "backup"
    lived(first)
    before = everything(first)
    made = back_up(first, file, silent)
    assert made.people == 7
    assert made.events == len(before[Event]) > 30
    assert made.rows == sum(map(len, before.values())) + 1
    bytes_before = file.read_bytes()
    assert restore(file, second, silent).rows == made.rows
    assert file.read_bytes() == bytes_before
    if target == "postgres":  # where processes stood in the logs of another server says nothing there
        before[ServingProcess] = []
    assert everything(second) == before
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]  # nothing half-made is left
    assert file.stat().st_mode & 0o077 == 0
    town = Town(SqlStore(second))
    last = max(one.number for one in everything(first)[Event])
    town.import_swipe("p0", "p3", id="after")
    with town.context.store.read() as reader:
        event = reader.get(Event, "p0", "after")
    assert event is not None
    assert event.number > last + 1_000  # what was numbered between backup and restore is not numbered again
    assert not verify(town.context).problems
    town.context.store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_under_load_is_one_moment_and_replays(url: Url, kind: str, tmp_path: Path) -> None:
    address = url(kind)
    town = Town(SqlStore(address))
    town.populate(20)
    stop = threading.Event()
    made = 0

    def load(seed: int) -> None:
        nonlocal made
        rng = random.Random(seed)  # noqa: S311
        while not stop.is_set():
            one, two = rng.sample(range(20), 2)
            town.import_swipe(f"p{one}", f"p{two}", rng.choice(["like", "pass"]))
            made += 1

    threads = [threading.Thread(target=load, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    backups = [back_up(address, tmp_path / f"backup{number}", silent) for number in range(3)]
    stop.set()
    for thread in threads:
        thread.join()
    town.context.store.close()
    events = [backup.events for backup in backups]
    assert events == sorted(events)
    assert made > 20
    restored = f"sqlite:///{tmp_path}/restored.db"
    restore(backups[-1].file, restored, silent)
    kept = everything(restored)
    assert len(kept[Event]) == events[-1]
    now = {(event.user, event.id): event for event in everything(address)[Event]}
    assert all(now[event.user, event.id] == event for event in kept[Event])


def broken(context: Context) -> None:
    """A state that is not the replay of its events."""
    with context.store.read() as reader:
        one, two = reader.find(StoredState, limit=2)

    def work(transaction: Transaction) -> None:
        transaction.put(
            StoredState(model=one.model, user=one.user, state=two.state, swipes=1, at=one.at, session_direction=b"", stability=())
        )

    context.store.write(work).result()


def test_what_does_not_replay_is_not_called_a_backup(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/store.db"
    lived(address)
    town = Town(SqlStore(address))
    broken(town.context)
    town.context.store.close()
    with pytest.raises(InvalidInput, match="is not the replay"):
        back_up(address, tmp_path / "backup", silent)
    assert not (tmp_path / "backup").exists()


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    address, file, target = f"sqlite:///{tmp_path}/store.db", tmp_path / "backup", tmp_path / "restored.db"
    lived(address)
    back_up(address, file, silent)
    whole = file.read_bytes()
    for damaged in (b"", b"hello", whole[: len(whole) // 2], whole[:4_096] + b"\xff" * 4_096 + whole[8_192:]):
        file.write_bytes(damaged)
        with pytest.raises(InvalidInput, match=r"backup|database"):
            restore(file, f"sqlite:///{target}", silent)
        assert not target.exists()
    with pytest.raises(InvalidInput, match="no file"):
        restore(tmp_path / "nothing", f"sqlite:///{target}", silent)


def test_nothing_is_overwritten_unasked_or_under_a_running_service(tmp_path: Path) -> None:
    address, other, file = f"sqlite:///{tmp_path}/store.db", f"sqlite:///{tmp_path}/other.db", tmp_path / "backup"
    lived(address)
    back_up(address, file, silent)
    with pytest.raises(InvalidInput, match="there already"):
        back_up(address, file, silent)
    back_up(address, file, silent, force=True)
    town = Town(SqlStore(other))
    town.populate(3)
    with pytest.raises(InvalidInput, match="--force"):
        restore(file, other, silent)
    with pytest.raises(InvalidInput, match="in use"):
        restore(file, other, silent, force=True)
    town.populate(3)
    town.context.store.close()
    restore(file, other, silent, force=True)
    assert everything(other) == everything(address)


def test_a_server_that_is_not_empty_is_replaced_only_when_asked(postgres_url: str, tmp_path: Path) -> None:
    address, file = f"sqlite:///{tmp_path}/store.db", tmp_path / "backup"
    lived(address)
    back_up(address, file, silent)
    town = Town(SqlStore(postgres_url))
    town.populate(3)
    town.context.store.close()
    before = everything(postgres_url)
    with pytest.raises(InvalidInput, match="not empty"):
        restore(file, postgres_url, silent)
    assert everything(postgres_url) == before
    restore(file, postgres_url, silent, force=True)
    assert everything(postgres_url) == everything(address) | {ServingProcess: []}


def test_a_backup_of_a_service_that_never_ran(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/store.db"
    SqlStore(address).close()
    assert back_up(address, tmp_path / "backup", silent).rows == 0
    with closing(sqlite3.connect(tmp_path / "backup")) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("delete",)


CANARY, NAME = "canary-7f3a91", "Canarina Xq9z"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_who_was_erased_after_the_backup_is_erased_again_by_restoring_it(
    url: Url, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address, file, data = url(kind), tmp_path / "backup", tmp_path / "data"
    settings = Settings(database=address, data=data)
    ledger, tokens = ledger_of(settings), token_secret(settings)
    town = Town(SqlStore(address))
    town.couples(3)
    town.move_in(CANARY, "back", man=True, name=NAME)
    town.swipe("w0", CANARY), town.swipe(CANARY, "w0"), town.swipe("w1", CANARY, "pass"), town.swipe("w2", "m0")
    erasure = Erasure(town.context, Scrubbing(town.context), ErasedTokens(town.context, tokens), ledger.record)
    erasure.erase("back")
    town.wait(minutes=1)
    town.move_in("back", man=True, name="Somebody new")
    back_up(address, file, silent)
    assert NAME.encode() in file.read_bytes()
    town.wait(minutes=1)
    erasure.erase(CANARY)
    town.context.store.close()
    assert ledger.file.stat().st_mode & 0o777 == 0o600
    assert CANARY.encode() not in ledger.file.read_bytes()

    again = LaterErasures(settings, town.context.clock)
    restore(file, address, silent, again.apply, force=True)
    assert again.people == 1
    store = SqlStore(address)
    with store.read() as reader:
        assert {person.id for person in reader.find(Person)} == {"w0", "m0", "w1", "m1", "w2", "m2", "back"}
        assert {event.candidate for event in reader.find(Event)} == {"m0"}
    town = Town(store, before=town)
    feed = Feed(town.context)
    told = feed.read()
    assert (told[-1].topic, told[-1].user) == ("profile.erased", CANARY)
    feed.acknowledge(told[-1].number)
    town.wait(hours=2)  # until no process waits for the change
    Maintenance(town.context).run()
    erasure = Erasure(town.context, scrubbing_of(town.context, store), ErasedTokens(town.context, tokens), ledger.record)
    erasure.resume()
    town.wait(minutes=20)
    erasure.resume()
    assert verify(town.context).problems == ()
    store.close()
    folder = tmp_path
    if kind == "postgres":
        server = request.getfixturevalue("postgres")
        server.ask("CHECKPOINT")
        folder = server.data / "base"
    kept = [path for path in folder.rglob("*") if path.is_file() and path != file]
    assert not [path.name for path in kept for text in (CANARY, NAME) if text.encode() in path.read_bytes()]
