"""The entry point of the command `kaczmatch`: says what is missing, and ends quietly where nobody reads."""

from __future__ import annotations

import os
import sys

import kaczmatch
from kaczmatch.extras import missing_extra

LAB = ("evaluate", "reproduce", "simulate", "market")  # the commands that need no service


def main() -> None:
    try:
        if sys.argv[1:] == ["--version"]:  # works beside the thin client, too
            print(f"kaczmatch {kaczmatch.__version__}")
            return
        from kaczmatch.cli.app import app

        app()
    except ModuleNotFoundError as error:
        sys.exit(f"kaczmatch: {missing_extra(error, _extra(error))}")
    except BrokenPipeError:
        pass
    finally:
        _flush()


def _extra(error: ModuleNotFoundError) -> str | None:
    """What the command needs, where two extras bring the package: a service needs no experiments."""
    shared = error.name in ("rich", "typer") and len(sys.argv) > 1
    return ("lab" if sys.argv[1] in LAB else "service") if shared else None


def _flush() -> None:
    """Write what is left. Whoever read it may be gone, such as `head`; Python would say so at the end, in many words."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
