"""`kaczmatch serve` on any machine without importing everything again, which takes most of a start.

Run as a program, this reads one order per line (a namespace, the environment, a file for the output), forks, and says the number
of the child, which enters the namespace and serves.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

CLONE_NEWNET = 0x40000000


class Forked:
    """A child of the program below, with what tests need of `Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        return None if Path(f"/proc/{self.pid}").exists() else 0

    def send_signal(self, how: int) -> None:
        os.kill(self.pid, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60.0) -> None:
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.01)


class ForkServer:
    """The program, with the code of this commit or of another."""

    def __init__(self, code: Path | None = None) -> None:
        environment = os.environ | ({} if code is None else {"PYTHONPATH": str(code)})
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-W", "ignore", __file__], env=environment, **pipes)  # type: ignore[call-overload]  # noqa: S603

    def start(self, namespace: str, environment: dict[str, str], log: Path) -> Forked:
        self._process.stdin.write(json.dumps([f"/run/netns/{namespace}", environment, str(log)]) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate(timeout=60)


def _serve(namespace: str, environment: dict[str, str], log: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    there = os.open(namespace, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(there, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(there)
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for descriptor, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out), (2, out)):
        os.dup2(file, descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["kaczmatch", "serve", "--port", "8000"]
    main()


if __name__ == "__main__":
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # before numpy is loaded: a process with threads must not fork
    from kaczmatch.app import server  # noqa: F401
    from kaczmatch.app.warm_up import warm_up
    from kaczmatch.cli.main import main
    from kaczmatch.settings.model import Settings

    warm_up(Settings())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to wait for a child that has ended
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _serve(*json.loads(line))
            os._exit(0)
        print(child, flush=True)
