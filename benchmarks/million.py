"""What people cost: start, memory, decks, swipes and bulk commands of the service on SQLite, at several sizes in one run.

The people and their swipes are made up from a seed and imported by the command. Every tenth has swiped ten times. A larger size
begins with copies of the people of the first (`copied_people.py`), and what is imported there are 50,000 more and their swipes.
Before decks are dealt, the service has ended the sessions of the import.

Figures are processor time of the service or the command, since machines differ; only rates are by the clock, with the client on
the same machine. The service is one process, but for a second rate of decks, which two processes deal. Decks and swipes come in
five rounds, of which the middle one is told. A raw program of `sqlite3` takes the same swipes, behind the HTTP of the service and
behind uvicorn alone (`raw_swipes.py`). A machine is not equally fast all the time, so what a deck costs with more people is also
measured in turns, with a service of each size.

The table says what is wanted of the largest size, and with several sizes of what one costs over another. With `--floors` it is
an error if something is missed: see `FLOORS`. That of decks per second is for two processes and sizes up to 100,000.

    python benchmarks/million.py [--people 100000,1000000] [--floors] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import importing
import service
from filling import bulk, fill
from kaczmatch.app.composition import open_store
from kaczmatch.app.system import compose
from kaczmatch.app.warm_up import warm_up
from kaczmatch.recommend.index import checked_files
from kaczmatch.report.results import Table
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.settings.reading import read
from tables import add_out, tell

WARM, DECKS, SWIPES, ROUNDS = 600, 400, 4_000, 5  # the first decks are those of a service that has just started
CHECKING = "share of the start with the snapshot that checks its files"
FLOORS = {  # the most that is allowed
    "start with the snapshot, processor s": 15.0,
    "private memory beyond nobody, MB": 100.0,
    CHECKING: 0.1,
    "swipe in process, processor µs": 400.0,
    "rows that a deck of 32 writes": 3.0,
    "bytes that a deck of 32 writes": 1_500.0,
}
IN_TURNS = "new deck, the sizes in turns, processor ms"
DECK, DECK_MS = "new deck with HTTP, processor ms", {100_000: 6.0, 1_000_000: 8.0}  # up to so many people
PEERS = {"service": "a raw program behind the same HTTP", "bare": "a raw program behind uvicorn alone"}
RATES = {front: f"swipes per second, of those of {peer}" for front, peer in PEERS.items()}
AT_LEAST = {RATES["service"]: 0.6, RATES["bare"]: 0.3}
BY_TWO = "decks per second, two processes"
DECKS_A_SECOND, DECKS_UP_TO = 200.0, 100_000  # of two processes, with the client on the same machine; up to so many people
RATIOS = {IN_TURNS: 1.5, "start with the snapshot, processor s": 10.0, "verify, processor s": 10.0}


@final
class Figures(dict[str, float]):
    """By name, each printed as soon as it is known."""

    def __setitem__(self, what: str, value: float) -> None:
        super().__setitem__(what, value)
        print(f"  {datetime.now(UTC):%H:%M:%S} {what}: {value:,.2f}", flush=True)


def private_mb(process: int) -> float:
    """What a process has written, for itself alone. Pages of the snapshot that it has only read are those of every worker."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")) / 1024


@contextmanager
def started(environment: dict[str, str], workers: int = 1) -> Iterator[tuple[int, int, float]]:
    """A service: its port, its process, and the processor seconds until it was ready."""
    port = service.free_port()
    command = [*importing.COMMAND, "serve", "--workers", str(workers)]
    with service.serving(command, port, environment | {"KACZMATCH_PORT": str(port)}) as process:
        if workers > 1:
            wait_for_all(port, workers)
        yield port, process, service.cpu_seconds(process)


def wait_for_all(port: int, workers: int) -> None:
    """Until so many processes have answered: each takes connections as soon as it is ready itself."""
    answered, until = set[str](), time.monotonic() + 600.0
    while len(answered) < workers:
        if time.monotonic() > until:
            raise SystemExit(f"only {len(answered)} of {workers} processes are ready after ten minutes")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health/ready", timeout=60) as answer:
            answered.add(answer.headers["X-Request-ID"].partition("-")[0])
        time.sleep(0.01)


@contextmanager
def raw(folder: Path, front: str, people: int) -> Iterator[tuple[int, int]]:
    """The raw program: its port and its process."""
    port = service.free_port()
    program, file = Path(__file__).with_name("raw_swipes.py"), folder / f"raw-{front}.db"
    command = [sys.executable, str(program), str(file), str(port), str(people), front]
    with service.serving(command, port, {}) as process:
        yield port, process


