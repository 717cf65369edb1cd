"""Errors in one line; apart from the rest, because it loads nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from kaczmatch.core.errors import InvalidInput


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
