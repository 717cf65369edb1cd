"""Block rules: swipes wait in the state until a session ends or k are pending, then are solved together.

How strongly a block is damped and where it ends can follow the block itself (the paper's future work): α is then the smallest
with κ(AAᵀ + αI) ≤ κ*, in closed form (λmax − κ* λmin)/(κ* − 1) but never below the setting, and a block ends before a
candidate that says little which its rows do not say together: the rest is solved for as the next block, from where it led.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import (
    adapted,
    add,
    compiled,
    cosine_of,
    dot,
    independent,
    normalise,
    products,
    ridge_step,
    usable,
)
from kaczmatch.core.errors import checked, whole
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import BAD_FEATURES
from kaczmatch.learners.rules.hinge import HingeLearner, excess, residual, within_cosines


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLearner(HingeLearner):
    """The preference, a count of pending swipes, their own threshold where there is one, and a row (features, label) each."""

    counts: ClassVar[int] = 1

    alpha: float = 1.0
    k: int = 32
    condition: float = math.inf  # κ*; infinite: α as it is
    quiet_minutes: float = math.inf  # without a swipe, after which the session counts as ended
    novelty: float = 0.0  # share of a candidate's squared length outside the rows' span below which it opens the next block

    @abstractmethod
    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        """The rule: the next preference vector, from all rows and their residuals at v."""

    @final
    def projection(self, rows: Matrix, r: Vector) -> Vector:
        """Aᵀ(AAᵀ + αI)⁻¹ r (paper, eq. 7), and its limit, least squares, at α = 0."""
        alpha = self.damping(rows)
        if alpha == 0.0:
            return np.asarray(np.linalg.lstsq(rows, r, rcond=None)[0], np.float64)
        return rows.T @ np.linalg.solve(rows @ rows.T + alpha * np.eye(len(rows)), r)

    @final
    def damping(self, rows: Matrix) -> float:
        """α for these rows; AAᵀ is singular where there are more rows than tags."""
        if math.isinf(self.condition):
            return self.alpha
        spectrum = np.linalg.svd(rows, compute_uv=False) ** 2
        smallest = float(spectrum.min()) if len(rows) <= rows.shape[1] else 0.0
        return max(self.alpha, (float(spectrum.max()) - self.condition * smallest) / (self.condition - 1.0))

    @final
    def first_block(self, rows: Matrix) -> int:
        """How many of the rows are solved for together, before one that adds little to those."""
        for i in range(1, len(rows) if self.novelty > 0.0 else 0):
            before, a = rows[:i], rows[i]
            outside = a - before.T @ np.linalg.lstsq(before.T, a, rcond=None)[0]
            if outside @ outside < self.novelty * (a @ a):
                return i
        return len(rows)

    @property
    @final
    def quiet(self) -> float:
        return 60.0 * self.quiet_minutes

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
        return self.width(dimensions) + (dimensions + 1) * min(self.k, swipes)

    def _end(self, cells: Vector, dimensions: int) -> int:
        return self.width(dimensions) + (dimensions + 1) * int(cells[dimensions])

    @final
    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        if not seen.features.any():
            return cells
        d = len(seen.features)
        cells = np.concatenate([cells, seen.features, [sign(label)]])
        cells[d] += 1
        return self.session_ended(cells, d) if cells[d] >= self.k else cells

    @final
    def session_ended(self, cells: Vector, dimensions: int) -> Vector:
        """The readable rule for the end of a session: the specification of that kernel."""
        v, theta = cells[:dimensions], self.theta(cells, dimensions)
        pending = cells[self.width(dimensions) :].reshape(-1, dimensions + 1)
        while len(pending):
            size = self.first_block(pending[:, :dimensions])
            rows, labels = pending[:size, :dimensions], [1 if y > 0 else -1 for y in pending[:size, dimensions]]
            r = np.array([self.hinge.residual(v, a, y, theta) for a, y in zip(rows, labels, strict=True)])
            moved = [self.hinge.moved(v, a, y, theta) for a, y in zip(rows, labels, strict=True)]
            v, theta, pending = self.step(v, rows, r), float(np.mean(moved)), pending[size:]
        return np.concatenate([v, [0.0], [theta] if self.hinge.step > 0.0 else []])

    @final
    def checked_parameters(self) -> tuple[float, ...]:
        alpha, k = checked("alpha", self.alpha, low=0.0, high=1e100), whole("k", self.k, low=1, high=10**6)
        condition = checked("condition", self.condition, low=1.0, open_low=True)
        checked("quiet_minutes", self.quiet_minutes, low=0.0, open_low=True)
        novelty = checked("novelty", self.novelty, low=0.0, high=1.0)
        return alpha, *self.hinge_parameters(), float(k), condition, novelty


# Places in a block rule's parameters.
THETA, DELTA, STEP, K, CONDITION, NOVELTY = range(1, 7)


@compiled
def _head(d: int, parameters: Vector) -> int:
    """Cells before the pending rows: preference, count and, where there is one, the user's own threshold."""
    return d + (2 if parameters[STEP] > 0.0 else 1)


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
    row = cells[_head(d, parameters) + pending * (d + 1) :]
    for i in range(d):
        row[i] = features[i]
    row[d] = label
    cells[d] = pending + 1.0
    return pending + 1


@compiled
def solved(cells: Vector, d: int, unit_length: bool, parameters: Vector) -> None:
    """Project onto all pending swipes, a block after the other, and forget them."""
    k = int(cells[d])
    head = _head(d, parameters)
    pending = cells[head:][: k * (d + 1)].reshape(k, d + 1)
    first = 0
    while first < k:
        rows = pending[first:]
        rows = rows[: independent(np.ascontiguousarray(rows[:, :d]), parameters[NOVELTY])]
        _project(cells, d, rows, parameters)
        if unit_length:
            normalise(cells[:d])
        first += rows.shape[0]
    cells[d] = 0.0


@compiled
def _project(cells: Vector, d: int, rows: Matrix, parameters: Vector) -> None:
    """One block: the preference and, where there is one, the user's own threshold after it."""
    k = rows.shape[0]
    v = cells[:d]
    own = parameters[STEP] > 0.0
    theta = cells[d + 1] if own else parameters[THETA]
    r = np.empty(k)
    moved = 0.0
    for i in range(k):
        va, vv, aa = products(v, rows[i, :d])
        score = cosine_of(va, vv, aa)
        r[i] = residual(score, rows[i, d], theta, parameters[DELTA])
        moved += within_cosines(theta + parameters[STEP] * excess(score, rows[i, d], theta))
        rows[i, d] = 0.0  # without its label, a row can be solved for where it stands
    # The emptied column would make the d x d form, which larger blocks are solved in, singular.
    block = rows if k <= d else np.ascontiguousarray(rows[:, :d])
    add(v, 1.0, ridge_step(block, r, adapted(block, parameters[0], parameters[CONDITION])))
    if own:
        cells[d + 1] = moved / k
