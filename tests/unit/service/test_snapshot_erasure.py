"""What a snapshot holds of people is theirs: whoever is erased is overwritten, and nothing half-written is left."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kaczmatch.recommend.decks.policy import PaperPolicy
from kaczmatch.recommend.index import checked_files, storage
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.meeting import snapshot_keeping
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.storage import SqlStore
from worlds.snapshots import from_store, known, renewed, small_town, started
from worlds.town import Town


@pytest.fixture
def files(tmp_path: Path) -> SnapshotFiles:
    return SnapshotFiles(tmp_path / "data" / "snapshot", least_people=0)


@pytest.fixture
def town(tmp_path: Path, files: SnapshotFiles) -> Iterator[Town]:
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        yield small_town(store, files)


def test_an_erased_person_is_overwritten_and_every_process_removes_the_row(town: Town, files: SnapshotFiles) -> None:
    renewed(town)
    other, _ = started(town)
    place = int(np.load(files.folder / "home.npy")[other.recommender.index.numbers_of(["m1"])[0]])
    chunk, row = divmod(place, np.load(files.folder / "born.npy").shape[-1])
    assert np.load(files.folder / "born.npy")[chunk, row]
    town.erasing.erase("m1")
    for name in ("born", "tags", "mean", "said", "x", "offset", "i_am", "i_look_for"):
        column = np.load(files.folder / f"{name}.npy")
        assert not column[chunk][..., row].any(), name
    assert b"m1" not in (files.folder / "id_text.npy").read_bytes()
    for index in (other, town.world):
        index.follow()
        assert known(index, town) == known(from_store(town), town)
        assert len(index) == 9


@pytest.mark.parametrize("left", [None, 0, 1_000])
def test_an_erasure_leaves_nothing_of_a_damaged_one(town: Town, files: SnapshotFiles, left: int | None) -> None:
    """Neither what was not reached, nor files that look whole afterwards."""
    renewed(town)
    file = files.folder / "tags.npy"
    if left is None:
        file.unlink()
    else:
        os.truncate(file, left)
    town.erasing.erase("m1")
    assert not files.folder.exists()
    index, built = started(town)
    assert built == [1]
    assert "m1" not in known(index, town)


@pytest.mark.parametrize("erased", ["w2", "w3"])
def test_whoever_has_taken_the_place_of_an_erased_person_stays(town: Town, files: SnapshotFiles, erased: str) -> None:
    """Whoever learns for the first time changes places with somebody, whose place in the file it still is. How often people were
    shown is left out: that is counted by the process that shows them."""
    renewed(town)
    other, _ = started(town)
    town.swipe("w4", "m1")
    other.follow()
    town.erasing.erase(erased)
    other.follow()
    mine, all_of_it = known(other, town, compact=False), known(from_store(town), town, compact=False)
    assert {user: told[:-1] for user, told in mine.items()} == {user: told[:-1] for user, told in all_of_it.items()}


def test_what_was_left_half_written_is_removed(town: Town, files: SnapshotFiles) -> None:
    for left in (files.next, files.next.with_name(f".{files.next.name}.0a1b")):
        left.mkdir()
        (left / "id_text.npy").write_bytes(b"somebody")
    started(town)
    assert {path.name for path in files.folder.parent.iterdir() if path.is_dir()} == {"snapshot"}


def test_an_erasure_reaches_what_was_left_half_written_since_the_last_start(town: Town, files: SnapshotFiles) -> None:
    renewed(town)
    left = files.next.with_name(f".{files.next.name}.0a1b")
    left.mkdir()
    (left / "id_text.npy").write_bytes(b"w3")
    with files.building():  # whoever is building now has begun after that
        assert not left.exists()
        left.mkdir()
        town.erasing.erase("w2")
        assert left.exists(), "it is being written"
    town.erasing.erase("w3")
    assert not left.exists()


def test_an_error_while_one_is_renewed_is_told(town: Town, files: SnapshotFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only somebody else who is at it is none."""
    town.world.follow()
    town.world._keep_snapshot()
    monkeypatch.setattr(snapshot_keeping, "_MUCH", -1)
    monkeypatch.setattr(snapshot_keeping, "_SHARE", 10**9)

    def no_room() -> None:
        raise BlockingIOError("fork: resource temporarily unavailable")

    with files.renewing():
        assert not town.world.renew_snapshot(no_room)
    with pytest.raises(BlockingIOError, match="fork"):
        town.world.renew_snapshot(no_room)


