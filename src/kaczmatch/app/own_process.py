"""Long computations in a process of their own, so that requests neither wait for the interpreter nor share a core with them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final, cast

_LEAST_URGENT: Final = 19


def in_own_process(work: Callable[[], Any]) -> Any:
    """What `work` returns. It and its answer have to be picklable."""
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, input=pickle.dumps(work), stdout=subprocess.PIPE, check=True)  # noqa: S603
    return pickle.loads(done.stdout)  # noqa: S301, from our own child


def main() -> None:
    os.nice(_LEAST_URGENT)
    work = cast("Callable[[], Any]", pickle.load(sys.stdin.buffer))  # noqa: S301, from our own parent
    sys.stdout.buffer.write(pickle.dumps(work()))


if __name__ == "__main__":
    main()
