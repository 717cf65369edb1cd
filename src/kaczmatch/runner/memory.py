"""How much memory parts may take."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_EVERY: Final = 0.02  # seconds


def parts_at_once(workers: int, memory: int) -> int:
    """As many as there are workers, or fewer where the machine has not so much memory free; one at least."""
    free = _bytes_of(Path("/proc/meminfo"), "MemAvailable")
    return workers if not memory or free is None else max(1, min(workers, free // memory))


@contextmanager
def limited(memory: int) -> Iterator[None]:
    """What runs here may take so many bytes more than this process has now. Beyond that, the process is killed.

    A limit of the operating system would be simpler. But libraries hang when memory is refused to their threads.
    """
    held = _bytes_of(Path("/proc/self/status"), "VmRSS") if memory else None
    if held is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_EVERY):
            if (_bytes_of(Path("/proc/self/status"), "VmRSS") or 0) > held + memory:
                os.kill(os.getpid(), signal.SIGKILL)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _bytes_of(file: Path, name: str) -> int | None:
    """A line such as `MemAvailable:  1024 kB`; None on systems other than Linux, which have no such file."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)
