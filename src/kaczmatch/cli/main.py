"""The entry point of the command `kaczmatch`: says what is missing, and ends quietly where nobody reads."""

from __future__ import annotations

import os
import sys

from kaczmatch.extras import missing_extra


def main() -> None:
    try:
        from kaczmatch.cli.app import app

        app()
    except ModuleNotFoundError as error:
        sys.exit(f"kaczmatch: {missing_extra(error)}")
    except BrokenPipeError:
        pass
    finally:
        _flush()


def _flush() -> None:
    """Write what is left. Whoever read it may be gone, such as `head`; Python would say so at the end, in many words."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
