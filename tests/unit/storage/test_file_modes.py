"""Only the owner reads what people have entrusted to the service, whatever the mask of the process says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kaczmatch.app.backups import back_up, restore
from kaczmatch.service.domain.records import HeldPerson
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.storage import SqlStore


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def test_a_database_file_its_log_and_its_index_are_private(tmp_path: Path) -> None:
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        store.write(lambda tx: tx.put(HeldPerson(user="ann", actor="1"))).result()
        assert modes(tmp_path) == dict.fromkeys(["store.db", "store.db-wal", "store.db-shm"], 0o600)


def test_files_that_were_readable_are_so_no_more_once_a_store_has_opened_them(tmp_path: Path) -> None:
    SqlStore(f"sqlite:///{tmp_path}/store.db").close()
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")):
        for file in tmp_path.iterdir():
            file.chmod(0o644)
        SqlStore(f"sqlite:///{tmp_path}/store.db").close()
        assert set(modes(tmp_path).values()) == {0o600}


def test_backups_and_restored_databases_are_private(tmp_path: Path) -> None:
    SqlStore(f"sqlite:///{tmp_path}/store.db").close()
    back_up(f"sqlite:///{tmp_path}/store.db", tmp_path / "backup.db", lambda *_: None)
    restore(tmp_path / "backup.db", f"sqlite:///{tmp_path}/restored.db", lambda *_: None)
    assert set(modes(tmp_path).values()) == {0o600}


def test_nothing_is_acknowledged_into_a_file_that_was_moved_away_or_replaced(tmp_path: Path) -> None:
    file, away = tmp_path / "store.db", tmp_path / "away.db"
    with closing(SqlStore(f"sqlite:///{file}")) as store:

        def write(user: str) -> None:
            store.write(lambda tx: tx.put(HeldPerson(user=user, actor="1"))).result()

        write("ann")
        file.rename(away)
        with pytest.raises(StoreUnavailable, match="cannot be found"):
            write("bob")
        file.write_bytes(away.read_bytes())
        with pytest.raises(StoreUnavailable, match="was replaced"):
            write("bob")
        away.rename(file)
        write("cleo")
        with store.read() as reader:
            assert [held.user for held in reader.find(HeldPerson)] == ["ann", "cleo"]
