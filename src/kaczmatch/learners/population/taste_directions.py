"""Directions of tags in which people's tastes go together: factors of the correlations of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector

_AXES_ROUNDS: Final = 20
_LEAST_REST: Final = 0.02  # of a tag's variance, which its own weight keeps


@final
@dataclass(frozen=True, slots=True, eq=False)
class TasteDirections:
    """Factors of the correlations of tastes over tags, R = UUᵀ + ψ."""

    loadings: Matrix  # U
    rest: Vector  # ψ

    @classmethod
    def of(cls, correlations: Matrix, many: int) -> TasteDirections:
        """So many, by principal axes."""
        rest = 1.0 / np.diag(np.linalg.inv(correlations))
        loadings = np.zeros((len(correlations), many))
        for _ in range(_AXES_ROUNDS if many else 0):
            size, axes = np.linalg.eigh(correlations - np.diag(rest))
            loadings = (axes * np.sqrt(np.maximum(size, 0.0)))[:, : -1 - many : -1]
            rest = np.maximum(1.0 - np.sum(loadings**2, axis=1), _LEAST_REST)
        return cls(loadings * signs(loadings), rest if many else np.ones(len(rest)))


def signs(columns: Matrix) -> Vector:
    """By which the largest entry of each column becomes positive: a direction and its opposite are one."""
    return np.asarray(np.sign(columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])]), np.float64)
