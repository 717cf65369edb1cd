"""The power is cut while the service works: swipes, erasures, relearning, a changing vocabulary, a migration."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from killing import PATIENCE, VICTIM, wait_until
from power import CALLS, Disk, File, recorded
from processes import strace
from survival import Survived, prepare, survived

SECONDS = 3.0  # of work that are recorded


def cut(job: str, folder: Path, rng: Random, number: int) -> Iterator[Survived]:
    """Record a process that does a job on SQLite, then cut its power at some moments: what was left after each."""
    database, trace, ledger = folder / "store.db", folder / "trace", folder / "ledger"
    url = f"sqlite:///{database}"
    if job != "migrate":
        prepare(url, 0)
    before = database.read_bytes() if database.exists() else b""
    tracing = [strace(), "-f", "-qq", "-y", "-xx", "-s", "70000", "-o", str(trace), "-e", CALLS]
    command = [*tracing, sys.executable, "-W", "ignore", str(VICTIM), job, url, str(ledger), "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:  # noqa: S603
        try:
            wait_until(lambda: ledger.exists() and ledger.stat().st_size > 0, "it did nothing")
            time.sleep(SECONDS)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
    steps = [step for step in recorded(trace) if step.call != "write" or step.file == str(ledger)]
    moments = set(rng.sample(range(len(steps)), min(number, len(steps))))
    disk = Disk({str(database): File(bytearray(before))})
    for moment, step in enumerate(steps):
        disk.take(step)
        if moment in moments:
            left = folder / "left"
            left.mkdir()
            disk.write_after_a_cut(left, rng)
            yield survived(f"sqlite:///{left / 'store.db'}", disk.said, 0)
            shutil.rmtree(left)
