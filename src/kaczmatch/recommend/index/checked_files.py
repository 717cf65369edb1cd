"""Arrays in files that are checked before they are used, and of which parts can be overwritten in place.

It promises: `opened` returns what `write` wrote, with everything that was overwritten since, or raises `Damaged`. It notices
changed bytes, truncated, exchanged and missing files, whichever file of the folder they are in, and disks that fail to read one.
A process that is killed in `overwrite` has overwritten nothing, or the next process that comes finishes it. The locks are the
caller's: none opens a folder while another overwrites in it.

A folder holds, and each line below says how the file looks:

    NAME.npy      an array, as numpy writes it
    index.json    a sealed line (`sealed`): what the caller says about the arrays; size of each file, bytes of a value, and shape
    checksums     a sealed line: the CRC-32 of each block of 64 KiB of each array, which begins with name and place of the block
    overwriting   a sealed line, there only while parts are overwritten: which bytes go where, the new checksums among them

CRC-32 finds any change of up to 32 bits in a row, and misses one in four billion others. zlib computes it faster than disks read.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Parts = Sequence[tuple[int, bytes]]  # where in a file, and what belongs there

ABOUT: Final = "index.json"
BLOCK: Final = 1 << 16
_SUMS, _REDO = "checksums", "overwriting"


@final
class Damaged(Exception):
    """A file is not as it was written."""


def sealed(text: bytes, *of: object) -> bytes:
    """A line that tells when it is changed, or taken for that `of` something else."""
    return b"%08x %b\n" % (crc32(text, _seed(of)), text)


def unsealed(line: bytes, *of: object) -> bytes:
    """The text of such a line."""
    text = line[9:-1]
    if line != sealed(text, *of):
        raise Damaged(f"{of[0]} is damaged, or of another release")
    return text


def write(folder: Path, about: Mapping[str, Any], arrays: Mapping[str, Array], spare: Mapping[str, int]) -> None:
    """Write and sync arrays into an empty folder, some with `spare` rows of zeros behind them, which take no room on disk."""
    sums = list[int]()
    for name, array in arrays.items():
        _synced(_file(folder, name), partial(_save, array=array, spare=spare.get(name, 0)))
        sums += _sums_of(folder, name)
    shapes = {name: (len(array) + spare.get(name, 0), *array.shape[1:]) for name, array in arrays.items()}
    files = {name: (_file(folder, name).stat().st_size, array.itemsize, shapes[name]) for name, array in arrays.items()}
    text = json.dumps({**about, "arrays": files}).encode()
    _synced(folder / _SUMS, lambda file: file.write(_sums_line(sums, crc32(text))))
    _synced(folder / ABOUT, lambda file: file.write(sealed(text, ABOUT)))


def read_about(folder: Path) -> dict[str, Any]:
    """What was said about the arrays. FileNotFoundError: there are none."""
    return dict(json.loads(_about_text(folder)))


def opened(folder: Path, only: Iterable[str] | None = None) -> dict[str, Array]:
    """The arrays, or some of them, each checked and then mapped. What a process writes to them stays in its memory."""
    try:
        sums, _ = _checksums(folder)
        wanted = list(sums if only is None else only)
        for name in wanted:
            if _sums_of(folder, name) != sums[name]:
                raise Damaged(f"{name}.npy is damaged")
        return {name: _mapped(_file(folder, name)) for name in wanted}
    except (OSError, ValueError) as problem:
        raise Damaged(str(problem)) from problem


def places(about: Mapping[str, Any], name: str, starts: Iterable[int], values: int = 1) -> Parts:
    """Zeros in the place of so many values of an array from each of these on, counted through all its axes."""
    size, item, shape = about["arrays"][name]
    begin = size - item * math.prod(shape)
    return [(begin + item * start, bytes(item * values)) for start in starts]


def overwrite(folder: Path, changes: Mapping[str, Parts]) -> None:
    """Put bytes in the place of others, all or none. Blocks are compared with their checksums before they get others, lest damage
    be taken for right."""
    sums, seal = _checksums(folder)
    redo: dict[str, Parts] = {}
    for name, parts in changes.items():
        for number in _touched(parts):
            block = _block(folder, name, number, sums[name])
            for place, new in parts:
                _lay(block, place - number * BLOCK, new)
            sums[name][number] = crc32(block, _seed((name, number)))
        redo[f"{name}.npy"] = parts
    redo[_SUMS] = [(0, _sums_line(chain.from_iterable(sums.values()), seal))]
    text = json.dumps({name: [(place, new.hex()) for place, new in parts] for name, parts in redo.items()}).encode()
    _synced(folder / _REDO, lambda file: file.write(sealed(text, _REDO, seal)))
    sync_folder(folder)
    _finish(folder, seal)


def _about_text(folder: Path) -> bytes:
    return unsealed((folder / ABOUT).read_bytes(), ABOUT)


def _checksums(folder: Path) -> tuple[dict[str, list[int]], int]:
    """Of each array, one per block; and what ties all files of a folder to its `index.json`. What another process was killed in
    is finished first."""
    text = _about_text(folder)
    seal = crc32(text)
    _finish(folder, seal)
    rest = iter(np.frombuffer(unsealed((folder / _SUMS).read_bytes(), _SUMS, seal), np.uint32).tolist())
    return {name: [*islice(rest, -(-size // BLOCK))] for name, (size, *_) in json.loads(text)["arrays"].items()}, seal


def _sums_line(sums: Iterable[int], seal: int) -> bytes:
    return sealed(np.fromiter(sums, np.uint32).tobytes(), _SUMS, seal)


def _finish(folder: Path, seal: int) -> None:
    """Overwrite what some process has said that it will. If what it said is not whole, it was killed before it began."""
    path = folder / _REDO
    try:
        redo = json.loads(unsealed(path.read_bytes(), _REDO, seal))
    except FileNotFoundError:
        return
    except Damaged:
        redo = {}
    for name, parts in redo.items():
        with (folder / name).open("r+b") as file:
            for place, new in parts:
                file.seek(place)
                file.write(bytes.fromhex(new))
            _sync(file)
    with suppress(FileNotFoundError):  # two processes may do the same, with the same bytes
        with path.open("r+b") as file:  # where somebody's bytes were tells of them, too
            file.write(bytes(path.stat().st_size))
            _sync(file)
        path.unlink()


def _touched(parts: Parts) -> list[int]:
    return sorted({block for place, new in parts for block in range(place // BLOCK, (place + len(new) - 1) // BLOCK + 1)})


def _block(folder: Path, name: str, number: int, sums: Sequence[int]) -> bytearray:
    with _file(folder, name).open("rb") as file:
        file.seek(number * BLOCK)
        block = bytearray(file.read(BLOCK))
    if number >= len(sums) or crc32(block, _seed((name, number))) != sums[number]:
        raise Damaged(f"{name}.npy is damaged")
    return block


def _lay(block: bytearray, at: int, new: bytes) -> None:
    """As much of it as lies in the block."""
    first, end = max(at, 0), min(at + len(new), len(block))
    if first < end:
        block[first:end] = new[first - at : end - at]


def _sums_of(folder: Path, name: str) -> list[int]:
    """By reading and not from a mapping, in which a disk that fails would end the process."""
    found, block = list[int](), memoryview(bytearray(BLOCK))
    with _file(folder, name).open("rb", buffering=0) as file:
        while count := file.readinto(block):
            found.append(crc32(block[:count], _seed((name, len(found)))))
    return found


def _seed(of: Iterable[object]) -> int:
    return crc32(repr((*of,)).encode())


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"


def _save(file: IO[bytes], array: Array, spare: int) -> None:
    shape = (len(array) + spare, *array.shape[1:])
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape}
    )
    begin = file.tell()
    for part in array if array.ndim > 1 else (array,):
        file.write(np.ascontiguousarray(part).data)
    file.truncate(begin + int(np.prod(shape)) * array.itemsize)


def _mapped(path: Path) -> Array:
    """Nothing can be mapped of an array without values, whose file is its header."""
    shape_only = np.load(path, allow_pickle=False) if path.stat().st_size <= 128 else np.load(path, mmap_mode="c")
    return np.asarray(shape_only)


def _synced(path: Path, write_to: Callable[[IO[bytes]], object]) -> None:
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        write_to(file)
        _sync(file)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
