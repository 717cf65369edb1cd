"""What the tests of faults share: the writing process, and what must be true of its database afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from kaczmatch.service.domain.records import Event, PersonCounters
from kaczmatch.storage import SqlStore

WRITER = Path(__file__).with_name("writer.py")


def writer(*arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    command = [*before, sys.executable, str(WRITER), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


def finished(*arguments: str, before: Sequence[str] = ()) -> list[str]:
    """The lines of a writer that came to its end."""
    with writer(*arguments, before=before) as process:
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out.splitlines(keepends=True)


def kept(lines: Iterable[str]) -> set[int]:
    """What was acknowledged; a last line may be cut off."""
    return {int(line.split()[1]) for line in lines if line.startswith("kept ") and line.endswith("\n")}


def verify(url: str, acknowledged: set[int]) -> int:
    """Nothing acknowledged is missing, no work is kept by half; how many lines there are."""
    store = SqlStore(url)
    try:
        with store.read() as reader:
            lines = reader.find(Event, user="ann")
            standing = reader.get(PersonCounters, "ann")
    finally:
        store.close()
    there = {int(line.id) for line in lines}
    assert acknowledged <= there, f"lost: {sorted(acknowledged - there)}"
    assert len(lines) == (standing.swipes if standing else 0)
    return len(lines)


def strace() -> str:
    """The tracer, where it may be used."""
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run([program, "-o", os.devnull, "true"], capture_output=True, text=True, check=False)  # noqa: S603
    if tried.returncode:
        pytest.skip(f"strace may not trace here: {tried.stderr.strip()}")
    return program
