"""Where somebody is, no more exactly than a coarse grid, and who is near enough.

Distances are compared as haversines, h = sin²(angle/2): that needs three table look-ups a candidate, no trigonometry, and the
compiled pass and the readable filter decide by the same bits. They are float32: all terms are positive, so
nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import checked

Floats = NDArray[np.float32]

_EARTH_KM = 6371.0088
GRID_DEGREES = 0.1  # about 11 km from north to south
ROWS, COLUMNS = round(180.0 / GRID_DEGREES), round(360.0 / GRID_DEGREES)
NOWHERE = ROWS  # the grid row of who says no place
NO_LIMIT = np.float32(2.0)  # a reach beyond every haversine
_FAR = np.float32(1.5)  # the haversine to nowhere: within no limit but NO_LIMIT


@final
@dataclass(frozen=True, slots=True)
class Location:
    """A grid cell, spoken of by its middle; the exact place is forgotten before it is stored."""

    row: int
    column: int

    @classmethod
    def snapped(cls, latitude: float, longitude: float) -> Location:
        """The cell that a place lies in."""
        north = checked("latitude", latitude, low=-90.0, high=90.0)
        east = checked("longitude", longitude, low=-180.0, high=180.0)
        row = min(int((north + 90.0) / GRID_DEGREES), ROWS - 1)
        return cls(row, int((east + 180.0) / GRID_DEGREES) % COLUMNS)  # 180° east is 180° west

    @property
    def latitude(self) -> float:
        return round(self.row * GRID_DEGREES - 90.0 + GRID_DEGREES / 2, 6)

    @property
    def longitude(self) -> float:
        return round(self.column * GRID_DEGREES - 180.0 + GRID_DEGREES / 2, 6)


class Around(NamedTuple):
    """The haversine from one place to any cell: rise[row] + span[row]·turn[|column − from_column|]."""

    column: int
    rise: Floats
    span: Floats
    turn: Floats

    @classmethod
    def of(cls, place: Location | None) -> Around:
        if place is None:  # as far from everybody as from nowhere
            return cls(0, np.full(ROWS + 1, _FAR), np.zeros(ROWS + 1, np.float32), _TURN)
        north = _LATITUDES[place.row]
        rise = np.append(np.sin((_LATITUDES - north) / 2) ** 2, _FAR)
        span = np.append(np.cos(north) * np.cos(_LATITUDES), 0.0)
        return cls(place.column, rise.astype(np.float32), span.astype(np.float32), _TURN)

    def haversines(self, rows: NDArray[np.int16], columns: NDArray[np.int16]) -> Floats:
        """To many cells."""
        return self.rise[rows] + self.span[rows] * self.turn[np.abs(columns.astype(np.int64) - self.column)]


_LATITUDES = np.radians(np.arange(ROWS) * GRID_DEGREES - 90.0 + GRID_DEGREES / 2)
_TURN = (np.sin(np.radians(np.arange(COLUMNS) * GRID_DEGREES) / 2) ** 2).astype(np.float32)


def reach(within_km: float) -> np.float32:
    """The largest haversine within a distance."""
    angle = within_km / _EARTH_KM
    return np.float32(math.sin(angle / 2) ** 2) if angle < math.pi else NO_LIMIT
