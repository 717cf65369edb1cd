"""Errors in one line; apart from the rest, because it loads nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from kaczmatch.core.errors import InvalidInput

INTERRUPTED = 130


@contextmanager
def plain_errors() -> Iterator[None]:
    """Bad input as one line that says what is wrong, and exit code 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read has heard enough
    except (InvalidInput, OSError) as error:
        Console(stderr=True).print(f"kaczmatch: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


@contextmanager
def interruptible(kept: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C says what of the work was kept."""
    try:
        yield
    except KeyboardInterrupt:
        Console(stderr=True).print(f"Interrupted: {kept()}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(INTERRUPTED)
