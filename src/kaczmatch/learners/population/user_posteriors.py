"""What one user's swipes say: of the user's taste, and of the candidates' traits. Users are independent of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.kernels import answer_likelihood
from kaczmatch.learners.population.traits import LEAST_RANDOM_SHARE

_INNER: Final = 3  # steps of a user's mean in a round
_DOUBT: Final = 0.5  # the share of S that users hear


@final
@dataclass(frozen=True, slots=True, eq=False)
class UserSwipes:
    """One user's swipes, one row each: tags and 1, traits, doubts about them, and labels."""

    x: Matrix
    z: Matrix
    doubt: Matrix
    y: Vector

    def posterior(self, m: Vector, inverse: Matrix, pull: Vector) -> tuple[Vector, Matrix]:
        """M and C, from the mean of the round before; P₀⁻¹ and P₀⁻¹m₀."""
        k = self.z.shape[1]
        phi = np.hstack([self.x, self.z])
        precision = inverse + phi.T @ phi
        precision[range(-k, 0), range(-k, 0)] += _DOUBT * self.doubt.sum(axis=0)
        covariance = np.linalg.inv(precision)
        for _ in range(_INNER):
            mu = phi @ m
            m = covariance @ (pull + phi.T @ (mu + self.y * _slope(self.y * mu)))
        return m, np.asarray(covariance, np.float64)

    def evidence(self, m: Vector, covariance: Matrix) -> Matrix:
        """Of each swipe (l − w·x̃ − c) M − C·(x̃, 1), over traits."""
        k = self.z.shape[1]
        base = self.x @ m[:-k]
        mu = base + self.z @ m[-k:]
        latent = mu + self.y * _slope(self.y * mu)
        return np.asarray((latent - base)[:, None] * m[-k:] - self.x @ covariance[:-k, -k:])


def trait_posteriors(squares: NDArray[np.float64], pull: Matrix) -> tuple[Matrix, Matrix]:
    """The traits of candidates and doubts about them, one row each, from Σ MMᵀ + C over their raters and ζ + ΣH."""
    doubt = 1.0 / (1.0 + np.diagonal(squares, axis1=1, axis2=2))
    z = np.linalg.solve(squares + np.eye(pull.shape[1]), pull[:, :, None])[:, :, 0]
    return np.asarray(z, np.float64), doubt


@compiled
def _slope(t: Vector) -> Vector:
    """g of each answer, with the share of coin tosses that sites expect."""
    found = np.empty(len(t))
    for i in range(len(t)):
        found[i] = answer_likelihood(t[i], LEAST_RANDOM_SHARE)[1]
    return found
