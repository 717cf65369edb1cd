"""numba's cache of kernels, where two processes compile at the same moment."""

from __future__ import annotations

import threading
from pathlib import Path

from numba.core.caching import IndexDataCacheFile

import kaczmatch.core.compiled  # guards the cache
from kaczmatch.core.compiled import turn


def test_two_variants_saved_at_once_are_both_found_again(tmp_path: Path) -> None:
    """The first stands still between reading the list and writing it back, where the second would come in between."""
    assert kaczmatch.core.compiled
    read, other_is_done = threading.Event(), threading.Event()

    class Slow(IndexDataCacheFile):  # type: ignore[misc]
        def _load_index(self) -> object:
            found = super()._load_index()
            read.set()
            other_is_done.wait(0.5)
            return found

    slow, quick = Slow(str(tmp_path), "kernel", "stamp"), IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    first = threading.Thread(target=slow.save, args=("floats", b"for floats"))

    def second() -> None:
        quick.save("integers", b"for integers")
        other_is_done.set()

    first.start()
    read.wait()
    other = threading.Thread(target=second)
    other.start()
    first.join()
    other.join()
    assert [quick.load("floats"), quick.load("integers")] == [b"for floats", b"for integers"]


def test_a_cache_that_cannot_be_written_is_read_without_a_turn(tmp_path: Path) -> None:
    with turn(str(tmp_path / "missing")):
        assert not (tmp_path / "missing").exists()
