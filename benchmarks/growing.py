"""What a service of any size needs (docs/growing.md): disk, memory, processor time and start-up, from measured figures.

    python benchmarks/growing.py [--small 20000] [--large 100000] [--out FOLDER]

Figures that docs/results has are taken from there. The others are measured here at two sizes, and the difference counts per
person: the table `figures` says which is which. Both sizes are large enough for a snapshot. Everything beyond the measured sizes
is an extrapolation by straight lines.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import availability
import service
from kaczmatch.app.composition import context_of
from kaczmatch.report.results import Table
from kaczmatch.settings.reading import read
from kaczmatch.storage import SqlStore
from tables import add_out, tell

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from worlds.postgres import Server, programs

STORES = ("SQLite", "PostgreSQL")
RESULTS = Path(__file__).parents[1] / "docs" / "results"
SWIPES, DECKS = 1_500, 300  # requests that are measured
MILLION, GIGA = 1_000_000, 1e9
# Of the people, on a busy service: assumptions, which the page names.
ACTIVE, SWIPES_A_DAY, CARDS_OF_A_DECK, PEAK = 0.2, 50.0, 20.0, 3.0
CORES, MEMORY_GB, BUSY = 16, 64.0, 0.5  # of a machine, and how busy its cores should be at the peak
REGION, WHOLE = 2 * MILLION, 2 * MILLION  # residents of a region; people whom one process may hold before regions are worth it
WRITES_PER_COMMIT = 20.0  # swipes that share a commit at the peak


@dataclass(frozen=True)
class Figure:
    """A number, what it is, and where it comes from."""

    name: str
    unit: str
    value: float
    source: str

    def row(self) -> dict[str, Any]:
        return {"figure": self.name, "value": self.value, "unit": self.unit, "from": self.source}


# figure, unit; and the result, table, column and first cell of the row that have it, with a factor to the unit
RECORDED: Mapping[str, tuple[str, str, str, str, float]] = {
    "service, per swipe": ("hosts-cost", "cost", "service, µs per swipe", "two", 1.0),
    "PostgreSQL, per swipe": ("hosts-cost", "cost", "PostgreSQL, µs per swipe", "two", 1.0),
    "PostgreSQL, per deck": ("hosts-cost", "cost", "PostgreSQL, µs per deck", "two", 1.0),
    "held in all, per person": ("regions", "regions", "held in all, per person", f"100000000 {REGION} where fewest live", 1.0),
}
UNITS = {
    "disk of a person, SQLite": "bytes",
    "disk of a person, PostgreSQL": "bytes",
    "disk of a swipe, SQLite": "bytes",
    "disk of a swipe, PostgreSQL": "bytes",
    "memory of a process without people": "MB",
    "memory of a person": "bytes",
    "start without people": "s",
    "start, per person": "µs",
    "start with a snapshot, per person": "µs",
    "service, per swipe": "µs of processor",
    "PostgreSQL, per swipe": "µs of processor",
    "PostgreSQL, per deck": "µs of processor",
    "service, per deck": "µs of processor",
    "service, per deck and person": "µs of processor",
    "held in all, per person": "people",
}


def recorded(name: str) -> Figure | None:
    """A figure of docs/results, if it was recorded."""
    result, table, column, first, factor = RECORDED[name]
    file = RESULTS / f"{result}.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"tables": {}}
    if table not in found["tables"]:
        return None
    columns, rows = found["tables"][table]["columns"], found["tables"][table]["rows"]
    for row in rows:
        if " ".join(map(str, row)).startswith(first):
            source = f"recorded: {result}, {found['date']}, commit {found['commit'][:7]}"
            return Figure(name, UNITS[name], factor * float(row[columns.index(column)]), source)
    return None


@contextmanager
def serving(environment: dict[str, str], folder: Path) -> Iterator[tuple[int, float]]:
    """A service: its process, and the seconds until it had loaded everybody."""
    log, port = folder / "log", int(environment["KACZMATCH_PORT"])
    command = [str(Path(sys.executable).with_name("kaczmatch")), "serve", "--log", "json"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=os.environ | environment, stdout=out, stderr=out)  # noqa: S603
        try:
            service.wait_ready(process, port, command)
            while (said := re.search(r'"loading everybody": ([0-9.e-]+)', log.read_text())) is None:
                time.sleep(0.05)  # the line comes a moment after it is ready
            yield process.pid, float(said[1])
        finally:
            process.terminate()
            process.wait(60)


def measure(people: int, server: Server | None) -> dict[str, float]:
    """A store with so many people and as many swipes, and a process that serves it. Without a server it is a SQLite file."""
    with tempfile.TemporaryDirectory(prefix="kaczmatch-growing-") as name:
        folder, port = Path(name), service.free_port()
        environment = {
            "KACZMATCH_DATABASE": f"sqlite:///{folder}/service.db" if server is None else server.new("template1"),
            "KACZMATCH_DATA": name,
            "KACZMATCH_PORT": str(port),
            "KACZMATCH_REFIT": "false",
            "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
            "OPENBLAS_NUM_THREADS": "1",
        }
        (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(service.TAGS)))
        key = service.prepare(environment, people, SWIPES)
        empty = disk_used(environment["KACZMATCH_DATABASE"])
        with closing(SqlStore(environment["KACZMATCH_DATABASE"])) as store:
            availability.fill(context_of(read(), store), people)
        full = disk_used(environment["KACZMATCH_DATABASE"])
        with serving(environment, folder) as (_, loading):
            pass  # it writes the snapshot
        with serving(environment, folder) as (process, mapping):
            memory = int(Path(f"/proc/{process}/status").read_text().partition("VmRSS:")[2].split()[0]) * 1024
            before = server_seconds(server)
            swipes = service.loaded(port, process, service.swipe_requests(0, SWIPES, people, key))
            between = server_seconds(server)
            decks = service.loaded(port, process, service.deck_requests(DECKS, people, key), connections=4)
            after = server_seconds(server)
    if swipes.failed or decks.failed:
        raise SystemExit("requests were refused: this measures nothing")
    print(f"  {people:,} people on {'SQLite' if server is None else 'PostgreSQL'}: swipes {swipes}; decks {decks}", flush=True)
    return {
        "disk": float(empty),
        "disk of swipes": float(full - empty),
        "memory": float(memory),
        "start": loading,
        "start with a snapshot": mapping,
        "swipe": swipes.cpu_us,
        "server": 1e6 * (between - before) / SWIPES,
        "server's decks": 1e6 * (after - between) / DECKS,
        "deck": decks.cpu_us,
    }


def disk_used(url: str) -> int:
    """Of a database that nobody has open: a SQLite file has its log in it then."""
    with closing(SqlStore(url)) as store:
        return store.database.bytes_used()


def server_seconds(server: Server | None) -> float:
    """What PostgreSQL's processes have used so far."""
    if server is None:
        return 0.0
    root = server.process.pid
    children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    return sum(service.cpu_seconds(int(process)) for process in children)


