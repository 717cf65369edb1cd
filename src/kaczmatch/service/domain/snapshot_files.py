"""The files of this machine's snapshot of the serving index: who may write them, and who has changed since they were written.

They hold personal data. Only the owner can read them, and an erasure overwrites the person's part. Files that are damaged
(`checked_files`) are thrown away, and never used.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index import storage
from kaczmatch.recommend.index.checked_files import ABOUT, Damaged, sealed, unsealed

LEAST_PEOPLE: Final = 10_000  # fewer are loaded from the store within seconds, and no file is made of them
_LIST: Final = "changed"


def _unnoticed(damage: str) -> None:
    """Who has no log."""


@final
class SnapshotFiles:
    """A folder of arrays, which all processes of a machine map. Another one is written beside it and swapped in."""

    def __init__(self, folder: Path, least_people: int = LEAST_PEOPLE, on_damage: Callable[[str], None] = _unnoticed) -> None:
        """`on_damage` is told why files were thrown away."""
        self.folder, self.next, self.least_people = folder, folder.with_name(f"{folder.name}-next"), least_people
        self._on_damage = on_damage
        self.is_renewed = False  # by this process, and changes are kept for the next one
        self._keeper: int | None = None  # a file that is locked as long as this process keeps the list of changes

    def about(self, folder: Path | None = None) -> dict[str, Any] | None:
        """What it says about itself; None where there is none that this release can read."""
        try:
            return storage.read_about(folder or self.folder)
        except (OSError, InvalidInput, Damaged):
            return None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The files stay as they are and where they are. Several processes read at a time. Those that turn out to be damaged are
        thrown away."""
        try:
            with self._locked("lock", shared=True):
                version = self.version()
                yield
        except Damaged as damage:
            with self._changing():
                if self.version() == version:  # else another process has thrown them away
                    self._throw_away(self.folder, damage)
            raise

    def version(self) -> tuple[int, int] | None:
        """Differs from one snapshot to the next."""
        try:
            found = (self.folder / ABOUT).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def swap(self) -> None:
        """The next snapshot takes the place of this one."""
        with self._changing():
            storage.check_replaceable(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.next.rename(self.folder)

    def overwrite(self, person: str) -> None:
        """Leave nothing of a person in the files, nor in those that wait to be swapped in or were left half-written."""
        with suppress(BlockingIOError), self._locked("building", wait=False):
            self._remove_half_written()
        with self._changing():  # both: one may just take the place of the other
            for folder in (self.folder, self.next):
                if (folder / ABOUT).exists():  # else it is somebody else's
                    try:
                        storage.overwrite(folder, person)
                    except (OSError, ValueError, Damaged) as problem:  # nothing of the person may stay
                        self._throw_away(folder, problem)

    def tidy(self) -> None:
        """Remove what a process has left that was killed while it wrote."""
        # While another one is being written, or waits to be swapped in, nothing was left.
        with suppress(BlockingIOError), self._locked("renewing", wait=False), self._locked("building", wait=False):
            shutil.rmtree(self.next, ignore_errors=True)
            self._remove_half_written()

    def _remove_half_written(self) -> None:
        """Of whoever was killed while it wrote: the caller holds the lock of those who write."""
        for left in self.folder.parent.glob(f".{self.next.name}.*"):
            shutil.rmtree(left, ignore_errors=True)

    def _throw_away(self, folder: Path, why: Exception) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._on_damage(f"{folder}: {why}")

    def changed(self) -> tuple[NDArray[np.int64], int]:
        """Who has changed since, by number, and up to which change that is known. 0: nobody has kept the list."""
        people, known, end = list[int](), 0, 0
        for line in self._list().splitlines(keepends=True):
            known, some = json.loads(unsealed(line, _LIST, self._checksum(), end))
            people += some
            end += len(line)
        return np.unique(np.array(people, np.int64)), known

    def add_changed(self, version: tuple[int, int], people: Iterable[int], up_to: int) -> None:
        """These people have changed; all changes up to a number are known now. Only the keeper of the list says so.

        Nothing is said of another snapshot than that of a version.
        """
        with self._changing():
            if self.version() != version:
                return
            end = len(self._list())
            line = sealed(json.dumps([up_to, [*people]]).encode(), _LIST, self._checksum(), end)
            opened = os.open(self.folder / _LIST, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.truncate(opened, end)
                os.pwrite(opened, line, end)
            finally:
                os.close(opened)

    def _list(self) -> bytes:
        """Its lines. What comes after the last end of a line, a crash has left: the store still has those changes."""
        try:
            found = (self.folder / _LIST).read_bytes()
        except FileNotFoundError:
            return b""
        return found[: found.rfind(b"\n") + 1]

    def _checksum(self) -> bytes:
        """Of what the snapshot says about itself: the list is that of no other one."""
        with (self.folder / ABOUT).open("rb") as file:
            return file.read(8)

    def is_keeper(self) -> bool:
        """Whether this process keeps the list of changes. One per machine does, until it ends."""
        if self._keeper is None:
            opened = self._lock_file("keeper")
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(opened)
                return False
            self._keeper = opened
        return True

    def let_go(self) -> None:
        """Another process may keep the list."""
        if self._keeper is not None:
            os.close(self._keeper)
            self._keeper = None

    @contextmanager
    def building(self) -> Iterator[None]:
        """One process at a time loads everybody for all others of the machine."""
        with self._locked("building"):
            self._remove_half_written()
            yield

    @contextmanager
    def renewing(self) -> Iterator[bool]:
        """Another one is written by another process, and then swapped in by this one. False: somebody is at it."""
        with ExitStack() as held:
            try:
                held.enter_context(self._locked("renewing", wait=False))
            except BlockingIOError:
                mine = False
            else:
                mine = self.is_renewed = True
            try:
                yield mine
            finally:
                self.is_renewed = self.is_renewed and not mine

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._locked("lock"):
            yield

    @contextmanager
    def _locked(self, name: str, *, wait: bool = True, shared: bool = False) -> Iterator[None]:
        opened = self._lock_file(name)
        try:
            fcntl.flock(opened, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
            yield
        finally:
            os.close(opened)

    def _lock_file(self, name: str) -> int:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self.folder.with_name(f"{self.folder.name}.{name}"), os.O_RDWR | os.O_CREAT, 0o600)
