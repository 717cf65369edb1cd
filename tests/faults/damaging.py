"""Damages every file of a snapshot in turn, and tells for each whether a process that starts notices, and what it deals from.

    python tests/faults/damaging.py [--each 200] [--seed 1]

A damage is up to 1,000 other bytes in a row or scattered, a file that is cut off, one that is exchanged for another of the
folder, or for the same one of an earlier snapshot. Starts happen in a process of its own, which may crash: then another goes on
behind the damage. The command ends with an error if one crashed, went unnoticed or changed what decks are dealt from.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, final

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from kaczmatch.recommend.index.view import IndexView  # noqa: E402
from kaczmatch.service.domain.records import Change, Person, ServingProcess  # noqa: E402
from kaczmatch.service.domain.snapshot_files import SnapshotFiles  # noqa: E402
from kaczmatch.service.meeting.profiles import profile_of  # noqa: E402
from kaczmatch.service.meeting.serving_index import ServingIndex  # noqa: E402
from kaczmatch.service.operations.maintenance import Maintenance  # noqa: E402
from kaczmatch.storage import SqlStore  # noqa: E402
from worlds.snapshots import from_store, known, renewed, started  # noqa: E402
from worlds.town import Town  # noqa: E402

KINDS = ("row", "scattered", "cut", "exchanged", "earlier")
MOST_BYTES = 1_000
PEOPLE = 60


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one damage. `same`: the process knows what one knows that reads everybody from the store."""

    file: str
    kind: str
    noticed: bool
    crashed: bool
    same: bool


def damage(folder: Path, earlier: Path, name: str, kind: str, rng: Random) -> bool:
    """Whether there is anything to damage: a file may be empty, or the same as another."""
    file = folder / name
    data = bytearray(file.read_bytes())
    if kind in ("row", "scattered"):
        size = min(round(MOST_BYTES ** rng.random()), len(data))
        first = rng.randrange(len(data) - size + 1) if data else 0
        for place in range(first, first + size) if kind == "row" else rng.sample(range(len(data)), size):
            data[place] ^= rng.randrange(1, 256)
    elif kind == "cut":
        del data[rng.randrange(len(data)) if data else 0 :]
    else:
        other = earlier / name if kind == "earlier" else folder / rng.choice(names(folder))
        data[:] = other.read_bytes() if other.exists() else b""
        if kind == "exchanged":
            other.write_bytes(file.read_bytes())
    if data == file.read_bytes():
        return False
    file.write_bytes(data)
    return True


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def plan(folder: Path, each: int) -> list[tuple[str, str]]:
    """Every file in turn, and kinds in turn."""
    return [(name, KINDS[(turn + place) % len(KINDS)]) for turn in range(each) for place, name in enumerate(names(folder))]


def prepare(place: Path) -> None:
    """A store, its snapshot, with people who were erased, learned and changed since, and the snapshot before it."""
    files = SnapshotFiles(place / "data" / "snapshot", least_people=0)
    with closing(SqlStore(f"sqlite:///{place}/store.db")) as store:
        town = Town(store, snapshot=files)
        town.populate(PEOPLE)
        for user in range(0, 10, 2):
            town.swipe(f"p{user}", f"p{user + 1}")
        town.move_in("both", i_am=frozenset({"woman", "man"}))
        renewed(town)
        shutil.copytree(files.folder, place / "earlier")
        town.swipe("p20", "p1")
        renewed(town)
        town.erasing.erase("p30")
        town.people.pause("p31", True).result()
        town.move_in("new", tags=["theatre"])
        for _ in range(3):  # until the changes are dropped, and only the list of the snapshot tells of them
            town.wait(minutes=10)
            town.world.follow()
            Maintenance(town.context).run()
        assert town.find(Change) == []
    shutil.copytree(files.folder, place / "whole")


def start_damaged(place: Path, damages: Sequence[tuple[str, str]], seed: int, first: int) -> Iterator[tuple[int, Outcome | None]]:
    """From one damage on, in this process: the number of each before it starts, and what came of it afterwards."""
    said = list[str]()
    files = SnapshotFiles(place / "data" / "snapshot", least_people=0, on_damage=said.append)
    with closing(SqlStore(f"sqlite:///{place}/store.db")) as store:
        town = Town(store)
        town.wait(hours=1)
        town.context = replace(town.context, snapshot=files)
        right = dealt_from(from_store(town), town)
        records = town.find(ServingProcess)
        for number, (name, kind) in enumerate(damages[first:], first):
            shutil.rmtree(files.folder, ignore_errors=True)
            shutil.copytree(place / "whole", files.folder)
            for record in records:
                store.write(lambda tx, record=record: tx.put(record)).result()  # type: ignore[misc]
            said.clear()
            yield number, None
            if not damage(files.folder, place / "earlier", name, kind, Random(f"{seed} {number}")):  # noqa: S311
                continue
            index, built = started(town)
            same = dealt_from(index, town) == right
            # The end of the list of changes may be missing, as after a crash: then they are read from the store once more.
            yield number, Outcome(name, kind, bool(said or built) or (same and name == "changed"), False, same)
            files.let_go()


def dealt_from(index: ServingIndex, town: Town) -> Any:
    """All that a process has in memory, and whom it finds for some people."""
    people, found = index.recommender.index, dict[str, Any]()
    with town.context.store.read() as reader:
        viewers = [reader.get(Person, user) for user in ("p0", "p1", "p40", "both", "new")]
    with people.reading() as view:
        for one in viewers:
            assert one is not None
            found[one.id] = passing(view, profile_of(one, people.vocabulary, people.schema), town)
    return found, known(index, town)


def passing(view: IndexView, viewer: Any, town: Town) -> list[Any]:
    return sorted(map(str, view.ids(view.everybody(view.search_filter(viewer, town.now.date())))))


def outcomes(place: Path, each: int, seed: int) -> Iterator[Outcome]:
    """Of every damage. A crash, or a start that failed, is that of the damage whose turn it was."""
    damages = plan(place / "whole", each)
    first = 0
    while first < len(damages):
        command = [sys.executable, "-W", "ignore", __file__, "--in", str(place), "--each", str(each), "--seed", str(seed)]
        with subprocess.Popen([*command, "--first", str(first)], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            assert process.stdout is not None
            for line in process.stdout:
                first, told = json.loads(line)
                if told is not None:
                    yield Outcome(**told)
        if process.returncode == 0:
            return
        yield Outcome(*damages[first], noticed=False, crashed=True, same=False)
        first += 1


def table(found: Sequence[Outcome]) -> str:
    rows = [("file", "damages", "noticed", "crashes", "wrong decks")]
    for name in [*sorted({one.file for one in found}), "all"]:
        its = [one for one in found if name in (one.file, "all")]
        wrong = [one for one in its if not one.same and not one.crashed]
        counts = [len(its), sum(one.noticed for one in its), sum(one.crashed for one in its), len(wrong)]
        rows.append((name, *map(str, counts)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=200, help="damages of every file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in", dest="place", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.place is None:
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            found = list(outcomes(Path(folder), asked.each, asked.seed))
        print(table(found))
        sys.exit(any(one.crashed or not one.noticed or not one.same for one in found))
    damages = plan(asked.place / "whole", asked.each)
    for number, outcome in start_damaged(asked.place, damages, asked.seed, asked.first):
        print(json.dumps([number, outcome and asdict(outcome)]), flush=True)


if __name__ == "__main__":
    main()
