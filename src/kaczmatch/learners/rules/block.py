"""Block rules: swipes wait in the state until the session ends or k are pending, then they are solved together.

Damping and block size can adapt to the block (the paper's future work). α is then the smallest with κ(AAᵀ + αI) ≤ κ*, in closed
form (λmax − κ* λmin)/(κ* − 1), and never below the setting. A block ends before a candidate that lies almost in the span of the
block's rows. The remaining rows are solved as the next block, from where the first one led.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import (
    adapted_damping,
    add_scaled,
    compiled,
    cosine_from_products,
    count_independent,
    dot,
    normalise,
    products,
    ridge_step,
    usable_norm,
)
from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import BAD_FEATURES
from kaczmatch.learners.rules.hinge import HingeLearner, clip_to_cosine, hinge_residual, threshold_error


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLearner(HingeLearner):
    """Cells: v, the number of pending swipes, the user's own threshold if any, and (features, label) per pending swipe."""

    counter_cells: ClassVar[int] = 1

    alpha: float = 1.0
    k: int = 32
    condition: float = math.inf  # κ*; infinite: α does not adapt
    session_timeout_minutes: float = math.inf  # minutes without a swipe that end a session
    novelty: float = (
        0.0  # a candidate with less than this share of its squared length outside the rows' span opens the next block
    )

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
    def first_block_size(self, rows: Matrix) -> int:
        """How many rows are solved together: those before the first that adds little to them."""
        for i in range(1, len(rows) if self.novelty > 0.0 else 0):
            before, a = rows[:i], rows[i]
            outside = a - before.T @ np.linalg.lstsq(before.T, a, rcond=None)[0]
            if outside @ outside < self.novelty * (a @ a):
                return i
        return len(rows)

    @property
    @final
    def session_timeout(self) -> float:
        return 60.0 * self.session_timeout_minutes

    @final
    def valid_cells(self, cells: Vector, dimensions: int) -> bool:
        return len(cells) > dimensions and len(cells) == self._end(cells, dimensions)

    @final
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return np.append(cells, np.empty(dimensions + 1))

    @final
    def compact(self, work: Vector, dimensions: int) -> Vector:
        return work[: self._end(work, dimensions)].copy()

    @final
    def working_size(self, dimensions: int, swipes: int) -> int:
        return self.width(dimensions) + (dimensions + 1) * min(self.k, swipes)

    def _end(self, cells: Vector, dimensions: int) -> int:
        return self.width(dimensions) + (dimensions + 1) * int(cells[dimensions])

    @final
    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        if not candidate.features.any():
            return cells
        d = len(candidate.features)
        cells = np.concatenate([cells, candidate.features, [sign(label)]])
        cells[d] += 1
        return self.reference_end_session(cells, d) if cells[d] >= self.k else cells

    @final
    def reference_end_session(self, cells: Vector, dimensions: int) -> Vector:
        """The cells after the end of a session, in plain numpy: the specification of that kernel."""
        v, theta = cells[:dimensions], self.theta(cells, dimensions)
        pending = cells[self.width(dimensions) :].reshape(-1, dimensions + 1)
        while len(pending):
            size = self.first_block_size(pending[:, :dimensions])
            rows, labels = pending[:size, :dimensions], [1 if y > 0 else -1 for y in pending[:size, dimensions]]
            r = np.array([self.hinge.residual(v, a, y, theta) for a, y in zip(rows, labels, strict=True)])
            moved = [self.hinge.updated_theta(v, a, y, theta) for a, y in zip(rows, labels, strict=True)]
            v, theta, pending = self.step(v, rows, r), float(np.mean(moved)), pending[size:]
        return np.concatenate([v, [0.0], [theta] if self.hinge.theta_step > 0.0 else []])

    @final
    def kernel_parameters(self) -> tuple[float, ...]:
        alpha, k = check_number("alpha", self.alpha, low=0.0, high=1e100), check_integer("k", self.k, low=1, high=10**6)
        condition = check_number("condition", self.condition, low=1.0, open_low=True)
        check_number("session_timeout_minutes", self.session_timeout_minutes, low=0.0, open_low=True)
        novelty = check_number("novelty", self.novelty, low=0.0, high=1.0)
        return alpha, *self.hinge_parameters(), float(k), condition, novelty


# Positions in a block rule's parameters.
THETA, DELTA, STEP, K, CONDITION, NOVELTY = range(1, 7)


@compiled
def _header_size(d: int, parameters: Vector) -> int:
    """Cells before the pending rows: preference, count and, where there is one, the user's own threshold."""
    return d + (2 if parameters[STEP] > 0.0 else 1)


@compiled
def enqueue_swipe(cells: Vector, features: Vector, label: float, parameters: Vector) -> int:
    """Append one swipe. Returns how many are pending, or -BAD_FEATURES. A candidate without tags is not kept."""
    squared = dot(features, features)
    if not usable_norm(squared):
        return -BAD_FEATURES
    d = features.shape[0]
    pending = int(cells[d])
    if squared == 0.0:
        return pending
    row = cells[_header_size(d, parameters) + pending * (d + 1) :]
    for i in range(d):
        row[i] = features[i]
    row[d] = label
    cells[d] = pending + 1.0
    return pending + 1


@compiled
def solve_pending(cells: Vector, d: int, unit_length: bool, parameters: Vector) -> None:
    """Project onto all pending swipes, block after block, and drop them."""
    k = int(cells[d])
    head = _header_size(d, parameters)
    pending = cells[head:][: k * (d + 1)].reshape(k, d + 1)
    first = 0
    while first < k:
        rows = pending[first:]
        rows = rows[: count_independent(np.ascontiguousarray(rows[:, :d]), parameters[NOVELTY])]
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
        score = cosine_from_products(va, vv, aa)
        r[i] = hinge_residual(score, rows[i, d], theta, parameters[DELTA])
        moved += clip_to_cosine(theta + parameters[STEP] * threshold_error(score, rows[i, d], theta))
        rows[i, d] = 0.0  # without its label, a row can be solved in place
    # The emptied column would make the d x d form, which larger blocks are solved in, singular.
    block = rows if k <= d else np.ascontiguousarray(rows[:, :d])
    add_scaled(v, 1.0, ridge_step(block, r, adapted_damping(block, parameters[0], parameters[CONDITION])))
    if own:
        cells[d + 1] = moved / k