def figures(small: int, large: int) -> dict[str, Figure]:
    file = [measure(people, None) for people in (small, large)]
    server = Server(programs(), service.POSTGRESQL)
    try:
        few, many = [measure(people, server) for people in (small, large)]
    finally:
        server.remove()

    def slope(what: str, low: Mapping[str, float] = few, high: Mapping[str, float] = many) -> float:
        return (high[what] - low[what]) / (large - small)

    values = {
        "disk of a person, SQLite": slope("disk", *file),
        "disk of a person, PostgreSQL": slope("disk"),
        "disk of a swipe, SQLite": file[1]["disk of swipes"] / large,
        "disk of a swipe, PostgreSQL": many["disk of swipes"] / large,
        "memory of a process without people": (few["memory"] - small * slope("memory")) / 1e6,
        "memory of a person": slope("memory"),
        "start without people": max(0.0, few["start"] - small * slope("start")),
        "start, per person": 1e6 * slope("start"),
        "start with a snapshot, per person": max(0.0, 1e6 * slope("start with a snapshot")),
        "service, per swipe": many["swipe"],
        "PostgreSQL, per swipe": many["server"],
        "PostgreSQL, per deck": many["server's decks"],
        "service, per deck": max(0.0, few["deck"] - small * slope("deck")),
        "service, per deck and person": max(0.0, slope("deck")),
        "held in all, per person": 1.0,
    }
    source = f"measured here, at {small:,} and {large:,} people"
    measured = {name: Figure(name, UNITS[name], value, source) for name, value in values.items()}
    known = {name: found for name in RECORDED if (found := recorded(name)) is not None}
    return {name: known.get(name, measured[name]) for name in UNITS}


