"""Traits of a candidate: what the tags lead to expect, and what each rater said.

A rater's decision says something about each trait of the candidate: a precision Λ and a shift H, together a site. With the
traits ζ that the tags lead to expect, and all raters but the viewer,

    λ = 1 + ΣΛ,    z̄ = (ζ + ΣH)/λ, kept within ζ ± 2½ ΣΛ/λ,    doubt S = 1/λ.

A site is taken from the rater's state before the swipe and from the candidate's tags alone, not from what others said:

    q, t, g as in `probit-traits` with z̄ = ζ and S = 1;    h = max(0, g(g + t)/q),    v̄ the rater's weights of traits
    Λ = h v̄²/(1 − h v̄²),    H = (ζ + y g v̄/√q)(1 + Λ) − ζ
    both are scaled by min(1, L₀/L): L is the larger of what the rater's like and pass would say, |v̄| g(−|t|)/√q, and L₀ the same
    of an account without history that weighs the trait as people do, √(m₀² + P₀)
    where Λ > ⅕, both are scaled by ⅕/Λ (½ where a fit writes the site); then H is clipped to Λ(ζ ± 4)

So sums have no order, taking a site back is exact, |z̄ − ζ| ≤ 2½ ΣΛ/(1 + ΣΛ) whatever raters do, and no history makes an
account louder than a new one. One decision alone often says more than 2½ standard deviations, with little precision: clipping
it there would draw everybody's traits towards ζ, and so the sum is kept within, not the site. A fit has weighed all decisions
together. So its sites may count more, and twenty accounts move less of what a fit knows. Sites are whole numbers in units of
2⁻²⁰. They age like appeal: a site is written larger by 2^(time since a reference/half-life), and sums are read smaller by the
same at the moment of reading.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.moments import microsecond
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.belief.kernels import ALPHA, BEHAVIOUR, answer_likelihood, coordinates, score_moments, trait_variance
from kaczmatch.learners.contract import start_working_cells
from kaczmatch.learners.prior import Prior, expect_traits
from kaczmatch.learners.state import State, feature_rows

UNITS: Final = 2.0**20  # in one
LARGEST_PRECISION: Final = 0.2  # of one site
LARGEST_FITTED: Final = 0.5  # of one that a fit writes
FARTHEST: Final = 2.5  # standard deviations that raters can move a trait
FARTHEST_SITE: Final = 4.0  # that one of them can ask for
LEAST_RANDOM_SHARE: Final = 0.02  # of a rater's swipes, as sites take it
_MOST_HALF_LIVES: Final = 8.0  # after the reference, up to which a site fits 32 bits
_DAY: Final = 86_400.0

Sites = NDArray[np.int32]  # 2K per site: precisions, then shifts
Sums = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateTraits:
    """What raters said of one candidate, summed: a value."""

    sums: Sums

    def __post_init__(self) -> None:
        sums = np.array(self.sums, np.int64)
        if sums.ndim != 1 or not sums.size or sums.size % 2:
            raise InvalidInput("traits", f"must be K precisions and K shifts, got {sums.shape}")
        sums.flags.writeable = False
        object.__setattr__(self, "sums", sums)

    @classmethod
    def unknown(cls, traits: int) -> CandidateTraits:
        """Nobody has said anything."""
        return cls(np.zeros(2 * traits, np.int64))

    def plus(self, site: Sites) -> CandidateTraits:
        """What is known with one decision more."""
        return CandidateTraits(self.sums + site)

    def minus(self, site: Sites) -> CandidateTraits:
        """What is known without that decision."""
        return CandidateTraits(self.sums - site)

    def to_bytes(self) -> bytes:
        """For a store."""
        return self.sums.astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> CandidateTraits:
        """What `to_bytes` wrote."""
        if not isinstance(data, bytes) or not data or len(data) % 16:
            raise InvalidInput("traits", "these bytes are not the traits of a candidate")
        return cls(np.frombuffer(data, "<i8"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CandidateTraits) and np.array_equal(self.sums, other.sums)

    def __hash__(self) -> int:
        return hash(self.to_bytes())


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraitModel:
    """How sites are made and read. `reference` is the moment (microseconds) at which a site has its own size."""

    learner: ProbitTraits
    prior: Prior
    half_life_days: float = 1825.0
    reference: int = 0

    def __post_init__(self) -> None:
        check_number("half_life_days", self.half_life_days, low=0.0, open_low=True)

    @property
    def trait_map(self) -> Matrix:
        """W; zeros before the first fit."""
        known = self.prior.trait_map
        return np.zeros((self.prior.dimensions + 1, self._from_tags)) if known is None else known

    @property
    def _from_tags(self) -> int:
        return self.learner.directions + self.learner.traits

    @property
    def half_life(self) -> float:
        """In microseconds."""
        return self.half_life_days * _DAY * 1e6

    def expected(self, features: Features) -> Matrix:
        """Directions and ζ of each row of features."""
        return self._expected(self._rows(features))

    def _expected(self, rows: Matrix) -> Matrix:
        found, known = np.zeros((len(rows), self._from_tags)), self.prior.grown(rows.shape[1]).trait_map
        if known is not None:
            expect_traits(rows, known, found)
        return found

    def _rows(self, features: Features) -> Matrix:
        if isinstance(features, Mapping):
            return feature_rows(self.prior.features(features, self.prior.dimensions))
        return feature_rows(features)

    def site(self, state: State, features: Features, label: Label, at: datetime | float) -> Sites:
        """What a rater's decision says of the candidate, from the rater's state before it."""
        rows = feature_rows(features, state)
        found = np.empty(2 * self.learner.traits, np.int32)
        size = age_factor(microsecond(at) - self.reference, self.half_life)
        start = start_working_cells(self.learner, self.prior, state.dimensions)
        write_site(
            self.learner.expand(state.cells, state.dimensions),
            start,
            rows[0],
            self._expected(rows)[0],
            sign(label),
            self.learner.parameters,
            size,
            found,
        )
        return found

    def shown(self, features: Features, traits: CandidateTraits, at: datetime | float, *, own: Sites | None = None) -> Vector:
        """A candidate's directions, traits and doubts at a moment, without what the viewer said (`own`), for `ShownCandidate`."""
        rows = self._rows(features)
        return np.asarray(self.shown_many(rows, traits.sums[None], microsecond(at), None if own is None else own[None])[0])

    def shown_many(self, features: Matrix, sums: Sums, at: int, own: Sites | None = None) -> Matrix:
        """The same of many candidates, one usable row each, at one moment in microseconds."""
        found = np.empty((len(features), self.learner.said_width))
        size = age_factor(at - self.reference, self.half_life)
        own_sums = np.zeros_like(sums) if own is None else own.astype(np.int64)
        _read_many(self._expected(features), sums, own_sums, size, found)
        return found


