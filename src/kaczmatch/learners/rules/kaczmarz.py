"""The paper's six rules, and Block-NK with a damping that follows the block (the paper's future work).

All move v by hinge residuals (paper, eq. 6). A liked candidate should have a cosine of at least θ + δ with v, a passed one of at
most θ - δ. The residual r is how far it is on the wrong side. θ is one number for all users (0.52 in the paper), or one per user.
A user's own θ starts from the common one and moves at every swipe that scored on its wrong side, so that the share of candidates
above θ approaches the user's share of likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.compiled import (
    adapted_damping,
    add_scaled,
    compiled,
    cosine_from_products,
    dot,
    normalise,
    products,
    ridge_step,
    usable_norm,
)
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.vectors import Vector, as_matrix, cosine
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, end_session_kernel, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner, VectorLearner, number, setting, whole

# Positions in `parameters`: the hinge, then a rule's own settings.
THETA, DELTA, THETA_STEP = 0, 1, 2
ALPHA = ETA = 3
K = ALONG = 4
CONDITION = 5


@compiled
def hinge_residual(score: float, label: float, theta: float, delta: float) -> float:
    if label > 0.0:
        return max(0.0, (theta + delta) - score)
    return -max(0.0, score - (theta - delta))


@compiled
def moved_theta(theta: float, score: float, label: float, step: float) -> float:
    """A user's own θ after a swipe: up where a pass scored above it, down where a like scored below."""
    error = (1.0 if score >= theta else 0.0) - (1.0 if label > 0.0 else 0.0)
    return min(1.0, max(-1.0, theta + step * error))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hinge:
    """A liked candidate should score at least theta + delta, a passed one at most theta - delta."""

    theta: float = 0.52
    delta: float = 0.05
    theta_step: float = 0.0  # how far a user's own theta moves per swipe on its wrong side; 0: one theta for all (the paper)

    def residual(self, v: Vector, a: Vector, label: Label) -> float:
        """The residual of a swipe."""
        return float(hinge_residual(cosine(v, a), float(sign(label)), self.theta, self.delta))

    def __post_init__(self) -> None:
        check_number("theta", self.theta, low=-1.0, high=1.0)
        check_number("delta", self.delta, low=0.0, high=1.0)
        check_number("theta_step", self.theta_step, low=0.0, high=1.0)


def _hinge(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, Hinge):
        raise InvalidInput(name, f"must be a Hinge, such as Hinge(theta=0.52, delta=0.05), got {value!r}")
    return value.theta, value.delta, value.theta_step


@dataclass(frozen=True, slots=True, kw_only=True)
class HingeLearner(VectorLearner):
    """A rule that moves v by hinge residuals. A user's own threshold is the last scalar."""

    counter_cells: ClassVar[int] = 0  # scalars before the threshold

    hinge: Hinge = setting(Hinge(), _hinge)

    @property
    @final
    def scalars(self) -> int:
        return self.counter_cells + (self.hinge.theta_step > 0.0)

    @final
    def theta(self, cells: Vector, dimensions: int) -> float:
        """The threshold of the user with these cells."""
        return float(cells[dimensions + self.counter_cells]) if self.hinge.theta_step > 0.0 else self.hinge.theta

    @final
    def initial_cells(self, prior: Prior) -> Vector:
        own = [self.hinge.theta] if self.hinge.theta_step > 0.0 else []
        return np.concatenate([prior.weights, np.zeros(self.counter_cells), own])


# One swipe at a time: v + c·a


@compiled
def residual(cells: Vector, features: Vector, label: float, parameters: Vector) -> tuple[float, float]:
    """r and ‖a‖². Moves the user's own θ where there is one. (0, 1) without tags, (NaN, 1) for features that cannot be used."""
    d = features.shape[0]
    va, vv, aa = products(cells[:d], features)
    if not usable_norm(aa):
        return math.nan, 1.0
    if aa == 0.0:
        return 0.0, 1.0
    score = cosine_from_products(va, vv, aa)
    theta = float(parameters[THETA])
    if parameters[THETA_STEP] > 0.0:
        theta = float(cells[d])
        cells[d] = moved_theta(theta, score, label, parameters[THETA_STEP])
    return hinge_residual(score, label, theta, parameters[DELTA]), aa


@compiled
def add(cells: Vector, c: float, features: Vector) -> int:
    """v += c·a, where there is anything to learn (c ≠ 0) and the features can be used (c is a number)."""
    if c != c:
        return BAD_FEATURES
    if c != 0.0:
        add_scaled(cells[: features.shape[0]], c, features)
    return DONE