def swipe_requests(port: int, key: str, users: Sequence[str], number: int) -> list[bytes]:
    """Answers to the open decks of some users."""
    requests: list[bytes] = []
    for user in users:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/people/{user}/deck",
            data=b"{}",
            method="POST",
            headers={"Authorization": f"Bearer {key}"},
        )
        asked.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310, our own address
            deck = json.load(answer)
        for place, card in enumerate(deck["cards"]):
            body = json.dumps({"candidate": card["id"], "decision": "pass" if place % 3 else "like", "deck": deck["id"]})
            requests.append(
                f"PUT /v1/people/{user}/swipes/m{place} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
            )
        if len(requests) >= number:
            break
    return requests[:number]


def in_process(number: int) -> None:
    """Prints what a swipe takes without HTTP, a few dozen to a commit, as they come from many connections."""
    settings = read()
    with closing(open_store(settings)) as store:
        system = compose(settings, store)
        warm_up(settings)
        system.serving_index.load()
        people, waiting = len(system.serving_index), list[Swipe]()
        for place in range(number // 16):
            opened = system.use_cases.decks.deck(f"p{(7 + place * 103) % people}", 32)
            waiting += [
                Swipe(
                    user=card.impression.user,
                    id=f"i{at}",
                    candidate=card.person.id,
                    decision="pass" if at % 3 else "like",
                    deck=card.impression.deck,
                )
                for at, card in enumerate(opened.cards[:20])
            ]
        np.random.default_rng(0).shuffle(waiting)  # type: ignore[arg-type]
        parts = [waiting[first : first + service.CONNECTIONS] for first in range(0, len(waiting), service.CONNECTIONS)]

        def spent(some: Sequence[Sequence[Swipe]]) -> float:
            """Processor µs of each."""
            began = time.process_time()
            for part in some:
                [one.result() for one in [system.use_cases.swipes.swipe(swipe) for swipe in part]]
            return 1e6 * (time.process_time() - began) / sum(map(len, some))

        spent(parts[:4])  # to warm up
        print(json.dumps(float(np.median([spent(parts[4 + turn :: ROUNDS]) for turn in range(ROUNDS)]))))
        system.serving_index.close()


def stored(data: Path) -> NDArray[np.float64]:
    """How many rows a store has, how many of them tell somebody's last deck, and the bytes of all tables."""
    with closing(sqlite3.connect(data / "kaczmatch.sqlite3")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = sum(database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)  # noqa: S608
        (dealt,) = database.execute("SELECT count(*) FROM person_counters WHERE last_deck IS NOT NULL").fetchone()
        (size,), (pages,), (free,) = (
            database.execute(f"PRAGMA {name}").fetchone() for name in ("page_size", "page_count", "freelist_count")
        )
    return np.array([rows, dealt, size * (pages - free)], np.float64)


def new_key() -> str:
    command = [*importing.COMMAND, "keys", "create", "bench", "--scope", "app"]
    shown = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return max(shown.split(), key=len)


def open_sessions(data: Path) -> int:
    with closing(sqlite3.connect(data / "kaczmatch.sqlite3")) as database:
        (number,) = database.execute("SELECT count(*) FROM person_counters WHERE in_session").fetchone()
    return int(number)


def end_sessions(data: Path, process: int) -> float:
    """Wait until maintenance has ended the sessions that were imported, or decks would be charged for that: processor µs each."""
    number, began, until = open_sessions(data), service.cpu_seconds(process), time.monotonic() + 600.0
    while open_sessions(data):
        if time.monotonic() > until:
            raise SystemExit("sessions that are long over are still open after ten minutes")
        time.sleep(1.0)
    return 1e6 * (service.cpu_seconds(process) - began) / max(number, 1)


def environment_of(folder: Path) -> dict[str, str]:
    return {
        "KACZMATCH_DATA": str(folder / "data"),
        "KACZMATCH_REFIT": "false",
        "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
        "OPENBLAS_NUM_THREADS": "1",
    }


def decks_in_turns(folders: Sequence[Path], sizes: Sequence[int]) -> list[float]:
    """Processor ms of a deck with each number of people: every round asks one service after the other. Others than before ask."""
    first, spent = 2 * (WARM + ROUNDS * DECKS), list[list[float]]()
    with ExitStack() as services:
        started_all = [services.enter_context(started(environment_of(folder))) for folder in folders]
        asked = [
            service.deck_requests(first + WARM + ROUNDS * DECKS, people, (folder / "key").read_text())[first:]
            for folder, people in zip(folders, sizes, strict=True)
        ]
        for (port, process, _), requests in zip(started_all, asked, strict=True):
            service.loaded(port, process, requests[:WARM], connections=4)
        for turn in range(ROUNDS):
            some = slice(WARM + turn * DECKS, WARM + (turn + 1) * DECKS)
            loads = [
                service.loaded(port, process, requests[some], connections=4)
                for (port, process, _), requests in zip(started_all, asked, strict=True)
            ]
            if any(load.failed for load in loads):
                raise SystemExit("requests were refused: this measures nothing")
            spent.append([load.cpu_us / 1e3 for load in loads])
    return [float(one) for one in np.median(spent, axis=0)]


def decks_of_two(environment: dict[str, str], people: int, key: str) -> float:
    """How many a second two processes deal. Others than before ask."""
    with started(environment, workers=2) as (port, process, _):
        requests = service.deck_requests(2 * (WARM + ROUNDS * DECKS), people, key)[WARM + ROUNDS * DECKS :]
        service.loaded(port, process, requests[:WARM], connections=4)
        loads = [service.loaded(port, process, requests[WARM + turn :: ROUNDS], connections=4) for turn in range(ROUNDS)]
    if any(load.failed for load in loads):
        raise SystemExit("requests were refused: this measures nothing")
    return float(np.median([load.a_second for load in loads]))


def measured(folder: Path, people: int, first: Path) -> Figures:
    """All figures of one size, by name. `first` is the store of the first size as it was imported, or where to keep it."""
    data, found, environment = folder / "data", Figures(), environment_of(folder)
    folder.mkdir()
    (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(service.TAGS)))
    os.environ.update(environment)
    with started(environment | {"KACZMATCH_DATA": str(folder / "compiled")}):
        pass  # the first start of an installation compiles kernels
    with started(environment | {"KACZMATCH_DATA": str(folder / "nobody")}) as (_, process, seconds):
        found["start with nobody, processor s"] = seconds
        nobody = private_mb(process)
    people, imports = fill(folder, people, first)
    for what, taken in imports.items():
        found[f"import of {what}, processor µs each"] = taken
    key = new_key()
    (folder / "key").write_text(key)
    with started(environment) as (_, process, seconds):
        found["first start, which writes the snapshot, processor s"] = seconds
        found["session that was imported, ending it, processor µs"] = end_sessions(data, process)
    began = time.process_time()
    checked_files.opened(data / "snapshot")
    checking = time.process_time() - began
    with started(environment) as (port, process, seconds):
        found["start with the snapshot, processor s"] = seconds
        found[CHECKING] = checking / seconds
        found["private memory beyond nobody, MB"] = private_mb(process) - nobody
        service.loaded(port, process, service.deck_requests(WARM, people, key), connections=4)
        before, requests = stored(data), service.deck_requests(ROUNDS * DECKS + WARM, people, key)[WARM:]
        decks = [service.loaded(port, process, requests[turn::ROUNDS], connections=4) for turn in range(ROUNDS)]
        rows, changed, size = (stored(data) - before) / len(requests)
        found[DECK] = float(np.median([load.cpu_us for load in decks])) / 1e3
        found["decks per second, one process"] = float(np.median([load.a_second for load in decks]))
        found["rows that a deck of 32 writes"], found["bytes that a deck of 32 writes"] = rows + changed, size
        users = [f"p{place * 101 % people}" for place in range(WARM, WARM + ROUNDS * DECKS)]
        requests = swipe_requests(port, key, users, ROUNDS * SWIPES)
        turns = list[dict[str, service.Load]]()
        with ExitStack() as programs:
            places = {"ours": (port, process)} | {front: programs.enter_context(raw(folder, front, people)) for front in PEERS}
            for turn in range(ROUNDS):  # in turns, since a machine is not equally fast all the time
                some = requests[turn * SWIPES : (turn + 1) * SWIPES]
                turns.append({who: service.loaded(*place, some) for who, place in places.items()})
        if any(load.failed for load in [*decks, *(load for turn in turns for load in turn.values())]):
            raise SystemExit("requests were refused: this measures nothing")
        found["swipe with HTTP, processor µs"] = float(np.median([turn["ours"].cpu_us for turn in turns]))
        for front, peer in PEERS.items():
            found[f"the same of {peer}"] = float(np.median([turn[front].cpu_us for turn in turns]))
        found["swipes per second"] = float(np.median([turn["ours"].a_second for turn in turns]))
        for front, rate in RATES.items():
            found[rate] = float(np.median([turn["ours"].a_second / turn[front].a_second for turn in turns]))
    alone = subprocess.run(  # noqa: S603
        [sys.executable, __file__, "--in-process"], env=os.environ, capture_output=True, text=True, check=True
    )
    found["swipe in process, processor µs"] = json.loads(alone.stdout.splitlines()[-1])
    found[BY_TWO] = decks_of_two(environment, people, key)
    for what in ("profiles", "swipes"):
        found[f"export of {what}, processor s"] = bulk(["export", what, str(folder / f"exported-{what}.csv")], data)
    found["verify, processor s"] = bulk(["verify"], data)
    found["backup, processor s"] = bulk(["backup", str(folder / "backup")], data)
    return found


def wanted(what: str, people: int) -> str:
    """Of so many people, and of what they cost over fewer, in words."""
    found = [wanted_alone(what, people), f"ratio at most {RATIOS[what]:g}" if what in RATIOS else ""]
    return "; ".join(filter(None, found))


def wanted_alone(what: str, people: int) -> str:
    if what == DECK:
        return f"at most {DECK_MS[100_000 if people <= 100_000 else 1_000_000]:g}"
    if what == BY_TWO:
        return f"at least {DECKS_A_SECOND:g} up to {DECKS_UP_TO:,} people"
    if what in AT_LEAST:
        return f"at least {AT_LEAST[what]:g}"
    return f"at most {FLOORS[what]:g}" if what in FLOORS else ""


def missed(runs: Sequence[dict[str, float]], sizes: Sequence[int]) -> list[str]:
    """Which floors were not reached, with so many people in each run."""
    first, last, people = runs[0], runs[-1], sizes[-1]
    floors = FLOORS | {DECK: next((most for size, most in DECK_MS.items() if people <= size), DECK_MS[max(DECK_MS)])}
    found = [f"{what}: {last[what]:.1f}, above {most:g}" for what, most in floors.items() if last[what] > most]
    found += [f"{what}: {last[what]:.2f}, below {least:g}" for what, least in AT_LEAST.items() if last[what] < least]
    found += [
        f"{BY_TWO}, with {size:,} people: {run[BY_TWO]:.0f}, below {DECKS_A_SECOND:g}"
        for size, run in zip(sizes, runs, strict=True)
        if size <= DECKS_UP_TO and run[BY_TWO] < DECKS_A_SECOND
    ]
    return found + [
        f"{what}: {last[what] / first[what]:.1f} times that of fewer people, above {most:g}"
        for what, most in RATIOS.items()
        if len(runs) > 1 and last[what] > most * first[what]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", default="100000,1000000", help="sizes, the smallest first")
    parser.add_argument("--floors", action="store_true", help="end with an error where a floor is missed")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    add_out(parser)
    options = parser.parse_args()
    if options.in_process:
        in_process(ROUNDS * SWIPES)
        return
    sizes = [int(size) for size in options.people.split(",")]
    if any(size % sizes[0] for size in sizes):
        parser.error("a larger size is a multiple of the first")
    with tempfile.TemporaryDirectory(prefix="kaczmatch-million-") as name:
        runs = list[Figures]()
        for size in sizes:
            print(f"{size:,} people", flush=True)
            runs.append(measured(Path(name) / str(size), size, Path(name) / "first.sqlite3"))
        if len(sizes) > 1:
            for run, spent in zip(runs, decks_in_turns([Path(name) / str(size) for size in sizes], sizes), strict=True):
                run[IN_TURNS] = spent
    rows: list[dict[str, Any]] = []
    for what in runs[0]:
        row: dict[str, Any] = {"of the service": what}
        row |= {f"{size:,} people": run[what] for size, run in zip(sizes, runs, strict=True)}
        row |= {"ratio": runs[-1][what] / runs[0][what]} if len(runs) > 1 else {}
        rows.append(row | {"wanted": wanted(what, sizes[-1])})
    tell(options.out, Table("million", "Processor time by the number of people, on SQLite", rows, timed=True))
    if problems := missed(runs, sizes):
        print("missed: " + "; ".join(problems))
        raise SystemExit(int(options.floors))


if __name__ == "__main__":
    main()
