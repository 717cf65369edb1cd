"""Block rules: swipes wait in the state until a session ends or k are pending, then are solved together."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add, compiled, cosine_of, dot, products, ridge_step, usable
from kaczmatch.core.errors import checked, whole
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.hinge import HingeLearner, residual
from kaczmatch.learners.kernels import BAD_FEATURES
from kaczmatch.learners.prior import Prior


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLearner(HingeLearner):
    """The preference, a count of pending swipes, and a row (features, label) for each."""

    scalars: ClassVar[int] = 1

    alpha: float = 1.0
    k: int = 32

    @abstractmethod
    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        """The rule: the next preference vector, from all rows and their residuals at v."""

    @final
    def projection(self, rows: Matrix, r: Vector) -> Vector:
        """Aᵀ(AAᵀ + αI)⁻¹ r (paper, eq. 7), and its limit, least squares, at α = 0."""
        if self.alpha == 0.0:
            return np.asarray(np.linalg.lstsq(rows, r, rcond=None)[0], np.float64)
        return rows.T @ np.linalg.solve(rows @ rows.T + self.alpha * np.eye(len(rows)), r)

    @final
    def fits(self, cells: Vector, dimensions: int) -> bool:
        return len(cells) > dimensions and len(cells) == self._end(cells, dimensions)

    @final
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return np.append(cells, np.empty(dimensions + 1))

    @final
    def compact(self, work: Vector, dimensions: int) -> Vector:
        return work[: self._end(work, dimensions)].copy()

    @final
    def room(self, dimensions: int, swipes: int) -> int:
        return (dimensions + 1) * (min(self.k, swipes) + 1)

    def _end(self, cells: Vector, dimensions: int) -> int:
        return (dimensions + 1) * (int(cells[dimensions]) + 1)

    @final
    def initial(self, prior: Prior) -> Vector:
        return np.append(prior.weights, 0.0)

    @final
    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        if not seen.features.any():
            return cells
        cells = np.concatenate([cells, seen.features, [sign(label)]])
        d = len(seen.features)
        cells[d] += 1
        return self.session_ended(cells, d) if cells[d] >= self.k else cells

    @final
    def session_ended(self, cells: Vector, dimensions: int) -> Vector:
        """The readable rule for the end of a session: the specification of that kernel."""
        v, pending = cells[:dimensions], cells[dimensions + 1 :].reshape(-1, dimensions + 1)
        rows, labels = pending[:, :dimensions], pending[:, dimensions]
        if not len(rows):
            return cells
        r = np.array([self.hinge.residual(v, a, 1 if y > 0 else -1) for a, y in zip(rows, labels, strict=True)])
        return np.append(self.step(v, rows, r), 0.0)

    @final
    def checked_parameters(self) -> tuple[float, ...]:
        alpha, k = checked("alpha", self.alpha, low=0.0, high=1e100), whole("k", self.k, low=1, high=10**6)
        return alpha, *self.hinge_parameters(), float(k)


@compiled
def queued(cells: Vector, features: Vector, label: float, parameters: Vector) -> int:
    """Append one swipe; answers how many are pending, or -BAD_FEATURES. A candidate without tags is not kept."""
    squared = dot(features, features)
    if not usable(squared):
        return -BAD_FEATURES
    d = features.shape[0]
    pending = int(cells[d])
    if squared == 0.0:
        return pending
    row = cells[(pending + 1) * (d + 1) :]
    for i in range(d):
        row[i] = features[i]
    row[d] = label
    cells[d] = pending + 1.0
    return pending + 1


@compiled
def solved(cells: Vector, d: int, parameters: Vector) -> bool:
    """Project onto all pending swipes at once and forget them; False when there are none."""
    k = int(cells[d])
    if k == 0:
        return False
    v = cells[:d]
    rows = cells[d + 1 : (k + 1) * (d + 1)].reshape(k, d + 1)
    r = np.empty(k)
    for i in range(k):
        va, vv, aa = products(v, rows[i, :d])
        r[i] = residual(cosine_of(va, vv, aa), rows[i, d], parameters[1], parameters[2])
        rows[i, d] = 0.0  # without its label, a row can be solved for where it stands
    # The emptied column would make the d x d form, which larger blocks are solved in, singular.
    add(v, 1.0, ridge_step(rows if k <= d else np.ascontiguousarray(rows[:, :d]), r, parameters[0]))
    cells[d] = 0.0
    return True
