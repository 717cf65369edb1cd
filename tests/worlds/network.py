"""Machines on one machine: network namespaces on a bridge of their own. Nothing outside them gets an address.

`Network` makes them and takes everything away again. A thread that is `inside` a machine opens its sockets there, and what it
starts runs there. `vanish` cuts the cable first, so that nobody is told: no connection is closed, packets just get lost.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

CLONE_NEWNET = 0x40000000
NAMESPACES = Path("/run/netns")
PREFIX = "kaczm"  # of the names of our namespaces: then the process that made one, and the machine
PATIENCE = 300.0  # seconds until something that has to happen has not happened


def program(name: str, package: str = "") -> str:
    """A program of the system, which tests are skipped without."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed: `make test` tries to, or: apt-get install {package or name}")
    return found


def ip(*words: str) -> None:
    subprocess.run([program("ip", "iproute2"), *words], check=True, capture_output=True, text=True)  # noqa: S603


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """This thread is in a namespace; threads and processes that it starts meanwhile stay there."""
    before, there = (os.open(path, os.O_RDONLY) for path in ("/proc/thread-self/ns/net", NAMESPACES / namespace))
    try:
        _enter(there)
        yield
    finally:
        _enter(before)
        os.close(before)
        os.close(there)


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


class Machine:
    """A namespace with one address, and the processes that were started in it."""

    def __init__(self, network: Network, name: str, address: str) -> None:
        self._network, self.address = network, address
        self.namespace, self._cable = f"{network.name}-{name}", f"{network.name[len(PREFIX) :]}{name}"
        self.processes: list[Any] = []  # as `subprocess` makes them, or the like
        self.plug_in()

    def plug_in(self) -> None:
        """A new namespace with a cable to the bridge, at first or after it vanished."""
        switch = self._network.switch
        ip("netns", "add", self.namespace)
        ip("-n", switch, "link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        ip("-n", switch, "link", "set", self._cable, "master", "bridge", "up")
        ip("-n", self.namespace, "link", "set", "lo", "up")
        ip("-n", self.namespace, "address", "add", f"{self.address}/24", "dev", "eth0")
        ip("-n", self.namespace, "link", "set", "eth0", "up")

    def inside(self) -> Any:
        return inside(self.namespace)

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        with self.inside():
            process = subprocess.Popen(command, **options)  # noqa: S603
        self.processes.append(process)
        return process

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End its processes, and wait until they have."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send_signal(how)
        for process in self.processes:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def vanish(self) -> None:
        """Cut the cable, kill everything, remove the namespace."""
        ip("-n", self._network.switch, "link", "delete", self._cable)
        self.end(signal.SIGKILL)
        ip("netns", "delete", self.namespace)

    def remove(self) -> None:
        self.end()
        if (NAMESPACES / self.namespace).exists():
            ip("netns", "delete", self.namespace)


class Network:
    """A bridge in a namespace of its own, and machines on it."""

    def __init__(self) -> None:
        if os.getuid() != 0:
            pytest.skip("network namespaces need root")
        self.name, self.machines = f"{PREFIX}{os.getpid()}", list[Machine]()
        self.switch = f"{self.name}-switch"
        remove_abandoned()
        try:
            ip("netns", "add", self.switch)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not allowed here: {error.stderr.strip()}")
        ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge", "up")

    def machine(self, name: str, address: str) -> Machine:
        self.machines.append(Machine(self, name, address))
        return self.machines[-1]

    def remove(self) -> None:
        """Clients before servers: the last machine first."""
        for machine in reversed(self.machines):
            machine.remove()
        ip("netns", "delete", self.switch)


@contextmanager
def network() -> Iterator[Network]:
    made = Network()
    try:
        yield made
    finally:
        made.remove()


def remove_abandoned() -> None:
    """Namespaces of runs that were killed."""
    for path in NAMESPACES.glob(f"{PREFIX}*-*") if NAMESPACES.exists() else ():
        process = path.name.removeprefix(PREFIX).partition("-")[0]
        if process.isdigit() and not Path("/proc", process).exists():
            with suppress(subprocess.CalledProcessError):
                ip("netns", "delete", path.name)


def wait_until(happened: Any, otherwise: str, pause: float = 0.05) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, otherwise
        time.sleep(pause)
