"""Lets processes that compile at the same moment take turns at numba's cache of kernels.

numba reads the list of a kernel's variants, adds one and writes the list back, without a lock. Two processes that compile it for
different types at the same moment can both choose the same file, and later ones then run the wrong machine code.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from numba.core.caching import IndexDataCacheFile

try:
    import fcntl
except ImportError:  # Windows: there it stays as numba has it
    take_turns = False
else:
    take_turns = True

LOCK = "kaczmatch.lock"


@contextlib.contextmanager
def turn(folder: str) -> Iterator[None]:
    """Nobody else is at the cache in this folder. Where it cannot be written, nobody is anyway."""
    try:
        lock = os.open(f"{folder}/{LOCK}", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def in_turns(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(cache: Any, *given: Any) -> Any:
        with turn(cache._cache_path):
            return method(cache, *given)

    return guarded


def guard_cache() -> None:
    """From now on, in this process."""
    for name in ("save", "load"):
        method = getattr(IndexDataCacheFile, name)
        if take_turns and not hasattr(method, "__wrapped__"):
            setattr(IndexDataCacheFile, name, in_turns(method))
