"""A large log of swipes, imported by the command into SQLite: rows a second, CPU a row, peak memory.

The people and the log are made up from a seed. `--killed-after` ends the import once in the middle with SIGKILL and starts it
again, which goes on where it had got to. Progress is the command's own.

    python benchmarks/importing.py [--people 20000] [--swipes 1000000] [--killed-after SECONDS] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kaczmatch.app.first_vocabulary import GENERAL
from kaczmatch.report.results import Table
from tables import add_out, tell

COMMAND = [str(Path(sys.executable).with_name("kaczmatch"))]
START = datetime(2026, 1, 1, tzinfo=UTC)
MIB = 1024  # getrusage counts kilobytes


class Run(NamedTuple):
    """What one command took."""

    seconds: float
    cpu: float
    peak_mib: float
    rc: int


def people_file(path: Path, people: int, rng: np.random.Generator) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "name", "born", "i_am", "i_look_for", "tags"])
        for place in range(people):
            kind, other = ("man", "woman") if place % 2 else ("woman", "man")
            tags = "|".join(rng.choice(GENERAL, rng.integers(4, 14), replace=False).tolist())
            out.writerow([f"p{place}", f"Person {place}", f"{1970 + place % 35}-01-01", kind, other, tags])


def swipes_file(path: Path, people: int, swipes: int, rng: np.random.Generator) -> None:
    """In the order of time, as a log is: fifty people swipe side by side, twenty times each, then fifty others."""
    together, session = 50, 20
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["user", "candidate", "decision", "at"])
        for row in range(swipes):
            if row % (together * session) == 0:
                users = rng.choice(people, together, replace=False).tolist()
                others = (1 + 2 * rng.integers(0, people // 2, together * session)).tolist()
                likes = (rng.random(together * session) < 0.3).tolist()
            user, place = users[row % together], row % (together * session)
            decision, at = "like" if likes[place] else "pass", START + timedelta(seconds=row)
            out.writerow([f"p{user}", f"p{(user + others[place]) % people}", decision, at.isoformat()])


def ran(arguments: list[str], folder: Path, killed_after: float | None = None) -> Run:
    began = time.perf_counter()
    process = subprocess.Popen([*COMMAND, *arguments], env=os.environ | {"KACZMATCH_DATA": str(folder)})  # noqa: S603
    if killed_after is not None:
        time.sleep(killed_after)
        process.kill()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / MIB, process.returncode)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--swipes", type=int, default=1_000_000)
    parser.add_argument("--killed-after", type=float, default=None)
    add_out(parser)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="kaczmatch-importing-") as name:
        folder = Path(name)
        people_file(folder / "people.csv", asked.people, rng)
        swipes_file(folder / "swipes.csv", asked.people, asked.swipes, rng)
        runs = [("profiles", ran(["import", "profiles", str(folder / "people.csv")], folder / "data"), asked.people)]
        arguments = ["import", "swipes", str(folder / "swipes.csv")]
        cut = Run(0.0, 0.0, 0.0, 0)
        if asked.killed_after is not None:
            cut = ran(arguments, folder / "data", asked.killed_after)
            print(f"killed after {cut.seconds:.0f} s (exit {cut.rc}), and once more:", flush=True)
        rest = ran(arguments, folder / "data")
        whole = Run(cut.seconds + rest.seconds, cut.cpu + rest.cpu, max(cut.peak_mib, rest.peak_mib), rest.rc)
        runs.append(("swipes", whole, asked.swipes))
    if any(run.rc for _, run, _ in runs):
        raise SystemExit("an import failed")
    table = [
        {
            "import of": what,
            "rows": rows,
            "seconds": run.seconds,
            "rows per second": rows / run.seconds,
            "µs of CPU per row": 1e6 * run.cpu / rows,
            "peak MiB": run.peak_mib,
        }
        for what, run, rows in runs
    ]
    tell(asked.out, Table("importing", "The command's import into SQLite", table, timed=True))


if __name__ == "__main__":
    main()
