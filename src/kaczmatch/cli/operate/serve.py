"""`kaczmatch serve`, `kaczmatch config check` and `kaczmatch openapi`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from kaczmatch.cli.terminal.errors import plain_errors
from kaczmatch.core.errors import InvalidInput
from kaczmatch.settings.model import FILE
from kaczmatch.settings.reading import read, shown

# Before numpy is loaded: threads of a library under threads of the service would only get in each other's way.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def serve(config: Path | None, **chosen: Any) -> None:
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    _use_file(config)
    from kaczmatch.app import server
    from kaczmatch.storage import SchemaOutOfDate

    with plain_errors():
        settings = read(**chosen)
        try:
            server.serve(settings, lambda words: Console(stderr=True).print(words, highlight=False, soft_wrap=True))
        except SchemaOutOfDate as error:
            raise InvalidInput("database", str(error)) from None


def check(config: Path | None) -> None:
    """Print what is in force, and say what is wrong."""
    _use_file(config)
    from kaczmatch.app.composition import service_config_of
    from kaczmatch.app.first_vocabulary import first_vocabulary
    from kaczmatch.app.server import check as startable
    from kaczmatch.service.domain.catalogue import model_learner

    with plain_errors():
        settings = read()
        for name, value in shown(settings).items():
            print(f"{name} = {json.dumps(value)}")
        sys.stdout.flush()
        first_vocabulary(settings, service_config_of(settings).schema)
        model_learner(settings.learner, settings.learner_settings)
        startable(settings)


def openapi() -> None:
    from kaczmatch.app.openapi_document import openapi_document

    print(openapi_document())


def _use_file(config: Path | None) -> None:
    if config is not None:
        os.environ[FILE] = str(config)
