"""The index on disk: a folder of plain arrays that are mapped, not read, when it is opened."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index.columns import DTYPES, Array, Columns
from kaczmatch.recommend.index.roster import Roster
from kaczmatch.recommend.index.table import Table

_FORMAT = 1
_ABOUT = "index.json"


def write(folder: Path, table: Table, roster: Roster, typical: Array, about: dict[str, Any]) -> None:
    """A new folder is written and synced beside the old one, then takes its name: a crash leaves either or none, no mixture."""
    ids = roster.all()
    for identifier in ids:
        if identifier is not None and (isinstance(identifier, bool) or not isinstance(identifier, str | int)):
            raise InvalidInput("id", f"only texts and whole numbers can be saved, got {identifier!r}")
    new = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    new.mkdir(parents=True)
    try:
        arrays = dict(zip(table.columns._fields, table.columns, strict=True))
        arrays |= {"used": table.used, "kind": table.kind, "home": table.home, "typical": typical}
        for name, array in arrays.items():
            _synced(new / f"{name}.npy", lambda file, array=array: np.save(file, array, allow_pickle=False))
        about = {
            "format": _FORMAT,
            **about,
            "begins": table.begins,
            "order": table.chunks,
            "free": table.free,
            "copies": [[*key, place] for key, place in table.copies.items()],
            "ids": ids,
        }
        _synced(new / _ABOUT, lambda file: file.write(json.dumps(about).encode()))
        old = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        _sync(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def read(folder: Path) -> tuple[Table, Roster, Array, dict[str, Any]]:
    """What `write` wrote; changes stay in memory and never reach the files."""
    try:
        about: dict[str, Any] = json.loads((folder / _ABOUT).read_bytes())
        if about["format"] != _FORMAT:
            raise InvalidInput("folder", f"{folder}: saved in format {about['format']}, this release reads {_FORMAT}")
        arrays = {name: _mapped(folder, name) for name in (*DTYPES, "used", "kind", "home", "typical")}
        table = Table(about["tags"], about["features"])
        table.columns = Columns(*(arrays[name] for name in DTYPES))
        table.used, table.kind, table.home = (np.array(arrays[name]) for name in ("used", "kind", "home"))
        table.begins, table.chunks, table.free = about["begins"], about["order"], about["free"]
        table.copies = {(number, kind): place for number, kind, place in about["copies"]}
    except (OSError, ValueError, KeyError) as problem:
        raise InvalidInput("folder", f"{folder}: is not a saved index, or a damaged one ({problem}); build it anew") from problem
    return table, Roster(about["ids"]), np.array(arrays["typical"]), about


def _mapped(folder: Path, name: str) -> Array:
    path = folder / f"{name}.npy"
    shape_only = np.load(path, allow_pickle=False) if path.stat().st_size <= 128 else np.load(path, mmap_mode="c")
    return np.asarray(shape_only)


def _synced(path: Path, write_to: Any) -> None:
    with path.open("wb") as file:
        write_to(file)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
