"""Long computations in a process of their own, so that requests neither wait for the interpreter nor share a core with them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Final, cast

from kaczmatch.runner.cores import ALL_CORES, run_on

_LEAST_URGENT: Final = 19


def in_own_process(work: Callable[[], Any]) -> Any:
    """What `work` returns. It and its answer have to be picklable."""
    command = [sys.executable, "-m", __name__, *map(str, sorted(ALL_CORES))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603
        with (
            suppress(BrokenPipeError),
            cast("IO[bytes]", child.stdin) as pipe,
        ):  # broken where the child has ended, and how it did is told below
            # Piece by piece: pickling a large log into memory would stop all other threads for a quarter of a second.
            pickle.dump(work, pipe)
        answer = cast("IO[bytes]", child.stdout).read()
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return pickle.loads(answer)  # noqa: S301, from our own child


def main() -> None:
    run_on([int(core) for core in sys.argv[1:]])
    os.nice(_LEAST_URGENT)
    work = cast("Callable[[], Any]", pickle.load(sys.stdin.buffer))  # noqa: S301, from our own parent
    sys.stdout.buffer.write(pickle.dumps(work()))


if __name__ == "__main__":
    main()