def test_whoever_waits_for_the_end_of_a_session_is_overwritten_too(tmp_path: Path, files: SnapshotFiles) -> None:
    """Their states have another length, with swipes that are still to be learned from."""
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        town = Town(store, learner="block-tk", settings={}, snapshot=files, policy=PaperPolicy())
        town.couples(5)
        town.swipe("w3", "m1")
        assert renewed(town)
        index, built = started(town)
        assert built == []
        assert known(index, town) == known(from_store(town), town)
        assert index.recommender.states(["w3"]) != index.recommender.states(["w2"])
        town.erasing.erase("w3")
        assert [path.name for path in files.folder.iterdir() if b"w3" in path.read_bytes()] == []


class Killed(BaseException):
    """So that nothing in between handles it."""


def test_an_erasure_that_was_interrupted_is_done_when_it_is_tried_again(
    town: Town, files: SnapshotFiles, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Wherever it was killed: nothing of it was done, or all of it by a process that starts in between. Nothing looks damaged."""
    renewed(town)
    whole = shutil.copytree(files.folder, tmp_path / "whole")

    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in files.folder.iterdir()}

    before, syncs = content(), 0
    with monkeypatch.context() as patch:
        patch.setattr(checked_files.os, "fsync", lambda _: None)
        assert storage.overwrite(files.folder, "w0")
    assert not storage.overwrite(files.folder, "w0")
    overwritten, finished = content(), list[bool]()
    for last in range(1_000):
        shutil.rmtree(files.folder)
        shutil.copytree(whole, files.folder)
        left = iter(range(last))

        def kill(_: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(checked_files.os, "fsync", kill)
            try:
                storage.overwrite(files.folder, "w0")
            except Killed:
                syncs += 1
            else:
                break
        index, built = started(town)
        assert built == []
        finished.append("w0" not in index.recommender.index)
        assert content() == (overwritten if finished[-1] else before)
        assert len(index) == 10 - finished[-1]
        storage.overwrite(files.folder, "w0")
        assert content() == overwritten
    assert syncs > 20
    assert finished[3:] == [True] * (syncs - 3)


def test_an_erasure_that_was_announced_and_not_begun_is_nothing(town: Town, files: SnapshotFiles) -> None:
    """The process was killed, or the power was cut, while it wrote down what it was about to overwrite."""
    renewed(town)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked_files, "_finish", lambda *_: None)
        storage.overwrite(files.folder, "w0")
    announced = files.folder / "overwriting"
    os.truncate(announced, announced.stat().st_size // 2)
    index, built = started(town)
    assert built == []
    assert not announced.exists()
    assert known(index, town) == known(from_store(town), town)
    town.erasing.erase("w0")
    assert files.folder.exists()
    assert [path.name for path in files.folder.iterdir() if b"w0" in path.read_bytes()] == []


def test_an_erasure_waits_for_a_process_that_opens_the_files(town: Town, files: SnapshotFiles) -> None:
    """It would see half of it, and take that for damage. Several may open them at a time."""
    renewed(town)
    other = SnapshotFiles(files.folder)
    erasing = threading.Thread(target=other.overwrite, args=("w3",))
    with files.reading():
        erasing.start()
        erasing.join(0.2)
        assert started(town)[1] == []
        assert b"w3" in (files.folder / "id_text.npy").read_bytes()
    erasing.join()
    assert b"w3" not in (files.folder / "id_text.npy").read_bytes()
    assert started(town)[1] == []


def test_an_erasure_takes_no_damage_for_right(town: Town, files: SnapshotFiles) -> None:
    """What it overwrites gets new checksums, and with them what else lies there."""
    renewed(town)
    file = files.folder / "tags.npy"
    data = bytearray(file.read_bytes())
    data[200] ^= 1  # the tags of somebody else
    file.write_bytes(data)
    said = list[str]()
    SnapshotFiles(files.folder, on_damage=said.append).overwrite("m1")
    assert said == [f"{files.folder}: tags.npy is damaged"]
    assert not files.folder.exists()


def test_one_that_waits_to_be_swapped_in_was_not_left_behind(town: Town, files: SnapshotFiles) -> None:
    """A process that starts at this moment tidies up."""
    town.world.follow()
    before = files.version()

    def write() -> None:
        ServingIndex(town.context).write_snapshot()
        started(town)
        assert files.next.exists()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot_keeping, "_MUCH", -1)
        patch.setattr(snapshot_keeping, "_SHARE", 10**9)
        town.world._keep_snapshot()
        assert town.world.renew_snapshot(write)
    assert files.version() != before
    assert not files.next.exists()
