"""Feature vectors as they are stored: the places and values that are not zero, exactly."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector

_ENTRY = np.dtype([("place", "<u2"), ("value", "<f8")])
MOST_NAMES = 1 << 16


def packed(values: Vector) -> bytes:
    places = np.flatnonzero(values)
    entries = np.empty(len(places), _ENTRY)
    entries["place"], entries["value"] = places, values[places]
    return entries.tobytes()


def unpacked(data: bytes, dimensions: int, *, later_ones: bool = False) -> Vector:
    """The vector over so many terms. A vocabulary may have grown since the vector was stored; it never shrinks.

    With `later_ones`, the vector may have terms beyond these, which are left out.
    """
    entries = np.frombuffer(data, _ENTRY)
    if later_ones:
        entries = entries[entries["place"] < dimensions]
    if len(entries) and int(entries["place"].max()) >= dimensions:
        raise InvalidInput("features", f"were stored under more than {dimensions} terms")
    values = np.zeros(dimensions)
    values[entries["place"]] = entries["value"]
    return values
