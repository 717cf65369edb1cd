"""The index on disk: a folder of plain arrays, memory-mapped when it is opened."""

from __future__ import annotations

import base64
import json
import os
import shutil
import uuid
from collections.abc import Hashable
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import DTYPES, Array, IndexColumns
from kaczmatch.recommend.index.id_numbers import IdNumbers

_FORMAT = 1
_ABOUT = "index.json"


def write(folder: Path, table: ChunkTable, numbered_ids: IdNumbers, prior: bytes, about: dict[str, Any]) -> None:
    """Write and sync a new folder beside the old one, then rename it.

    A crash leaves the old folder, the new one or none, never a mixture.
    """
    if folder.is_symlink() or (folder.exists() and not _is_index(folder)):
        raise InvalidInput("folder", f"{folder}: is there already and is not a saved index; name a new folder")
    ids = [_savable(identifier) for identifier in numbered_ids.all()]
    new = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    new.mkdir(parents=True)
    try:
        arrays = dict(zip(table.columns._fields, table.columns, strict=True))
        arrays |= {"used": table.used, "kind": table.kind, "home": table.home}
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
            "prior": base64.b64encode(prior).decode(),
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


def read(folder: Path) -> tuple[ChunkTable, IdNumbers, bytes, dict[str, Any]]:
    """What `write` wrote. Later changes stay in memory and never reach the files."""
    try:
        about: dict[str, Any] = json.loads((folder / _ABOUT).read_bytes())
        if about["format"] != _FORMAT:
            raise InvalidInput("folder", f"{folder}: saved in format {about['format']}, this release reads {_FORMAT}")
        arrays = {name: _mapped(folder, name) for name in (*DTYPES, "used", "kind", "home")}
        table = ChunkTable(about["tags"], about["features"], arrays["said"].shape[1], arrays["doubts"].shape[1])
        table.columns = IndexColumns(*(arrays[name] for name in DTYPES))
        table.used, table.kind, table.home = (np.array(arrays[name]) for name in ("used", "kind", "home"))
        table.begins, table.chunks, table.free = about["begins"], about["order"], about["free"]
        table.copies = {(number, kind): place for number, kind, place in about["copies"]}
        ids, prior = about["ids"], base64.b64decode(about["prior"])
        here = [number for number, identifier in enumerate(ids) if identifier is not None]
        if len({ids[number] for number in here}) != len(here) or not np.array_equal(np.flatnonzero(table.home >= 0), here):
            raise ValueError("identifiers and rows do not fit together")
        for part in ("vocabulary", "schema", "learner"):
            about[part]
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InvalidInput("folder", f"{folder}: is not a saved index, or a damaged one ({problem}); build it anew") from problem
    return table, IdNumbers(ids), prior, about


def _is_index(folder: Path) -> bool:
    return folder.is_dir() and ((folder / _ABOUT).exists() or not any(folder.iterdir()))


def _savable(identifier: Hashable) -> str | int | None:
    if identifier is None or (isinstance(identifier, str | Integral) and not isinstance(identifier, bool)):
        return int(identifier) if isinstance(identifier, Integral) else identifier
    raise InvalidInput("id", f"only texts and whole numbers can be saved, got {identifier!r}")


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
