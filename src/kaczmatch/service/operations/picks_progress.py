"""Picks in progress, in a folder: whoever is killed goes on from there, with everybody as they were read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.top_picks import PicksInProgress

_OPTIONS, _COLUMNS, _KEYS = "options.json", "columns.npz", "keys.npz"
_ARRAYS: Final = [field.name for field in fields(PickColumns)[1:]]


@final
@dataclass(frozen=True, slots=True)
class PicksProgress:
    """Only a run with the same `options` goes on. The folder holds what was learned of people. It goes when the run is over."""

    folder: Path
    options: Mapping[str, Any]

    def columns(self) -> PickColumns | None:
        """Everybody, as an earlier run has read them."""
        try:
            same = json.loads((self.folder / _OPTIONS).read_text(encoding="utf-8")) == dict(self.options)
        except (OSError, ValueError):
            return None
        if not same:
            return None
        with np.load(self.folder / _COLUMNS) as file:
            return PickColumns(file["ids"].tolist(), **{name: file[name] for name in _ARRAYS})

    def begin(self, columns: PickColumns) -> None:
        """Forget an earlier run, and keep everybody. The options come last: without them there is nothing to go on from."""
        self.forget()
        self.folder.mkdir(mode=0o700, parents=True)
        ids = np.array([str(one) for one in columns.ids], np.str_)
        _write(self.folder / _COLUMNS, {"ids": ids} | {name: getattr(columns, name) for name in _ARRAYS})
        (self.folder / _OPTIONS).write_text(json.dumps(dict(self.options)), encoding="utf-8")

    def begun(self) -> PicksInProgress | None:
        try:
            with np.load(self.folder / _KEYS) as file:
                return PicksInProgress(file["keys"], int(file["parts_done"]))
        except FileNotFoundError:
            return None

    def save(self, state: PicksInProgress) -> None:
        _write(self.folder / _KEYS, {"keys": state.keys, "parts_done": np.int64(state.parts_done)})

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    """The whole file, or the one before."""
    made = path.with_suffix(".new")
    with made.open("wb") as file:
        np.savez(file, **arrays)
    made.replace(path)
