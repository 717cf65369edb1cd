"""Where a person starts: the expected weight of each tag before the first swipe, with a version."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, as_vector, finite, sealed

# A user of the paper likes what has a cosine of at least 0.52 to a 0/1 taste of d/2 tags. With weights of 1 on average (0 or 2
# a tag) that taste has length 2√(d/2) = √2·‖weights‖, hence the threshold of a prior that states none.
_USUAL_COSINE = 0.52


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The expected weight of each tag and, for belief learners, threshold, appeal weight and covariance.

    ``version`` names the prior in stored states and events; a prior made from a plain vector has none and travels inside
    each stored state. ``covariance`` is over (tags, threshold, appeal), so d + 2 on a side.
    """

    weights: Vector
    version: str = ""
    threshold: float | None = None
    appeal: float = 0.0
    covariance: Matrix | None = None

    def __post_init__(self) -> None:
        weights = sealed(finite(as_vector(self.weights, "prior"), "prior").copy())
        if not weights.size:
            raise InvalidInput("prior", "must have at least one tag")
        object.__setattr__(self, "weights", weights)
        if not isinstance(self.version, str) or len(self.version.encode()) > 255:
            raise InvalidInput("version", f"must be a text of at most 255 bytes, got {self.version!r}")
        for name in ("threshold", "appeal"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
                raise InvalidInput(name, f"must be a finite number, got {value!r}")
        if self.covariance is not None:
            object.__setattr__(self, "covariance", sealed(self._checked_covariance(self.covariance)))
        if not self.version and (self.threshold is not None or self.appeal or self.covariance is not None):
            raise InvalidInput("version", "a prior that says more than its weights needs a version")

    def _checked_covariance(self, value: ArrayLike) -> Matrix:
        covariance = as_matrix(value, "covariance").copy()
        side = self.dimensions + 2
        if covariance.shape != (side, side):
            raise InvalidInput("covariance", f"must be {side} x {side} (tags, threshold, appeal), got {covariance.shape}")
        if not np.isfinite(covariance).all() or not np.array_equal(covariance, covariance.T):
            raise InvalidInput("covariance", "must be finite and symmetric")
        if not np.linalg.eigvalsh(covariance)[0] > 0.0:
            raise InvalidInput("covariance", "must be positive definite")
        return covariance

    @classmethod
    def ones(cls, dimensions: int) -> Prior:
        """Every tag welcome alike: the neutral start where nothing is known."""
        return cls(np.ones(dimensions), version=f"ones-{dimensions}")

    @classmethod
    def of(cls, prior: Prior | ArrayLike) -> Prior:
        """`prior` itself, or the plain vector as one."""
        return prior if isinstance(prior, Prior) else cls(as_vector(prior, "prior"))

    @property
    def dimensions(self) -> int:
        return len(self.weights)

    @property
    def usual_threshold(self) -> float:
        """The stated threshold, or the paper's for a taste of this length."""
        if self.threshold is not None:
            return self.threshold
        return -_USUAL_COSINE * math.sqrt(2.0) * float(np.linalg.norm(self.weights))

    def grown(self, dimensions: int) -> Prior:
        """This prior with new tags, which it expects to be like the average one and independent of the others."""
        new = dimensions - self.dimensions
        if new < 0:
            raise InvalidInput("dimensions", f"cannot shrink from {self.dimensions} to {dimensions} tags")
        if new == 0:
            return self
        weights = np.concatenate([self.weights, np.full(new, self.weights.mean())])
        covariance = None
        if self.covariance is not None:
            old = np.r_[: self.dimensions, dimensions, dimensions + 1]
            covariance = np.zeros((dimensions + 2, dimensions + 2))
            covariance[np.ix_(old, old)] = self.covariance
            added = np.arange(self.dimensions, dimensions)
            covariance[added, added] = np.diag(self.covariance)[: self.dimensions].mean()
        # The threshold belongs to the people, not to the vocabulary: new tags do not move it.
        return Prior(weights, f"{self.version}+{new}", self.usual_threshold, self.appeal, covariance)
