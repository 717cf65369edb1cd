"""Sockets that send the head of a swipe and hold back its body: what do others notice?

Others ask for decks, or for liveness where no key is given, from another loopback address: first alone, then while a process
of its own holds the sockets and opens those again that the service closes, a few hundred per second. Fails if an answer of
others is missing, or if their p99 more than doubles.

    python benchmarks/stalled_sockets.py 127.0.0.1:8000 [--sockets 5000] [--requests 400] [--key KEY --user ID]
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import resource
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ATTACKER, OTHER = "127.0.0.1", "127.0.0.2"
HEAD = (
    b"PUT /v1/people/somebody/swipes/one HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer nobody\r\n"
    b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
)
MOST_SECONDS, MOST_TIMES, FEW_MS = 300.0, 2.0, 5.0  # p99 below a few ms may also be chance
AGAIN, PAUSE = 20, 0.05  # sockets that are opened again, and seconds after which


def stalled(host: str, port: int, source: str = ATTACKER) -> socket.socket:
    """A socket that has sent the head of a swipe, and will not send its body."""
    opened = socket.create_connection((host, port), timeout=30, source_address=(source, 0))
    with contextlib.suppress(OSError):  # closed already
        opened.sendall(HEAD)
    return opened


def hold(host: str, port: int, number: int, source: str, seconds: float) -> None:
    """Keep so many stalled sockets open for so long, and say when they are."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    watched, end = selectors.DefaultSelector(), time.monotonic() + seconds
    for _ in range(number):
        watched.register(stalled(host, port, source), selectors.EVENT_READ)
    print("held", flush=True)
    again = 0
    while time.monotonic() < end:
        for key, _ in watched.select(timeout=0.5)[:AGAIN]:  # readable: refused, or closed
            closed = key.fileobj
            assert isinstance(closed, socket.socket)
            watched.unregister(closed)
            closed.close()
            with contextlib.suppress(OSError):
                watched.register(stalled(host, port, source), selectors.EVENT_READ)
                again += 1
        time.sleep(PAUSE)
    print(again, flush=True)


@contextlib.contextmanager
def held(host: str, port: int, number: int, source: str = ATTACKER, seconds: float = MOST_SECONDS) -> Iterator[None]:
    """While the body of this runs, a process of its own holds the sockets; `seconds` at most."""
    command = [sys.executable, str(Path(__file__)), f"{host}:{port}", "--hold", str(seconds)]
    command += ["--sockets", str(number), "--source", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "held\n":
                raise SystemExit("the sockets could not be opened")
            yield
        finally:
            process.terminate()


def times(host: str, port: int, requests: int, key: str, user: str, source: str = OTHER) -> list[float]:
    """Milliseconds of each request of somebody else, every one of them answered."""
    connection = http.client.HTTPConnection(host, port, timeout=30, source_address=(source, 0))
    taken = []
    for _ in range(requests):
        start = time.perf_counter()
        if key:
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            connection.request("POST", f"/v1/people/{user}/deck", b"{}", headers)
        else:
            connection.request("GET", "/v1/health/live")
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"somebody else was answered {answer.status}")
        taken.append(1e3 * (time.perf_counter() - start))
    connection.close()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="host:port of a running service")
    parser.add_argument("--sockets", type=int, default=5_000)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--source", default=ATTACKER)
    parser.add_argument("--key", default="")
    parser.add_argument("--user", default="")
    parser.add_argument("--hold", type=float, metavar="SECONDS", help="only hold the sockets, for so long")
    options = parser.parse_args()
    host, _, port = options.address.rpartition(":")
    if options.hold is not None:
        hold(host, int(port), options.sockets, options.source, min(options.hold, MOST_SECONDS))
        return
    asked = (host, int(port), options.requests, options.key, options.user)
    times(*asked)  # warms up
    quiet = np.quantile(times(*asked), [0.5, 0.99])
    with held(host, int(port), options.sockets, options.source):
        busy = np.quantile(times(*asked), [0.5, 0.99])
    for name, (p50, p99) in (("alone", quiet), (f"beside {options.sockets:,} stalled sockets", busy)):
        print(f"{name:32s} p50 {p50:6.2f} ms  p99 {p99:6.2f} ms")
    if busy[1] > max(MOST_TIMES * quiet[1], FEW_MS):
        raise SystemExit(f"others' p99 is more than {MOST_TIMES:g} times what it was")


if __name__ == "__main__":
    main()