def sizes(found: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """Per million people, and per hundred million swipes."""
    of = {name: figure.value for name, figure in found.items()}
    return [
        *(
            {"what": f"disk per million people, {store}, GB", "needs": of[f"disk of a person, {store}"] * MILLION / GIGA}
            for store in STORES
        ),
        *(
            {
                "what": f"disk per hundred million swipes, {store}, GB",
                "needs": of[f"disk of a swipe, {store}"] * 100 * MILLION / GIGA,
            }
            for store in STORES
        ),
        {"what": "memory of each process per million people, GB", "needs": of["memory of a person"] * MILLION / GIGA},
        {"what": "first start per million people, s", "needs": of["start, per person"]},
        {"what": "start with a snapshot per million people, s", "needs": of["start with a snapshot, per person"]},
        {"what": "processor seconds per thousand swipes", "needs": of["service, per swipe"] / 1e3},
        {"what": "processor seconds of PostgreSQL per thousand swipes", "needs": of["PostgreSQL, per swipe"] / 1e3},
        {"what": "processor seconds of PostgreSQL per thousand decks", "needs": of["PostgreSQL, per deck"] / 1e3},
        {"what": "processor seconds per thousand decks, from a million people", "needs": deck_us(of, MILLION) / 1e3},
        {
            "what": "core-hours per hundred million swipes, with their decks, from a million people",
            "needs": 100 * MILLION * (of["service, per swipe"] + deck_us(of, MILLION) / CARDS_OF_A_DECK) / 1e6 / 3_600,
        },
    ]


def deck_us(of: Mapping[str, float], people: float) -> float:
    return of["service, per deck"] + of["service, per deck and person"] * people


def extrapolated(found: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """By straight lines from the figures. Nothing of this size was run."""
    of, rows = {name: figure.value for name, figure in found.items()}, []
    of_database = of["PostgreSQL, per swipe"] + of["PostgreSQL, per deck"] / CARDS_OF_A_DECK
    year = of["disk of a swipe, PostgreSQL"] * ACTIVE * SWIPES_A_DAY * 365
    for people in (100_000, MILLION, 10 * MILLION, 100 * MILLION):
        divided = people > WHOLE
        held = min(people, REGION) * (of["held in all, per person"] if divided else 1.0)
        swipes = people * ACTIVE * SWIPES_A_DAY * PEAK / 86_400  # per second at the peak
        work = swipes * (of["service, per swipe"] + deck_us(of, held) / CARDS_OF_A_DECK) / 1e6
        regions = math.ceil(people / REGION)
        cores = max(regions, work / BUSY)  # a region needs a process
        memory = max(cores, regions) * (of["memory of a person"] * held + of["memory of a process without people"] * 1e6) / GIGA
        rows.append(
            {
                "people": people,
                "regions": regions,
                "people of a process": int(held),
                "swipes per second at the peak": swipes,
                "cores": math.ceil(cores),
                "memory, GB": memory,
                "machines": max(math.ceil(cores / CORES), math.ceil(memory / MEMORY_GB)),
                "core-hours per day": work / PEAK * 24,
                "commits per second": swipes / WRITES_PER_COMMIT,
                "cores of PostgreSQL": swipes * of_database / 1e6 / BUSY,
                "disk after a year, TB": people * (of["disk of a person, PostgreSQL"] + year) / 1e12,
            }
        )
    return rows


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=100_000)
    add_out(parser)
    asked = parser.parse_args(words)
    found = figures(asked.small, asked.large)
    title = (
        f"Extrapolation: {ACTIVE:.0%} of the people make {SWIPES_A_DAY:g} swipes a day each, {CARDS_OF_A_DECK:g} cards per deck, "
        f"a peak of {PEAK:g} times the average; machines of {CORES} cores and {MEMORY_GB:g} GB, {BUSY:.0%} busy"
    )
    tell(
        asked.out,
        Table("figures", "Figures", [figure.row() for figure in found.values()], timed=True),
        Table("sizes", "What it needs", sizes(found), timed=True),
        Table("extrapolation", title, extrapolated(found), timed=True),
    )


if __name__ == "__main__":
    main()
