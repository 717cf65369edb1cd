"""What it saves that the threads which answer requests share one core: decks and swipes of two services in turns, on SQLite.

One of them is as it is. In the other the system decides where threads run. Both have the same people. Figures are processor time
of the service per request, and how often its threads gave up the processor to wait.

    python benchmarks/request_core.py [--people 20000] [--rounds 8] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import million
import service
from kaczmatch.report.results import Table
from tables import add_out, tell

DECKS, SWIPES = 150, 1_500  # per round
TOGETHER, APART = "on one core", "where the system puts them"
UNPINNED = """
from kaczmatch.app.request_core import RequestCore
from kaczmatch.cli.main import main
RequestCore.look = lambda self: None
main()
"""


class Spent(NamedTuple):
    """What a service has used so far: processor milliseconds, and times that a thread waited."""

    ms: float
    waits: int

    @classmethod
    def by(cls, process: int) -> Spent:
        ms, waits = 0.0, 0
        for thread in Path(f"/proc/{process}/task").iterdir():
            ms += int((thread / "schedstat").read_text().split()[0]) / 1e6
            (line,) = (one for one in (thread / "status").read_text().splitlines() if one.startswith("voluntary"))
            waits += int(line.split()[1])
        return cls(ms, waits)


def measured(port: int, process: int, requests: Sequence[bytes], connections: int) -> tuple[float, float, float]:
    before = Spent.by(process)
    load = asyncio.run(service.drive(port, requests, connections))
    after = Spent.by(process)
    if load.failed:
        raise SystemExit(f"{load.failed} requests were refused: this measures nothing")
    return (after.ms - before.ms) / len(requests), (after.waits - before.waits) / len(requests), load.a_second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=8)
    add_out(parser)
    options = parser.parse_args()
    commands = {
        TOGETHER: [str(Path(sys.executable).with_name("kaczmatch")), "serve"],
        APART: [sys.executable, "-c", UNPINNED, "serve"],
    }
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kaczmatch-core-")))
        running = []
        for place, (name, command) in enumerate(commands.items()):
            own, port = folder / str(place), service.free_port()
            environment = {
                "KACZMATCH_DATA": str(own),
                "KACZMATCH_PORT": str(port),
                "KACZMATCH_REFIT": "false",
                "OPENBLAS_NUM_THREADS": "1",
                "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
            }
            if place:
                shutil.copytree(folder / "0", own)
            else:
                own.mkdir()
                (folder / "words.txt").write_text("\n".join(f"tag {tag}" for tag in range(service.TAGS)))
                key = service.prepare(environment, options.people, 1)
            running.append((name, port, stack.enter_context(service.serving(command, port, environment))))
        for turn in range(options.rounds + 1):  # the first one warms up
            users = range(turn * DECKS, (turn + 1) * DECKS)
            for name, port, process in running:
                decks = service.deck_requests(users.stop, options.people, key)[users.start :]
                of_decks = measured(port, process, decks, 4)
                swipes = million.swipe_requests(port, key, [f"p{user * 101 % options.people}" for user in users], SWIPES)
                of_swipes = measured(port, process, swipes, service.CONNECTIONS)
                if turn:
                    found.setdefault((name, "deck"), []).append(of_decks)
                    found.setdefault((name, "swipe"), []).append(of_swipes)
    rows: list[dict[str, Any]] = []
    for what in ("deck", "swipe"):
        apart = np.array(found[APART, what])
        for name in commands:
            values = np.array(found[name, what])
            cost, waits, rate = np.median(values, axis=0)
            ratio = float(np.median(values[:, 0] / apart[:, 0]))
            row = {"threads": name, "request": what, "processor ms": float(cost), "waits": float(waits)}
            rows.append(row | {"per second": float(rate), "of the processor time": ratio})
    title = f"{options.people:,} people on SQLite, the middle of {options.rounds} rounds"
    tell(options.out, Table("request-core", title, rows, timed=True))


if __name__ == "__main__":
    main()
