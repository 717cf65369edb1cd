"""Where somebody is, no more exactly than a coarse grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import checked
from kaczmatch.core.vectors import Vector

_EARTH_KM = 6371.0088
GRID_DEGREES = 0.1  # about 11 km from north to south


@final
@dataclass(frozen=True, slots=True)
class Location:
    """The middle of a grid cell; the exact place is forgotten before it is stored."""

    latitude: float
    longitude: float

    @classmethod
    def snapped(cls, latitude: float, longitude: float) -> Location:
        """The cell that a place lies in."""
        north = checked("latitude", latitude, low=-90.0, high=90.0)
        east = checked("longitude", longitude, low=-180.0, high=180.0)
        rows, columns = round(180.0 / GRID_DEGREES), round(360.0 / GRID_DEGREES)
        row = min(int((north + 90.0) / GRID_DEGREES), rows - 1)
        column = int((east + 180.0) / GRID_DEGREES) % columns  # 180° east is 180° west
        return cls(
            round(row * GRID_DEGREES - 90.0 + GRID_DEGREES / 2, 6), round(column * GRID_DEGREES - 180.0 + GRID_DEGREES / 2, 6)
        )


def kilometres(latitude: float, longitude: float, latitudes: ArrayLike, longitudes: ArrayLike) -> Vector:
    """Great-circle distances from one place to others."""
    a, b = np.radians(latitude), np.radians(np.asarray(latitudes, np.float64))
    east = np.radians(np.asarray(longitudes, np.float64) - longitude)
    h = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(east / 2) ** 2
    return np.asarray(2.0 * _EARTH_KM * np.arcsin(np.sqrt(np.clip(h, 0.0, 1.0))))
