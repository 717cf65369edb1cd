"""`kaczmatch serve`, `kaczmatch config check` and `kaczmatch openapi`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from kaczmatch.settings.model import FILE
from kaczmatch.settings.reading import read, shown

# Before numpy is loaded: threads of a library under threads of the service would only get in each other's way.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def serve(config: Path | None, **chosen: Any) -> None:
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    _use_file(config)
    _announce("Starting kaczmatch …")
    from kaczmatch.app import server
    from kaczmatch.cli.operate.store_access import operator_errors

    with operator_errors():
        server.serve(read(**chosen), _announce)


def check(config: Path | None) -> None:
    """Print what is in force, and refuse what `serve` refuses."""
    _use_file(config)
    from kaczmatch.app import server
    from kaczmatch.cli.operate.store_access import operator_errors

    with operator_errors():
        settings = read()
        for name, value in shown(settings).items():
            print(f"{name} = {json.dumps(value)}")
        sys.stdout.flush()
        server.check(settings)


def openapi() -> None:
    from kaczmatch.app.openapi_document import openapi_document

    print(openapi_document())


def _announce(words: str) -> None:
    Console(stderr=True).print(words, highlight=False, soft_wrap=True, markup=False)


def _use_file(config: Path | None) -> None:
    if config is not None:
        os.environ[FILE] = str(config)