@swipe_kernel
def tikhonov(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    r, aa = residual(cells, features, label, parameters)
    return add(cells, r / (aa + parameters[ALPHA]), features)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TikhonovKaczmarz(HingeLearner, ImmediateLearner):
    """TK: v + r/(‖a‖² + α) a (paper, eq. 5 and alg. 1), a projection with a damped denominator.

    The step is that of Passive-Aggressive-II with α = 1/(2C) (Crammer et al. 2006), taken on a cosine margin instead of a dot
    product. It is at most |r|/(2√α) long, not the |r|/(1 + α) of the paper's Proposition 2.
    """

    slug: ClassVar[str] = "tk"
    kernels: ClassVar[Kernels] = Kernels(tikhonov)

    alpha: float = setting(1.0, number(0.0, 1e100))


def tikhonov_step_bound(alpha: float, tags: int | None = None) -> float:
    """The longest step of TK per unit of residual.

    Over candidates with 1 to `tags` tags it is the largest √m/(m + α); over real-valued ones 1/(2√α). The paper's
    Proposition 2 has 1/(1 + α), which is too small for 0/1 tags once α > √2.
    """
    check_number("alpha", alpha, low=0.0)
    if tags is None:
        return 0.5 / math.sqrt(alpha) if alpha > 0.0 else math.inf
    best = {1, max(1, min(tags, math.floor(alpha))), max(1, min(tags, math.ceil(alpha)))}  # √m/(m + α) peaks at m = α
    return max(math.sqrt(m) / (m + alpha) for m in best)


@swipe_kernel
def unnormalised(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    r, aa = residual(cells, features, label, parameters)
    return add(cells, r / aa, features)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnnormalisedKaczmarz(HingeLearner, ImmediateLearner):
    """K-NoNorm: v + r/‖a‖² a (paper, section 7.2), Kaczmarz' projection as it is."""

    slug: ClassVar[str] = "k-nonorm"
    kernels: ClassVar[Kernels] = Kernels(unnormalised)


Along = Literal["raw", "unit"]


def _along(_: str, value: Any) -> tuple[float, ...]:
    if value not in get_args(Along):
        raise InvalidInput("direction", f"must be 'raw' or 'unit', got {value!r}")
    return (float(value == "unit"),)


@compiled
def fixed_rate(cells: Vector, features: Vector, label: float, parameters: Vector) -> float:
    """η r, or η r/‖a‖ along the unit vector."""
    r, aa = residual(cells, features, label, parameters)
    return float(parameters[ETA]) * r / (math.sqrt(aa) if parameters[ALONG] > 0.0 else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRateLearner(HingeLearner, ImmediateLearner):
    """A rule with a fixed learning rate η.

    The paper's eq. 3 divides a by its length (``direction="unit"``). Its experiments did not (``"raw"``, the default), and only
    that reproduces its table. The setting is called ``direction``. The field is not, because every learner has a method of that
    name.
    """

    eta: float = setting(0.1, number(0.0, 1e6, open_low=True))
    along: Along = setting("raw", _along, setting="direction")


@swipe_kernel
def gradient(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    return add(cells, fixed_rate(cells, features, label, parameters), features)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineGradient(FixedRateLearner):
    """OGD: v + η r a (paper, section 7.2), online gradient descent on the hinge."""

    slug: ClassVar[str] = "ogd"
    kernels: ClassVar[Kernels] = Kernels(gradient)


@swipe_kernel
def normalised(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    c = fixed_rate(cells, features, label, parameters)
    answer = add(cells, c, features)
    if answer == DONE and c != 0.0:
        normalise(cells[: features.shape[0]])
    return answer


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedKaczmarz(FixedRateLearner):
    """NK: unit(v + η r a) at every swipe (paper, eqs. 3 and 4). A silent one leaves v as it is."""

    slug: ClassVar[str] = "nk"
    kernels: ClassVar[Kernels] = Kernels(normalised)

    eta: float = setting(0.5, number(0.0, 1e6, open_low=True))


# A session at a time: swipes wait in the state until it ends or k are pending, and are then solved together


@compiled
def pend(cells: Vector, features: Vector, label: float, unit_length: bool, parameters: Vector) -> int:
    """Append one swipe to those that wait. A candidate without tags is not kept."""
    squared = dot(features, features)
    if not usable_norm(squared):
        return BAD_FEATURES
    if squared == 0.0:
        return DONE
    d = features.shape[0]
    head = d + (2 if parameters[THETA_STEP] > 0.0 else 1)
    row = cells[head + int(cells[d]) * (d + 1) :]
    for i in range(d):
        row[i] = features[i]
    row[d] = label
    cells[d] += 1.0
    return solve(cells, d, unit_length, parameters) if cells[d] >= parameters[K] else DONE


@compiled
def solve(cells: Vector, d: int, unit_length: bool, parameters: Vector) -> int:
    """v + Aᵀ(AAᵀ + αI)⁻¹ r over all that wait, r taken at the v before; then none waits."""
    k = int(cells[d])
    if k == 0:
        return DONE
    own = parameters[THETA_STEP] > 0.0
    head = d + (2 if own else 1)
    rows = cells[head:][: k * (d + 1)].reshape(k, d + 1)
    v = cells[:d]
    theta = cells[d + 1] if own else parameters[THETA]
    r = np.empty(k)
    moved = 0.0
    for i in range(k):
        va, vv, aa = products(v, rows[i, :d])
        score = cosine_from_products(va, vv, aa)
        r[i] = hinge_residual(score, rows[i, d], theta, parameters[DELTA])
        moved += moved_theta(theta, score, rows[i, d], parameters[THETA_STEP])
        rows[i, d] = 0.0  # without its label, a row can be solved in place
    # The emptied column would make the d x d form, which larger blocks are solved in, singular.
    block = rows if k <= d else np.ascontiguousarray(rows[:, :d])
    add_scaled(v, 1.0, ridge_step(block, r, adapted_damping(block, parameters[ALPHA], parameters[CONDITION])))
    if unit_length:
        normalise(v)
    if own:
        cells[d + 1] = moved / k
    cells[d] = 0.0
    return DONE


def gram_condition(rows: ArrayLike, alpha: float = 0.0) -> float:
    """κ of AAᵀ + αI or, where there are more rows than tags, of AᵀA + αI, which is then solved; infinite where singular."""
    a = as_matrix(rows, "rows")
    eigenvalues = np.linalg.svd(a, compute_uv=False) ** 2 + alpha
    largest, smallest = float(eigenvalues.max()), float(eigenvalues.min())
    singular = smallest <= largest * max(a.shape) * np.finfo(np.float64).eps
    return math.inf if singular else largest / smallest


_CONDITION = number(1.0, open_low=True)


def _minutes(name: str, value: Any) -> tuple[float, ...]:
    check_number(name, value, low=0.0, open_low=True)
    return ()  # kernels do not know of time


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLearner(HingeLearner):
    """Cells: v, the number of pending swipes, the user's own threshold if any, and (features, label) per pending swipe.

    Damping can follow the block: α is then the smallest with κ(AAᵀ + αI) ≤ κ*, in closed form (λmax − κ* λmin)/(κ* − 1), and
    never below the setting.
    """

    counter_cells: ClassVar[int] = 1

    alpha: float = setting(1.0, number(0.0, 1e100))
    k: int = setting(32, whole(1, 10**6))
    condition: float = setting(math.inf, _CONDITION)  # κ*; infinite: α does not adapt
    session_timeout_minutes: float = setting(math.inf, _minutes)  # minutes without a swipe that end a session

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


@swipe_kernel
def block_tikhonov(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    return pend(cells, features, label, False, parameters)


@end_session_kernel
def end_block_tikhonov(cells: Vector, dimensions: int, parameters: Vector) -> int:
    return solve(cells, dimensions, False, parameters)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTikhonovKaczmarz(BlockLearner):
    """Block-TK: v + Aᵀ(AAᵀ + αI)⁻¹ r, r taken at the session's first v (paper, eq. 7); TK where k = 1."""

    slug: ClassVar[str] = "block-tk"
    kernels: ClassVar[Kernels] = Kernels(block_tikhonov, end_block_tikhonov)


@swipe_kernel
def block_normalised(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    return pend(cells, features, label, True, parameters)


@end_session_kernel
def end_block_normalised(cells: Vector, dimensions: int, parameters: Vector) -> int:
    return solve(cells, dimensions, True, parameters)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNormalisedKaczmarz(BlockLearner):
    """Block-NK: unit(v + Aᵀ(AAᵀ + αI)⁻¹ r) (paper, section 4.4): Block-TK, then back to unit length, once per session."""

    slug: ClassVar[str] = "block-nk"
    kernels: ClassVar[Kernels] = Kernels(block_normalised, end_block_normalised)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAdaptive(BlockLearner):
    """Block-NK with α just large enough that κ ≤ κ*. A block ends when the session times out.

    A short session has a small κ and is solved with the smallest α. A long one is nearly singular and is damped more, because its
    solution would amplify label noise.
    """

    slug: ClassVar[str] = "block-adaptive"
    kernels: ClassVar[Kernels] = Kernels(block_normalised, end_block_normalised)

    condition: float = setting(100.0, _CONDITION)
    session_timeout_minutes: float = setting(30.0, _minutes)
