"""The index on disk: a folder of plain arrays, memory-mapped when it is opened.

What it holds is personal: only its owner can read it, and `overwrite` leaves nothing of a person in it.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import uuid
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index.chunk_bounds import ChunkBounds
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import DTYPES, Array, IndexColumns
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.packed_ids import PackedIds

_FORMAT: Final = 4
ABOUT: Final = "index.json"
_BY_CHUNK: Final = ("used", "kind", "cells")  # arrays of the table beside its columns
_OF_TABLE: Final = (*_BY_CHUNK, "home")
_IDS: Final = tuple(f"id_{name}" for name in PackedIds._fields)
_SPARE: Final = 16  # one free chunk per so many: the first people who come make no process copy what it has mapped


def write(
    folder: Path, table: ChunkTable, numbered_ids: IdNumbers, prior: bytes, about: Mapping[str, Any], more: Mapping[str, Array]
) -> None:
    """Write and sync a new folder beside the old one, then rename it.

    `more` are further arrays. Where `about` names one in `by_number`, it has one value per number. Where it names one in
    `by_row`, another array says which row of it is whose; the first row is nobody's.

    A crash leaves the old folder, the new one or none, never a mixture.
    """
    check_replaceable(folder)
    packed = numbered_ids.packed()
    new = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    new.mkdir(mode=0o700)
    try:
        arrays: dict[str, Array] = dict(zip(table.columns._fields, table.columns, strict=True))
        arrays |= {name: getattr(table, name) for name in _OF_TABLE} | dict(zip(_IDS, packed, strict=True)) | dict(more)
        arrays |= {_copies(kind): table.copies_of(kind) for kind in table.copies}
        room = len(table.used) // _SPARE
        for name, array in arrays.items():
            spare = room if name in DTYPES or name in _BY_CHUNK else 0
            _synced(new / f"{name}.npy", lambda file, array=array, spare=spare: _save(file, array, spare))
        about = {
            "format": _FORMAT,
            **about,
            "order": table.chunks,
            "free": [*range(len(table.used) + room - 1, len(table.used) - 1, -1), *table.free],
            "copies": [*table.copies],
            "prior": base64.b64encode(prior).decode(),
            "arrays": {name: (new / f"{name}.npy").stat().st_size for name in arrays},
        }
        text = json.dumps(about).encode()
        _synced(new / ABOUT, lambda file: file.write(b"%08x\n%b" % (crc32(text), text)))
        old = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        _sync(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def read(folder: Path) -> tuple[ChunkTable, IdNumbers, bytes, dict[str, Any], dict[str, Array]]:
    """What `write` wrote. Later changes stay in memory and never reach the files."""
    try:
        about = read_about(folder)
        arrays = {name: _mapped(folder, name, size) for name, size in about["arrays"].items()}
        table = ChunkTable(about["tags"], about["features"], arrays["said"].shape[1], arrays["doubts"].shape[1])
        table.columns = IndexColumns(*(arrays[name] for name in DTYPES))
        table.used, table.kind, table.cells, table.home = (arrays[name] for name in _OF_TABLE)
        table.chunks, table.free = about["order"], about["free"]
        table.copies = {kind: arrays.pop(_copies(kind)) for kind in about["copies"]}
        # Copied, since `overwrite` may change the file: a process still has to find the row that it is to remove.
        packed = PackedIds(*(np.array(arrays[name]) for name in _IDS))
        here, persons = np.flatnonzero(table.home >= 0), table.columns.person.reshape(-1)
        overwritten = table.columns.i_am.reshape(-1)[table.home[here]] == 0
        for number in here[overwritten].tolist():
            packed.blank(number)  # somebody is being erased at this moment, or whoever was at it was killed
        if not np.array_equal(here[~overwritten], np.flatnonzero(packed.taken())):
            raise ValueError("identifiers and rows do not fit together")
        for places in (table.home, *table.copies.values()):
            of_whom = np.flatnonzero(places >= 0)
            if not np.array_equal(persons[places[of_whom]], of_whom):
                raise ValueError("people and rows do not fit together")
        table.bounds = ChunkBounds.empty(len(table.used))  # not saved: they would tell of people who were erased since
        table.measure_all()
        for number in here[overwritten].tolist():
            table.remove(number)
        for part in ("vocabulary", "schema", "learner"):
            about[part]
        prior = base64.b64decode(about["prior"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
        raise InvalidInput("folder", f"{folder}: is not a saved index, or a damaged one ({problem}); build it anew") from problem
    return table, IdNumbers(packed=packed), prior, about, {name: arrays[name] for name in arrays if name not in _OWN}


_OWN: Final = frozenset({*DTYPES, *_OF_TABLE, *_IDS})


def _copies(kind: int) -> str:
    return f"copies_{kind}"


def overwrite(folder: Path, identifier: Hashable) -> bool:
    """Leave nothing of a person in a saved index; whether they were in it.

    Processes that have it mapped see an empty row, which passes nobody's filters, until they remove it. The row keeps its number,
    which names nobody.
    """
    about = read_about(folder)
    for name, size in about["arrays"].items():
        _check_size(folder / f"{name}.npy", size)

    def changed(name: str) -> Array:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r+"))

    ids = PackedIds(*map(changed, _IDS))
    (number,) = ids.numbers([identifier]).tolist()
    if number < 0:
        return False
    copies = [place for kind in about["copies"] for place in changed(_copies(kind))[number : number + 1].tolist() if place >= 0]
    places = [int(changed("home")[number]), *copies]
    for name in DTYPES:
        if name != "person":
            column = changed(name)
            for place in places if column.size else ():
                chunk, row = divmod(place, column.shape[-1])
                column[chunk][..., row] = 0
    for name, rows in about.get("by_row", {}).items():
        for row in changed(rows)[number : number + 1]:
            if row:
                changed(name)[row] = 0
    # What was just overwritten is found again, by number and by identifier, until it is on the disk.
    _sync_all(folder, about["arrays"])
    for name in about.get("by_number", ()):
        changed(name)[number : number + 1] = 0  # it may be shorter: nobody beyond its end has a value
    _sync_all(folder, about.get("by_number", ()))
    ids.blank(number)
    _sync_all(folder, _IDS)
    ids.clear_slot(number)
    _sync_all(folder, _IDS)
    return True


def read_about(folder: Path) -> dict[str, Any]:
    checksum, _, text = (folder / ABOUT).read_bytes().partition(b"\n")
    if checksum != b"%08x" % crc32(text):
        raise InvalidInput("folder", f"{folder}: {ABOUT} is damaged, or of another release; build it anew")
    about: dict[str, Any] = json.loads(text)
    if about["format"] != _FORMAT:
        raise InvalidInput("folder", f"{folder}: saved in format {about['format']}, this release reads {_FORMAT}")
    return about


def check_replaceable(folder: Path) -> None:
    """Refuse to put an index where something else is."""
    is_index = folder.is_dir() and ((folder / ABOUT).exists() or not any(folder.iterdir()))
    if folder.is_symlink() or (folder.exists() and not is_index):
        raise InvalidInput("folder", f"{folder}: is there already and is not a saved index; name a new folder")


def _save(file: Any, array: Array, spare: int) -> None:
    """An array, and so many zeros more along its first axis, which take no space on the disk."""
    shape = (len(array) + spare, *array.shape[1:])
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape}
    )
    begin = file.tell()
    for part in array if array.ndim > 1 else (array,):
        file.write(np.ascontiguousarray(part).data)
    file.truncate(begin + int(np.prod(shape)) * array.itemsize)


def _mapped(folder: Path, name: str, size: int) -> Array:
    path = folder / f"{name}.npy"
    _check_size(path, size)
    shape_only = np.load(path, allow_pickle=False) if size <= 128 else np.load(path, mmap_mode="c")
    return np.asarray(shape_only)


def _check_size(path: Path, size: int) -> None:
    if path.stat().st_size != size:
        raise ValueError(f"{path.name} has another size")


def _synced(path: Path, write_to: Any) -> None:
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        write_to(file)
        file.flush()
        os.fsync(file.fileno())


def _sync_all(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        with (folder / f"{name}.npy").open("rb") as file:
            os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
