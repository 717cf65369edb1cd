"""Hours of faults (`make endure`): kills, crashes, power cuts, broken disks and races by the hundred, and what is lost in them.

python tests/endure.py                                  everything on both stores, 200 kills and 200 cuts or crashes each
python tests/endure.py --kills 20 --cuts 20 --store sqlite --out folder

It can be stopped at any time, and goes on where it was stopped (`--state` names the file; `--fresh` begins anew). The first thing
that is lost ends it, with the words that repeat it. `python docs/record.py endure -- python tests/endure.py` keeps the table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "faults"), str(ROOT / "tests" / "contract")]

import test_races  # noqa: E402

from cutting import cut  # noqa: E402
from filling import full_disk  # noqa: E402
from kaczmatch.storage import SqlStore  # noqa: E402
from kaczmatch.storage.migrating import migrate  # noqa: E402
from killing import Served, crash_server, kill_process, kill_service, kill_worker, nursery  # noqa: E402
from processes import kept, strace, verify, writer  # noqa: E402
from survival import Survived, prepare  # noqa: E402
from worlds.postgres import TEMPLATE, Server, programs  # noqa: E402

ROUND = 10  # kills of one database, before it is another one's turn
STORES = ("sqlite", "postgres")
FAILURES = (("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("pwrite64", "EROFS"), ("fdatasync,fsync", "EIO"))
RACES = (
    test_races.test_concurrent_swipes_of_one_person_are_ordered_and_none_is_lost,
    test_races.test_one_id_sent_many_times_at_once_has_one_effect,
    test_races.test_a_quota_of_k_lets_exactly_k_through,
    test_races.test_decks_asked_for_at_once_are_one_deck,
    test_races.test_erasing_somebody_while_they_are_swiped_on_brings_nothing_back,
)

Round = Callable[["Place", Random, int], Iterator[Survived]]


class Place:
    """Where a round happens: a folder, and databases of one kind."""

    def __init__(self, store: str, folder: Path, server: Server | None) -> None:
        self.store, self.folder, self._server = store, folder, server
        self._databases: list[str] = []

    @property
    def server(self) -> Server:
        assert self._server is not None
        return self._server

    def database(self, template: str = TEMPLATE) -> str:
        """The address of a new one."""
        new = f"sqlite:///{self.folder}/{len(self._databases)}.db" if self.store == "sqlite" else self.server.new(template)
        self._databases.append(new)
        return new

    def clear(self) -> None:
        """PostgreSQL syncs the files of all databases whenever it starts after a crash."""
        for address in self._databases if self.store == "postgres" else ():
            self.server.drop(address)


def kills_of_a_process(job: str) -> Round:
    def run(place: Place, rng: Random, times: int) -> Iterator[Survived]:
        url = place.database()
        with nursery(place.folder) as children:
            for cycle in range(times):
                if job == "migrate":
                    url = place.database("template0")
                else:
                    prepare(url, cycle)
                yield kill_process(children, job, url, cycle, rng)

    return run


def crashes_of_the_server(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    url = place.database()
    with nursery(place.folder) as children:
        for cycle in range(times):
            prepare(url, cycle)
            yield crash_server(children, place.server, url, cycle, rng)


def kills_of_the_service(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    url = place.database()
    prepare(url, 0)
    service = Served(url, place.folder)
    for cycle in range(times):
        prepare(url, cycle)
        yield kill_service(service, cycle, rng)


def kills_of_a_worker(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    url = place.database()
    prepare(url, 0)
    service = Served(url, place.folder, workers=2)
    try:
        service.start()
        for cycle in range(times):
            prepare(url, cycle)
            yield kill_worker(service, cycle, rng)
    finally:
        service.stop()


def cuts(job: str) -> Round:
    def run(place: Place, rng: Random, times: int) -> Iterator[Survived]:
        yield from cut(job, place.folder, rng, times)

    return run


def failing_disks(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    for _ in range(times):
        url, (call, error), first = place.database(), rng.choice(FAILURES), rng.randrange(1, 120)
        SqlStore(url).close()
        tracing = [strace(), "-f", "-qq", "-o", str(place.folder / "trace"), "-e", f"trace={call}"]
        inject = f"inject={call}:error={error}:when={first}..{first + rng.randrange(30)}"
        with writer(url, "0", "300", before=[*tracing, "-e", inject]) as process:  # which ends if it cannot even open its store
            acknowledged = kept(process.communicate(timeout=120)[0].splitlines(keepends=True))
        yield Survived(len(acknowledged), verify(url, acknowledged) - len(acknowledged))


def full_disks(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    for run in range(times):
        with tempfile.TemporaryDirectory(dir=place.folder) as folder:
            yield full_disk(Path(folder), rng, run)


def races(place: Place, rng: Random, times: int) -> Iterator[Survived]:
    for _ in range(times):
        url, race = place.database(), rng.choice(RACES)
        with closing(SqlStore(url)) as one, closing(SqlStore(url)) as other:
            race((one, other))
        yield Survived(0, 0)


PROCESS = {
    "swipe": "a process that swipes",
    "erase": "a process that erases people",
    "relearn": "a process that relearns",
    "rebuild": "a process that changes the vocabulary and rebuilds its index",
    "migrate": "a process that migrates",
}


def trials(store: str, asked: argparse.Namespace) -> Iterator[tuple[str, Round, int, int]]:
    """What is done, how, how often in all, and how often on one database."""
    kills: list[tuple[str, Round]] = [(f"kill of {words}", kills_of_a_process(job)) for job, words in PROCESS.items()]
    kills += [("kill of the service", kills_of_the_service), ("kill of one worker of two", kills_of_a_worker)]
    for name, run in kills:
        yield name, run, -(-asked.kills // len(kills)), ROUND
    if store == "sqlite":
        for job, words in PROCESS.items():
            yield f"power cut of {words}", cuts(job), -(-asked.cuts // len(PROCESS)), asked.cuts
        yield "disk that is full or fails", failing_disks, asked.disks, ROUND
        yield "changes of vocabulary, model and profiles while the disk is full", full_disks, -(-asked.disks // 2), ROUND
    else:  # what a cut does to files that it syncs is the server's own business
        yield "crash of PostgreSQL", crashes_of_the_server, asked.cuts, ROUND
    yield "race", races, asked.races, ROUND


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("kills", 200), ("cuts", 200), ("disks", 100), ("races", 100)):
        parser.add_argument(f"--{name}", type=int, default=number, help=f"how many per store ({number})")
    parser.add_argument("--store", choices=STORES, action="append", help="only this one; repeatable")
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "endure.json", help="what was done so far")
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    parser.add_argument("--out", type=Path, help="folder for the table")
    asked = parser.parse_args()
    done = Done(asked.state, fresh=asked.fresh)
    for store in asked.store or STORES:
        with ExitStack() as running:
            server = running.enter_context(a_server()) if store == "postgres" else None
            for name, run, times, at_once in trials(store, asked):
                if asked.only in name:
                    endure(done, store, name, run, times, at_once, server)
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "endure.json").write_text(json.dumps(done.rows()))


def endure(done: Done, store: str, name: str, run: Round, times: int, at_once: int, server: Server | None) -> None:
    while (before := done.times(store, name)) < times:
        number = min(at_once, times - before)
        with tempfile.TemporaryDirectory(prefix="kaczmatch-endure-") as folder:
            place, rng = Place(store, Path(folder), server), Random(f"{store} {name} {before}")  # noqa: S311
            try:
                for one in run(place, rng, number):
                    done.add(store, name, one)
                    print(f"{time.strftime('%H:%M:%S')} {store}: {name} {done.times(store, name)} of {times}", flush=True)
                place.clear()
            except BaseException:
                print(f"again: python tests/endure.py --store {store} --only {name!r}", file=sys.stderr)
                raise


class Done:
    """What was done so far, in a file that is written after each."""

    def __init__(self, file: Path, *, fresh: bool) -> None:
        self._file = file
        self._found: dict[str, dict[str, Any]] = {}
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607
        self._state: dict[str, Any] = {"commit": commit, "found": self._found}
        if file.exists() and not fresh:
            known = json.loads(file.read_text())
            if known["commit"] != commit:
                raise SystemExit(f"{file} is of commit {known['commit'][:7]}: go back to that, or begin anew with --fresh")
            self._found.update(known["found"])

    def times(self, store: str, name: str) -> int:
        return int(self._found.get(f"{store}: {name}", {}).get("times", 0))

    def add(self, store: str, name: str, one: Survived) -> None:
        kinds = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
        empty = {"what": name, "store": kinds[store], "times": 0, "acknowledged": 0, "lost": 0, "kept_untold": 0}
        row = self._found.setdefault(f"{store}: {name}", empty)
        row["times"] += 1
        row["acknowledged"] += one.acknowledged
        row["kept_untold"] += one.unknown
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(self._state, indent=1))
        new.replace(self._file)

    def rows(self) -> list[dict[str, Any]]:
        return list(self._found.values())


@contextmanager
def a_server() -> Iterator[Server]:
    server = Server(programs())
    try:
        server.ask(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        migrate(server.address(TEMPLATE))
        yield server
    finally:
        server.remove()


if __name__ == "__main__":
    main()
