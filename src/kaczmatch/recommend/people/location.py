"""Locations on a coarse grid, and distances.

Distances are compared as squared chords between points on the unit sphere. That needs no trigonometry per candidate, and the
compiled filter and the readable one compare the same bits. float32 is exact to a metre; a grid cell is eleven kilometres wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.errors import check_integer, check_number

_EARTH_KM = 6371.0088
GRID_DEGREES = 0.1  # about 11 km from north to south
ROWS, COLUMNS = round(180.0 / GRID_DEGREES), round(360.0 / GRID_DEGREES)

Point = tuple[np.float32, np.float32, np.float32]

# People without a place: NOWHERE for candidates, NOWHERE_ELSE for viewers. Both are farther from every place, and from each
# other, than any limit, but within NO_LIMIT.
NOWHERE: Point = (np.float32(100.0), np.float32(0.0), np.float32(0.0))
NOWHERE_ELSE: Point = (np.float32(-100.0), np.float32(0.0), np.float32(0.0))
NO_LIMIT = np.float32(1e9)


@final
@dataclass(frozen=True, slots=True)
class Location:
    """A cell of the grid. Its coordinates are those of its centre. The exact place is never stored."""

    row: int
    column: int

    def __post_init__(self) -> None:
        check_integer("row", self.row, low=0, high=ROWS - 1)
        check_integer("column", self.column, low=0, high=COLUMNS - 1)

    @classmethod
    def from_coordinates(cls, latitude: float, longitude: float) -> Location:
        """The cell that contains a place."""
        north = check_number("latitude", latitude, low=-90.0, high=90.0)
        east = check_number("longitude", longitude, low=-180.0, high=180.0)
        row = min(int((north + 90.0) / GRID_DEGREES), ROWS - 1)
        return cls(row, int((east + 180.0) / GRID_DEGREES) % COLUMNS)  # 180° east is 180° west

    @property
    def latitude(self) -> float:
        return round(self.row * GRID_DEGREES - 90.0 + GRID_DEGREES / 2, 6)

    @property
    def longitude(self) -> float:
        return round(self.column * GRID_DEGREES - 180.0 + GRID_DEGREES / 2, 6)

    @property
    def point(self) -> Point:
        """The centre of the cell on the unit sphere."""
        north, east = math.radians(self.latitude), math.radians(self.longitude)
        x, y, z = math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)
        return np.float32(x), np.float32(y), np.float32(z)


def max_squared_chord(within_km: float) -> np.float32:
    """The squared chord of a distance."""
    angle = within_km / _EARTH_KM
    return np.float32(4.0 * math.sin(angle / 2.0) ** 2) if angle < math.pi else NO_LIMIT
