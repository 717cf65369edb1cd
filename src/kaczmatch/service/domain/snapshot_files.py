"""The files of this machine's snapshot of the serving index: who may write them, and who has changed since they were written.

They hold personal data. Only the owner can read them, and an erasure overwrites the person's part.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index import storage

LEAST_PEOPLE: Final = 10_000  # fewer are loaded from the store within seconds, and no file is made of them
_MARK: Final = -1  # stands before the number of a change: the list tells of all changes up to it


@final
class SnapshotFiles:
    """A folder of arrays, which all processes of a machine map. Another one is written beside it and swapped in."""

    def __init__(self, folder: Path, least_people: int = LEAST_PEOPLE) -> None:
        self.folder, self.next, self.least_people = folder, folder.with_name(f"{folder.name}-next"), least_people
        self.is_renewed = False  # by this process, and changes are kept for the next one
        self._keeper: int | None = None  # a file that is locked as long as this process keeps the list of changes

    def about(self, folder: Path | None = None) -> dict[str, Any] | None:
        """What it says about itself; None where there is none that this release can read."""
        try:
            return storage.read_about(folder or self.folder)
        except (OSError, InvalidInput):
            return None

    def version(self) -> tuple[int, int] | None:
        """Differs from one snapshot to the next."""
        try:
            found = (self.folder / storage.ABOUT).stat()
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
                if (folder / storage.ABOUT).exists():  # else it is somebody else's
                    try:
                        storage.overwrite(folder, person)
                    except (OSError, ValueError, EOFError):  # damaged, and nothing of it may stay
                        shutil.rmtree(folder, ignore_errors=True)

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

    def changed(self) -> tuple[NDArray[np.int64], int]:
        """Who has changed since, by number, and up to which change that is known. 0: nobody has kept the list."""
        try:
            entries = np.fromfile(self.folder / "changed", np.int64)
        except FileNotFoundError:
            return np.empty(0, np.int64), 0
        entries = entries[: len(entries) - len(entries) % 2].reshape(-1, 2)
        marks = np.flatnonzero(entries[:, 0] == _MARK)
        if not len(marks):
            return np.empty(0, np.int64), 0
        whole = entries[: marks[-1] + 1]  # what comes after it, a crash has left
        return np.unique(whole[whole[:, 0] != _MARK, 1]), int(whole[-1, 1])

    def add_changed(self, version: tuple[int, int], people: Iterable[int], up_to: int) -> None:
        """These people have changed; all changes up to a number are known now. Only the keeper of the list says so.

        Nothing is said of another snapshot than that of a version.
        """
        entries = np.array([(0, number) for number in people] + [(_MARK, up_to)], np.int64)
        with self._changing():
            if self.version() != version:
                return
            opened = os.open(self.folder / "changed", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(opened, entries.tobytes())
            finally:
                os.close(opened)

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
    def _locked(self, name: str, *, wait: bool = True) -> Iterator[None]:
        opened = self._lock_file(name)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(opened)

    def _lock_file(self, name: str) -> int:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self.folder.with_name(f"{self.folder.name}.{name}"), os.O_RDWR | os.O_CREAT, 0o600)
