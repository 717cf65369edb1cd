"""A process that starts from a snapshot knows what one knows that loads everybody from the store."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kaczmatch.app.backups import back_up, restore
from kaczmatch.recommend.index import checked_files
from kaczmatch.service.domain.records import Change, ServingProcess
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.meeting import snapshot_keeping
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
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


def test_the_first_process_writes_it_and_the_next_one_maps_it(town: Town, files: SnapshotFiles) -> None:
    first, built = started(town)
    assert built == []  # the town's own process has written one when it started, with nobody in it
    assert known(first, town) == known(from_store(town), town) != {}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files.folder.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700


def test_everything_that_changed_since_is_applied(town: Town) -> None:
    renewed(town)
    town.deck("w2")
    town.swipe("m0", "w0")
    town.swipe("w3", "m2", "pass")
    town.people.pause("m3", True).result()
    town.move_in("m1", man=True, tags=["chess", "cooking"])
    town.move_in("w9", tags=["theatre"])
    town.erasing.erase("m4")
    town.world.follow()
    index, built = started(town)
    assert built == []
    assert known(index, town) == known(from_store(town), town)
    assert "m4" not in index.recommender.index
    assert "w9" in index.recommender.index
    assert "m3" not in index.recommender.index


def test_changes_that_were_dropped_meanwhile_are_known_by_number(town: Town) -> None:
    renewed(town)
    town.people.pause("m3", True).result()
    town.move_in("w9", tags=["theatre"])
    for _ in range(3):
        town.wait(minutes=10)
        town.world.follow()
        Maintenance(town.context).run()
    assert town.find(Change) == []
    index, built = started(town)
    assert built == []
    assert known(index, town) == known(from_store(town), town)


def test_changes_that_nobody_has_written_down_make_it_useless(town: Town, files: SnapshotFiles) -> None:
    renewed(town)
    town.world.close()
    town.people.pause("m3", True).result()
    town.wait(hours=2)
    other = from_store(town)
    town.wait(minutes=10)
    other.follow()
    Maintenance(replace(town.context, snapshot=None)).run()
    assert town.find(Change) == []
    index, built = started(town)
    assert built == [1]
    assert known(index, town) == known(from_store(town), town)
    assert len(files.changed()[0]) == 0


def test_one_of_another_store_is_not_used(town: Town, tmp_path: Path) -> None:
    renewed(town)
    with closing(SqlStore(f"sqlite:///{tmp_path}/other.db")) as store:
        other = Town(store)
        other.couples(2)
        index, built = started(other, snapshot=town.context.snapshot)
        assert built == [1]
        assert known(index, other) == known(from_store(other), other)


def test_one_that_is_younger_than_a_restored_backup_is_not_used(town: Town, tmp_path: Path) -> None:
    url, file = f"sqlite:///{tmp_path}/store.db", tmp_path / "backup"
    back_up(url, file, lambda *_: None)
    town.move_in("w9", tags=["theatre"])
    renewed(town)
    town.context.store.close()
    restore(file, url, lambda *_: None, force=True)
    with closing(SqlStore(url)) as store:
        after = Town(store, before=town, snapshot=town.context.snapshot)
        assert "w9" not in after.world.recommender.index
        assert known(after.world, after) == known(from_store(after), after)


def test_other_rules_need_another_one(town: Town) -> None:
    renewed(town)
    assert started(town, config=replace(town.context.config, away_days=400))[1] == [1]
    town.swipe("w3", "m3")
    town.world.follow()  # goes on with what it has
    assert known(town.world, town) == known(from_store(town), town)


RULES = """
from types import SimpleNamespace
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.meeting import index_snapshot
kinds = ("founder", "engineer", "designer", "investor")
schema = Schema(kinds, looks_for={"founder": frozenset(kinds)}, capacity={"investor": 3, "engineer": 1})
print(index_snapshot._rules(SimpleNamespace(config=ServiceConfig(schema=schema))))
"""


def test_every_process_has_the_same_rules() -> None:
    """Python orders the texts of a set anew in each process; then each would refuse what the others have written."""
    said = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", RULES], env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_another_model_needs_another_one(town: Town) -> None:
    renewed(town)
    town.relearning.relearn("probit", {}, town.world.recommender.index.prior)
    while town.world.rebuilding or town.world.current.model == 1:
        town.world.follow()
    index, built = started(town)
    assert built == [1]
    assert known(index, town) == known(from_store(town), town) == known(town.world, town)


def test_terms_that_came_since_are_added(town: Town) -> None:
    renewed(town)
    town.models.change_vocabulary(lambda words: words.add(tags=["sailing"]))
    town.world.follow()
    town.move_in("w9", tags=["sailing"])
    index, built = started(town)
    assert built == []
    assert known(index, town, compact=False) == known(from_store(town), town, compact=False)


def test_a_damaged_one_is_thrown_away_and_built_anew(town: Town, files: SnapshotFiles) -> None:
    renewed(town)
    said = list[str]()
    noticing = SnapshotFiles(files.folder, least_people=0, on_damage=said.append)
    for number, name in enumerate(("index.json", "mean.npy", "home.npy"), 1):
        file = files.folder / name
        file.write_bytes(file.read_bytes()[:-40])
        index, built = started(town, snapshot=noticing)
        assert built == [1], name
        assert (len(said), name.removesuffix(".npy") in said[-1]) == (number, True)
        assert known(index, town) == known(from_store(town), town)
        assert started(town, snapshot=noticing)[1] == []


def test_a_damaged_list_of_changes_makes_it_useless_and_half_a_line_of_it_does_not(town: Town, files: SnapshotFiles) -> None:
    """Half a line is what a power cut leaves, and the store still has what it tells of."""
    renewed(town)
    for user in ("m2", "m3"):
        town.people.pause(user, True).result()
        town.world.follow()
    file, said = files.folder / "changed", list[str]()
    whole = file.read_bytes()
    assert whole.count(b"\n") == 2
    file.write_bytes(whole[:-3])
    index, built = started(town)
    assert built == []
    assert known(index, town) == known(from_store(town), town)
    town.people.pause("m4", True).result()
    town.world.follow()
    file.write_bytes(whole[:12] + b"7" + whole[13:])
    index, built = started(town, snapshot=SnapshotFiles(files.folder, least_people=0, on_damage=said.append))
    assert built == [1]
    assert said == [f"{files.folder}: changed is damaged, or of another release"]
    assert known(index, town) == known(from_store(town), town)


def test_without_room_for_one_a_process_has_everybody_for_itself(
    town: Town, files: SnapshotFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It only makes starts cheaper, so a full disk stops no start."""

    def no_room(path: Path, _: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    shutil.rmtree(files.folder)
    monkeypatch.setattr(checked_files, "_synced", no_room)
    index, built = started(town)
    assert built == [1]
    assert known(index, town) == known(from_store(town), town)
    assert index.snapshot_problem == f"{files.folder}: No space left on device"


def test_what_somebody_else_has_put_in_its_place_stays(town: Town, files: SnapshotFiles) -> None:
    shutil.rmtree(files.folder)
    files.folder.mkdir()
    (files.folder / "thesis.txt").write_text("years of work")
    index, built = started(town)
    assert built == [1]
    assert known(index, town) == known(from_store(town), town)
    assert "is not a saved index" in index.snapshot_problem
    town.erasing.erase("m1")
    assert (files.folder / "thesis.txt").exists()


def test_it_is_renewed_when_much_has_changed_and_processes_go_over_to_it(town: Town, files: SnapshotFiles) -> None:
    assert not renewed(town, due=False)
    before = files.version()
    town.swipe("w2", "m3")
    other, _ = started(town)
    assert renewed(town)
    assert files.version() != before
    old = other.recommender
    other.follow()
    assert other.recommender is not old
    assert known(other, town) == known(town.world, town) == known(from_store(town), town)
    ids = [process.id for process in town.find(ServingProcess)]
    about = files.about()
    assert about is not None
    assert about["id"] in ids
    assert len(ids) == 4  # the town's, the other's, that of `from_store`, and the snapshot's; none of the one before


def written_pages(folder: Path) -> dict[str, int]:
    """How many kilobytes of each mapped file this process has for itself, because it has written to them."""
    found, name = dict[str, int](), ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            name = Path(rest[4]).name if len(rest) == 5 and Path(rest[4]).parent == folder else ""
        elif name and first == "Anonymous:":
            found[name] = max(found.get(name, 0), int(rest[0]))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which pages of a file were written")
def test_what_a_process_reads_again_when_it_starts_stays_shared(town: Town, files: SnapshotFiles) -> None:
    shutil.rmtree(files.folder)
    index, built = started(town)
    assert built == [1]  # from the store; then it maps what it has written, and applies the newest changes once more
    written = written_pages(files.folder)
    assert written.keys() >= {"mean.npy", "tags.npy", "state_cells.npy"}
    assert {name: size for name, size in written.items() if size}.keys() <= {"said.npy", "cards.npy"}  # appeal fades
    assert known(index, town) == known(from_store(town), town)
    town.swipe("w2", "m3")
    index.follow()
    assert written_pages(files.folder)["mean.npy"] > 0


def test_while_another_one_is_written_no_change_is_missed(town: Town) -> None:
    town.world.follow()

    def write() -> None:
        ServingIndex(town.context).write_snapshot()
        town.people.pause("m3", True).result()
        town.world.follow()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot_keeping, "_MUCH", -1)
        patch.setattr(snapshot_keeping, "_SHARE", 10**9)
        town.world._keep_snapshot()
        assert town.world.renew_snapshot(write)
    for _ in range(3):
        town.wait(minutes=10)
        town.world.follow()
        Maintenance(town.context).run()
    assert town.find(Change) == []
    index, built = started(town)
    assert built == []
    assert "m3" not in index.recommender.index
    assert known(index, town) == known(from_store(town), town)
