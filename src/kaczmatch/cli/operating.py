"""What the commands of an operator share: the settings, the store, progress, and errors in one line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from sqlalchemy.exc import SQLAlchemyError

from kaczmatch.app.composing import context_of, open_store
from kaczmatch.cli.errors import plain_errors
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.settings.model import FILE, Settings
from kaczmatch.settings.reading import read
from kaczmatch.storage import OutOfDate, SqlStore


@contextmanager
def plainly() -> Iterator[None]:
    """Whatever can go wrong, as one line."""
    with plain_errors():
        try:
            yield
        except (OutOfDate, StoreUnavailable) as error:
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
def opened(settings: Settings) -> Iterator[tuple[SqlStore, Context]]:
    """The store of the settings, ready to be used."""
    store = open_store(settings)
    try:
        yield store, context_of(settings, store)
    finally:
        store.close()


@final
class Stages:
    """A bar on standard error for the stage at hand; gone when it is over."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:18}"), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._task is None or stage != self._stage:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task, self._stage = self._bars.add_task(stage, total=total or None), stage
        self._bars.update(self._task, completed=done, total=total or None)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()


def say(words: str) -> None:
    Console(highlight=False, soft_wrap=True, markup=False).print(words)


def chosen(field: str, text: str) -> dict[str, Any]:
    """Settings that were typed as JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(field, f'must be a JSON object, such as {{"appeal": true}}, got {text!r}')
    return found
