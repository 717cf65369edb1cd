"""Cut the power of a run that was recorded: what was not synced may be lost, sector by sector.

A run under strace leaves its writes, syncs and truncations of the database's files in the order they happened, and its own
acknowledgements among them. Up to any moment, what was synced is on the disk; of what was written since, each sector of 512 bytes
may have arrived or not, whatever its order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

SECTOR = 512
CALLS = "trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat"

_CALL = re.compile(r"^(\d+)\s+(\w+)\((.*)\)\s+= (-?\d+)")
_BEGUN = re.compile(r"^(\d+)\s+(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"^(\d+)\s+<\.\.\. \w+ resumed>(.*)$")
_ON = re.compile(r"^\d+<([^>]*)>")
_HEX = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True)
class Step:
    """One call that changed a file, or said something."""

    call: str
    file: str
    data: bytes = b""
    place: int = 0


def recorded(trace: Path) -> Iterator[Step]:
    """The calls of a trace (strace -f -y -xx) at the moments they returned."""
    begun: dict[str, str] = {}
    for line in trace.read_text().splitlines():
        if match := _BEGUN.match(line):
            begun[match[1]] = match[2]
            continue
        if match := _RESUMED.match(line):
            line = f"{match[1]} {begun.pop(match[1])}{match[2]}"
        match = _CALL.match(line)
        if match is None or int(match[4]) < 0:
            continue
        call, arguments = match[2], match[3]
        data = bytes.fromhex(text[1].replace("\\x", "")) if (text := _HEX.search(arguments)) else b""
        on = _ON.match(arguments)
        name = bytes.fromhex(on[1].replace("\\x", "")).decode() if on and "\\x" in on[1] else on[1] if on else data.decode()
        number = arguments.rpartition(", ")[2]
        yield Step(call, name, data, int(number) if number.isdigit() else 0)


@dataclass
class File:
    """What is on the disk for sure, and what may be."""

    synced: bytearray = field(default_factory=bytearray)
    since: list[Step] = field(default_factory=list)

    def sync(self) -> None:
        for step in self.since:
            _apply(self.synced, step)
        self.since.clear()

    def after_a_cut(self, rng: Random) -> bytes:
        image = bytearray(self.synced)
        luck = rng.choice([0.0, 0.5, 0.9, 1.0])
        for step in self.since:
            if step.call == "ftruncate":
                if rng.random() < luck:
                    _apply(image, step)
                continue
            for start in range(0, len(step.data), SECTOR):
                if rng.random() < luck:
                    _apply(image, Step("pwrite64", step.file, step.data[start : start + SECTOR], step.place + start))
        return bytes(image)


def _apply(image: bytearray, step: Step) -> None:
    if step.call == "ftruncate":
        del image[step.place :]
        return
    if len(image) < step.place:
        image.extend(bytes(step.place - len(image)))
    image[step.place : step.place + len(step.data)] = step.data


@dataclass
class Disk:
    """The files of a database, and what was acknowledged, up to some moment of a run."""

    files: dict[str, File]
    acknowledged: set[int] = field(default_factory=set)
    said: list[str] = field(default_factory=list)  # everything that was written to no file of the database

    def take(self, step: Step) -> None:
        if step.call == "write":
            words = step.data.split()
            self.said.append(step.data.decode(errors="replace"))
            if len(words) == 2 and words[0] == b"kept":
                self.acknowledged.add(int(words[1]))
        elif step.call in ("pwrite64", "ftruncate"):
            if not step.file.endswith("-shm"):
                self.files.setdefault(step.file, File()).since.append(step)
        elif step.call in ("fsync", "fdatasync"):
            if step.file in self.files:
                self.files[step.file].sync()
        else:
            self.files.pop(step.file, None)

    def write_after_a_cut(self, folder: Path, rng: Random) -> None:
        for name, file in self.files.items():
            (folder / Path(name).name).write_bytes(file.after_a_cut(rng))
