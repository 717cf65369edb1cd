"""Long computations in a process of their own, so that requests neither wait for the interpreter nor share a core with them.

What they took of memory goes with the process. It ends with the process that began it, however that ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final, cast, final

from kaczmatch.runner.cores import ALL_CORES, run_on

_LEAST_URGENT: Final = 19


@final
class OwnProcesses:
    """Those that are under way."""

    def __init__(self) -> None:
        self._lock, self._ended = threading.Lock(), False
        self._children: set[subprocess.Popen[bytes]] = set()

    def __call__(self, work: Callable[[], Any]) -> Any:
        """What `work` returns. It and its answer have to be picklable."""
        command = [sys.executable, "-m", __name__, *map(str, sorted(ALL_CORES))]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603
            with self._lock:
                self._children.add(child)
                if self._ended:
                    child.kill()
            try:
                with (
                    suppress(BrokenPipeError),
                    cast("IO[bytes]", child.stdin) as pipe,
                ):  # broken where the child has ended, and how it did is told below
                    # Piece by piece: pickling a large log into memory would stop all other threads for a quarter of a second.
                    pickle.dump(work, pipe)
                    pipe.flush()
                    answer = cast("IO[bytes]", child.stdout).read()  # the pipe stays open: where it closes, the child ends
            finally:
                with self._lock:
                    self._children.discard(child)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command)
        return pickle.loads(answer)  # noqa: S301, from our own child

    def end(self) -> None:
        """At once. Whoever waits for one is told that it failed; none is begun any more."""
        with self._lock:
            self._ended = True
            for child in self._children:
                child.kill()


in_own_process: Final = OwnProcesses()


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed is no part of the answer
    run_on([int(core) for core in sys.argv[1:]])
    os.nice(_LEAST_URGENT)
    work = cast("Callable[[], Any]", pickle.load(sys.stdin.buffer))  # noqa: S301, from our own parent
    threading.Thread(target=_end_with_parent, daemon=True).start()
    found = pickle.dumps(work())
    with os.fdopen(answer, "wb", closefd=False) as pipe:  # the answer ends when this process has
        pipe.write(found)


def _end_with_parent() -> None:
    """Nothing more comes through the pipe. It closes when nobody waits for the answer."""
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
