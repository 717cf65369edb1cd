"""What the commands of an operator share: the settings, the store, and errors in one line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from kaczmatch.app.composition import context_of, open_store
from kaczmatch.app.store_workers import local_parts, parts_on
from kaczmatch.cli.terminal.errors import plain_errors
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.settings.model import FILE, Settings
from kaczmatch.settings.reading import read
from kaczmatch.storage import SchemaOutOfDate, SqlStore


@contextmanager
def operator_errors() -> Iterator[None]:
    """Whatever can go wrong with settings and store, as one line."""
    with plain_errors():
        try:
            yield
        except (SchemaOutOfDate, StoreUnavailable) as error:
            raise InvalidInput("database", str(error)) from None
        except Refusal as error:
            raise InvalidInput(error.code, error.problem) from None
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
            raise InvalidInput("database", f"cannot be reached or used: {reason}") from None
        except ValueError as error:
            raise error if isinstance(error, InvalidInput) else InvalidInput("database", str(error)) from None


def settings_from(config: Path | None) -> Settings:
    if config is not None:
        os.environ[FILE] = str(config)
    return read()


@contextmanager
def open_store_of(settings: Settings) -> Iterator[tuple[SqlStore, Context]]:
    """The store of the settings, ready to be used."""
    store = open_store(settings)
    try:
        yield store, context_of(settings, store)
    finally:
        store.close()


def spread(settings: Settings, store: SqlStore, ray: str | None, workers: int | None, *, many: bool | None = None) -> StoreParts:
    """Where a job goes through everybody: by itself on all cores, once there are `many`."""
    if ray is None and workers is None:
        return local_parts(settings, store, many=many)
    if ray is not None and settings.url.startswith("sqlite"):
        raise InvalidInput("ray", "other machines cannot reach a SQLite file; use PostgreSQL, or leave --ray out")
    return parts_on(runner_of(ray, workers, processes=True), settings)


def say(words: str) -> None:
    Console(highlight=False, soft_wrap=True, markup=False).print(words)


def json_settings(field: str, text: str) -> dict[str, Any]:
    """Settings that were typed as JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(field, f'must be a JSON object, such as {{"appeal": true}}, got {text!r}')
    return found
