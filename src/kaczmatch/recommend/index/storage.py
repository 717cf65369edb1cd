"""The index on disk: a folder of arrays, checked (`checked_files`) and memory-mapped when it is opened.

What it holds is personal: only its owner can read it, and `overwrite` leaves nothing of a person in it.
"""

from __future__ import annotations

import base64
import math
import shutil
import uuid
from collections.abc import Hashable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index import checked_files
from kaczmatch.recommend.index.cells import DIMENSIONS
from kaczmatch.recommend.index.checked_files import ABOUT, Damaged
from kaczmatch.recommend.index.chunk_bounds import ChunkBounds
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import CHUNK, DTYPES, Array, IndexColumns
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.packed_ids import OVERWRITTEN, PackedIds

_FORMAT: Final = 5
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
        about = {
            "format": _FORMAT,
            **about,
            "order": table.chunks,
            "free": [*range(len(table.used) + room - 1, len(table.used) - 1, -1), *table.free],
            "copies": [*table.copies],
            "prior": base64.b64encode(prior).decode(),
        }
        checked_files.write(new, about, arrays, dict.fromkeys((*DTYPES, *_BY_CHUNK), room))
        old = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        checked_files.sync_folder(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def read(folder: Path) -> tuple[ChunkTable, IdNumbers, bytes, dict[str, Any], dict[str, Array]]:
    """What `write` wrote, once it is found to be whole. Later changes stay in memory and never reach the files.

    Raises Damaged. While it reads nobody overwrites.
    """
    try:
        about = read_about(folder)
        arrays = checked_files.opened(folder)
        table = ChunkTable(about["tags"], about["features"], arrays["said"].shape[1], arrays["doubts"].shape[1])
        table.columns = IndexColumns(*(arrays[name] for name in DTYPES))
        table.used, table.kind, table.cells, table.home = (arrays[name] for name in _OF_TABLE)
        table.chunks, table.free = about["order"], about["free"]
        table.copies = {kind: arrays.pop(_copies(kind)) for kind in about["copies"]}
        # Copied, since `overwrite` changes the files: a process still has to find the row that it is to remove.
        packed = PackedIds(*(np.array(arrays[name]) for name in _IDS))
        _check(table)
        packed.check()
        here = np.flatnonzero(table.home >= 0)
        overwritten = table.columns.i_am.reshape(-1)[table.home[here]] == 0
        if not np.array_equal(here[~overwritten], np.flatnonzero(packed.taken())):
            raise Damaged("identifiers and rows do not fit together")
        table.bounds = ChunkBounds.empty(len(table.used))  # not saved: they would tell of people who were erased since
        table.measure_all()
        for number in here[overwritten].tolist():
            table.remove(number)
        prior = base64.b64decode(about["prior"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
        raise Damaged(f"its parts do not fit together: {problem}") from problem
    return table, IdNumbers(packed=packed), prior, about, {name: arrays[name] for name in arrays if name not in _OWN}


def _check(table: ChunkTable) -> None:
    """Raises where what came from files does not fit together: kernels index by it and look no more."""
    chunks, numbers, columns = len(table.used), len(table.home), table.columns
    expected = IndexColumns.empty(0, table.tags, table.features, table.said, table.doubts)
    for name, column, empty in zip(columns._fields, columns, expected, strict=True):
        if column.dtype != empty.dtype or column.shape != (chunks, *empty.shape[1:]):
            raise ValueError(f"{name} has another type or shape")
    if [str(one.dtype) for one in (table.used, table.kind, table.cells)] != ["int32", "int32", "float64"]:
        raise ValueError("chunks have other types")
    if table.kind.shape != (chunks,) or table.cells.shape != (chunks, 2, DIMENSIONS):
        raise ValueError("chunks have other shapes")
    if sorted([*chain.from_iterable(table.chunks), *table.free]) != [*range(chunks)] or table.used[table.free].any():
        raise ValueError("chunks are neither of a kind nor free")
    if any((table.kind[its] != kind).any() for kind, its in enumerate(table.chunks)):
        raise ValueError("chunks are of other kinds")
    if (table.used < 0).any() or (table.used > CHUNK).any() or (columns.learned > 1).any():
        raise ValueError("rows are counted wrong")
    person, rows = columns.person.reshape(-1), 0
    if len(person) and not 0 <= person.min() <= person.max() < max(numbers, 1):
        raise ValueError("rows are of people whom there are not")
    for places in (table.home, *table.copies.values()):
        if places.dtype != np.int64 or places.ndim != 1 or len(places) > numbers:
            raise ValueError("places have other types or shapes")
        of_whom = np.flatnonzero(places >= 0)
        chunk, row = np.divmod(places[of_whom], CHUNK)
        if (chunk >= chunks).any() or (row >= table.used[chunk]).any() or (person[places[of_whom]] != of_whom).any():
            raise ValueError("people and rows do not fit together")
        rows += len(of_whom)
    if rows != len(table):
        raise ValueError("rows are nobody's")


_OWN: Final = frozenset({*DTYPES, *_OF_TABLE, *_IDS})


def _copies(kind: int) -> str:
    return f"copies_{kind}"


def overwrite(folder: Path, identifier: Hashable) -> bool:
    """Leave nothing of a person in a saved index; whether they were in it.

    Processes that have it mapped see an empty row, which passes nobody's filters, until they remove it. The row keeps its number,
    which names nobody. The place in the hash table goes too: it tells something of the identifier.
    """
    about = read_about(folder)
    copies, rows_of = [_copies(kind) for kind in about["copies"]], about.get("by_row", {})
    arrays = checked_files.opened(folder, [*_IDS, "home", *copies, *rows_of.values()])  # which tell where all the rest is
    ids = PackedIds(*(arrays[name] for name in _IDS))
    ids.check()
    (number,) = ids.numbers([identifier]).tolist()
    if number < 0:
        return False
    zeros = partial(checked_files.places, about)
    rows = [int(place) for name in ("home", *copies) for place in arrays[name][number : number + 1] if place >= 0]
    found: dict[str, checked_files.Parts] = {
        name: [part for row in rows for part in zeros(name, _in_column(about, name, row))] for name in DTYPES
    }
    del found["person"]
    for name, whose in rows_of.items():
        _, _, (_, *inner) = about["arrays"][name]
        width = math.prod(inner)
        found[name] = zeros(name, [int(row) * width for row in arrays[whose][number : number + 1] if row], width)
    for name in about.get("by_number", ()):
        _, _, (numbers,) = about["arrays"][name]  # nobody beyond its end has a value
        found[name] = zeros(name, [number] if number < numbers else [])
    text, _, slots = _IDS
    first, end = ids.begins[number : number + 2].tolist()
    found[text] = zeros(text, [first], end - first)
    (slot,) = np.flatnonzero(ids.slots == number + 1).tolist()
    found[slots] = [(place, OVERWRITTEN.tobytes()) for place, _ in zeros(slots, [slot])]
    checked_files.overwrite(folder, found)
    return True


def _in_column(about: Mapping[str, Any], name: str, place: int) -> list[int]:
    """Which values of a column are those of the row at a place."""
    _, _, (_, *inner, _) = about["arrays"][name]
    chunk, row = divmod(place, CHUNK)
    several = math.prod(inner)
    return [(chunk * several + one) * CHUNK + row for one in range(several)]


def read_about(folder: Path) -> dict[str, Any]:
    about = checked_files.read_about(folder)
    if about["format"] != _FORMAT:
        raise InvalidInput("folder", f"{folder}: saved in format {about['format']}, this release reads {_FORMAT}")
    return about


def check_replaceable(folder: Path) -> None:
    """Refuse to put an index where something else is."""
    is_index = folder.is_dir() and ((folder / ABOUT).exists() or not any(folder.iterdir()))
    if folder.is_symlink() or (folder.exists() and not is_index):
        raise InvalidInput("folder", f"{folder}: is there already and is not a saved index; name a new folder")
