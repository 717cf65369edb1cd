"""The entry point of the command `kaczmatch`: says what is missing instead of a traceback."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from kaczmatch.cli.app import app
    except ModuleNotFoundError as missing:
        sys.exit(f"kaczmatch: the command line needs {missing.name}; install it, in the checkout, with: pip install -e '.[lab]'")
    app()