def unfitted_prior(learner: ProbitTraits, dimensions: int) -> Prior:
    """Where people start with traits before any fit: no tag counts, and nothing is known of anybody's traits."""
    start, from_tags = Prior(np.zeros(dimensions), "start", threshold=0.0), learner.directions + learner.traits
    state = learner.start(start)
    return Prior(
        start.weights,
        threshold=0.0,
        version="unfitted",
        covariance=learner.covariance(state),
        traits=learner.mean(state)[-learner.traits :],
        trait_map=np.zeros((dimensions + 1, from_tags)),
    ).with_content_version("unfitted")


@compiled
def age_factor(passed: int, half_life: float) -> float:
    """How much larger a site is written, and how much smaller a sum is read, so long after the reference."""
    return math.pow(2.0, min(max(passed / half_life, -20.0), _MOST_HALF_LIVES))


@compiled
def write_site(
    work: Vector, start: Vector, features: Vector, expected: Vector, label: float, parameters: Vector, size: float, site: Sites
) -> None:
    """Λ and H of one decision, guarded, as whole numbers. `start` are the working cells of an account without history."""
    traits, from_tags = site.shape[0] // 2, expected.shape[0]
    directions = from_tags - traits
    said = np.ones(from_tags + traits)
    said[:from_tags] = expected
    x = coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        site[:] = 0
        return
    score, spread, _ = score_moments(work, x, said, parameters)
    new_score, new_spread, _ = score_moments(start, x, said, parameters)
    random_share = max(work[-BEHAVIOUR], LEAST_RANDOM_SHARE)
    root, new_root = math.sqrt(spread + parameters[ALPHA]), math.sqrt(new_spread + parameters[ALPHA])
    t = label * score / root
    g = answer_likelihood(t, random_share)[1]
    h = max(0.0, g * (g + t)) / (root * root)
    loud = answer_likelihood(-abs(t), random_share)[1] / root
    new_loud = answer_likelihood(-abs(new_score / new_root), LEAST_RANDOM_SHARE)[1] / new_root
    for k in range(traits):
        i = n - traits + k
        weight = work[i]
        usual = math.sqrt(start[i] * start[i] + trait_variance(start, n, i, parameters))
        precision = h * weight * weight / (1.0 - h * weight * weight)
        trait = expected[directions + k]
        shift = (trait + label * g * weight / root) * (1.0 + precision) - trait
        heard = min(1.0, new_loud * usual / max(loud * abs(weight), 1e-300))
        guard_site(heard * precision, heard * shift, LARGEST_PRECISION, trait, size, site, k)


@compiled
def guard_site(precision: float, shift: float, largest: float, expected: float, size: float, site: Sites, k: int) -> None:
    """Both within bounds, then as whole numbers that keep the bound exactly."""
    if precision > largest:
        shift *= largest / precision
        precision = largest
    whole = math.floor(precision * size * UNITS)
    low, high = math.ceil(whole * (expected - FARTHEST_SITE)), math.floor(whole * (expected + FARTHEST_SITE))
    traits = site.shape[0] // 2
    site[k] = int(whole)
    site[traits + k] = int(min(max(np.rint(shift * size * UNITS), low), high))


@compiled
def read_traits(expected: Vector, total: Sums, own: Sums, size: float, said: Vector) -> None:
    """Directions as they are, then traits and doubts from the sums without the viewer's own site."""
    traits, from_tags = total.shape[0] // 2, expected.shape[0]
    directions = from_tags - traits
    said[:directions] = expected[:directions]
    for k in range(traits):
        trait = expected[directions + k]
        precision = 1.0 + (total[k] - own[k]) / (UNITS * size)
        far = FARTHEST * (precision - 1.0) / precision
        moved = (trait + (total[traits + k] - own[traits + k]) / (UNITS * size)) / precision - trait
        said[directions + k] = trait + min(max(moved, -far), far)
        said[from_tags + k] = 1.0 / precision


@compiled
def _read_many(expected: Matrix, total: Sums, own: Sums, size: float, said: Matrix) -> None:
    for i in range(len(said)):
        read_traits(expected[i], total[i], own[i], size, said[i])
