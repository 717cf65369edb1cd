"""Feature vectors as they are stored: the places and values that are not zero, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector

_ENTRY = np.dtype([("place", "<u2"), ("value", "<f8")])
_PAIR: Final = Struct("<Hd")  # the same
MOST_NAMES = 1 << 16


def packed(values: Vector) -> bytes:
    places = np.flatnonzero(values)
    entries = np.empty(len(places), _ENTRY)
    entries["place"], entries["value"] = places, values[places]
    return entries.tobytes()


def entries_of(data: bytes) -> Iterator[tuple[int, float]]:
    """The places and values of a vector that are not zero."""
    return _PAIR.iter_unpack(data)


def unpacked_rows(data: Sequence[bytes], dimensions: int) -> Matrix:
    """Vectors over so many terms, one row each. They may have terms beyond these, which are left out."""
    entries = np.frombuffer(b"".join(data), _ENTRY)
    row = np.repeat(np.arange(len(data)), [len(one) // _ENTRY.itemsize for one in data])
    known = entries["place"] < dimensions
    rows = np.zeros((len(data), dimensions))
    rows[row[known], entries["place"][known]] = entries["value"][known]
    return rows


def unpacked(data: bytes, dimensions: int, *, beyond: bool = False) -> Vector:
    """The vector over so many terms. A vocabulary may have grown since the vector was stored; it never shrinks.

    It may have terms `beyond` these, which are left out, where the vocabulary is not the newest.
    """
    values = np.zeros(dimensions)
    for place, value in _PAIR.iter_unpack(data):  # a few, for which arrays take three times as long
        if place < dimensions:
            values[place] = value
        elif not beyond:
            raise InvalidInput("features", f"were stored under more than {dimensions} terms")
    return values
