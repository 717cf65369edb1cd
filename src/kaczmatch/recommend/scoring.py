"""Forward and backward scores, and their fusion into one that both sides share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, nearest
from kaczmatch.core.vectors import Vector

Fusion = Callable[[ArrayLike, ArrayLike], Vector]


def geometric(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """√(forward · backward), the paper's, with each side clamped at 0: a dislike on either side is a 0, not a NaN or a match."""
    return np.asarray(np.sqrt(_clamped(forward) * _clamped(backward)))


def harmonic(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """2/(1/forward + 1/backward): nearer to the weaker side than the geometric mean."""
    a, b = _clamped(forward), _clamped(backward)
    total = a + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0.0)


def minimum(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """The weaker side alone."""
    return np.minimum(_clamped(forward), _clamped(backward))


def product(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """forward · backward: for probabilities of a like, the probability of a match."""
    return _clamped(forward) * _clamped(backward)


FUSIONS: Mapping[str, Fusion] = MappingProxyType(
    {"geometric": geometric, "harmonic": harmonic, "minimum": minimum, "product": product}
)


def fusion(name: str) -> Fusion:
    """The fusion called `name`."""
    if name not in FUSIONS:
        raise InvalidInput("fusion", f"there is no fusion {name!r}; {nearest(str(name), FUSIONS)}")
    return FUSIONS[name]


def _clamped(scores: ArrayLike) -> Vector:
    values = np.asarray(scores, np.float64)
    if np.isnan(values).any():
        raise InvalidInput("scores", "must be numbers, got NaN")
    return np.maximum(values, 0.0)
