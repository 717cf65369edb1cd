"""Fits `probit-traits` to a population: where users start, what tags say of traits, and what these users' swipes say of them.

Variational EM for the probit model of `learners/belief/probit_traits.py`. Every user's taste is normal given the candidates'
traits, every candidate's traits are normal given the users' tastes, and a decision's latent value has the mean l = μ + y g(μ).

    user:       C⁻¹ = P₀⁻¹ + Σ (φφᵀ + ½ S),    C⁻¹ M = P₀⁻¹ m₀ + Σ φ l
    candidate:  Λ_k = M_k² + C_kk,    H_k = (l − w·x̃ − c) M_k − C_k,(w,c)·(x̃, 1) − Σ_{j≠k} (M_k M_j + C_kj) z̄_j

and z̄ = (ζ + ΣH)/(1 + ΣΛ). Then m₀ is the mean of the M, P₀ the mean of the C plus that of (M − m₀)(M − m₀)ᵀ, and W the
regression of z̄ on tags, with the most likely ridge (MacKay 1992). What everybody thinks of a tag could be said by W and by m₀.
With few people W says it: two hundred neutral ones, who weigh no tag, are counted into m₀. The last round writes the sites, so
that fitted traits too are an expectation and a sum over raters. Tags are centred at their mean, so that weights of tags and
threshold are nearly independent.

Directions of tags in which tastes go together are factors of the correlations that `fit_prior` finds, ψ + UUᵀ. They are split
off the variances of tags at the end, so that a taste varies as much as before, and no swipe tells them: they follow from tags.

P₀ comes out too small, because EM takes each posterior for independent of the others. So it is widened, for tags and for the
rest: as much as makes the swipes of the same people most likely, predicted one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import iadd
from typing import Final, NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from scipy.special import ndtri

from kaczmatch.core.compiled import compiled
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Integers, Matrix, Vector, unit_rows
from kaczmatch.learners.belief.gaussian import Probit, ProbitTraits
from kaczmatch.learners.belief.kernels import answer_likelihood
from kaczmatch.learners.logs.replay import progressive_predictions
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.traits import LARGEST_FITTED, LEAST_RANDOM_SHARE, TraitModel, guard_site
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

ROUNDS: Final = 20  # and no more: P₀ shrinks with rounds
_WIDER: Final = (1.0, 1.5, 2.2, 3.3, 5.0, 7.5, 11.0)  # P₀, at the end
FIT_STEPS: Final = ROUNDS + 2 * len(_WIDER)  # how often a fit says that it has advanced
_HISTORY: Final = 10.0  # swipes at which a user counts half
_NEUTRAL: Final = 200.0  # people without a liking for any tag beyond W, who are counted in
_INNER: Final = 3  # steps of a user's mean in a round
_DOUBT: Final = 0.5  # the share of S that users hear
_AXES_ROUNDS: Final = 20
_LEAST_REST: Final = 0.02  # of a tag's variance, which its own weight keeps
# Parts follow from the log alone, and so results do not depend on the number of workers.
_USERS: Final = 128
_CANDIDATES: Final = 4_096

Advance = Callable[[], None]
R = TypeVar("R")


class TraitFit(NamedTuple):
    """What was fitted."""

    prior: Prior
    sites: SiteLog  # of the fitted users, by their numbers, at the time of each swipe


def fit_traits(
    learner: ProbitTraits,
    log: SwipeLog,
    user: Integers,
    *,
    seed: int,
    advance: Advance,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> TraitFit:
    """The population of a log; `user` has the number of each row's user. Deterministic for a seed, on any number of workers."""
    fit = _Fit(learner, log, user, seed, runner)
    for _ in range(ROUNDS):
        fit.hear_users()
        fit.hear_candidates()
        fit.update_population()
        advance()
    sites = fit.site_log()
    return TraitFit(_most_likely(fit, sites, advance), sites)


class _Width(NamedTuple):
    """How much wider P₀ is made."""

    tags: float = _WIDER[0]
    rest: float = _WIDER[0]


def _most_likely(fit: _Fit, sites: SiteLog, advance: Advance) -> Prior:
    """The prior under which the fitted people's own swipes are most likely, with traits as the others' sites tell them."""
    log, together, best = fit.log, fit.directions(), _Width()
    model = TraitModel(learner=fit.learner, prior=fit.prior(best, together), half_life_days=math.inf)
    after: Integers = np.full(len(log), np.iinfo(np.int64).max)
    seen = log.with_others(
        sites.traits_at(model, model.expected(log.features), viewer=fit.user, candidate=fit.candidate, at=after)
    )

    def loss(width: _Width) -> float:
        p = progressive_predictions(fit.learner, seen, prior=fit.prior(width, together))
        advance()
        return float(-np.log(np.clip(np.where(log.label > 0.0, p, 1.0 - p), 1e-9, 1.0)).sum())

    best = min((_Width(each, best.rest) for each in _WIDER), key=loss)
    return fit.prior(min((_Width(best.tags, each) for each in _WIDER), key=loss), together)


@final
@dataclass(eq=False)
class _Fit:
    """The posteriors of users and candidates, and the population."""

    learner: ProbitTraits
    log: SwipeLog
    user: Integers
    seed: int
    runner: Runner
    rows_of: list[Integers] = field(init=False)

    def __post_init__(self) -> None:
        log, k = self.log, self.learner.traits
        self.label = log.label
        self.candidate = np.arange(len(log)) if log.candidate_row is None else log.candidate_row
        order = np.argsort(self.user, kind="stable")
        numbers, begin = np.unique(self.user[order], return_index=True)
        self.numbers = numbers
        self.rows_of = np.split(order, begin[1:])
        self.users = len(numbers)
        swipes = np.array([len(rows) for rows in self.rows_of], np.float64)
        self.counts = swipes / (swipes + _HISTORY)
        self.place = np.searchsorted(numbers, self.user)
        self.seen = np.bincount(self.candidate, minlength=len(log.features)) > 0
        tags = unit_rows(log.features)
        self.centre = float(tags[self.seen].mean())
        self.x = np.hstack([tags - self.centre, np.ones((len(tags), 1))])
        self.z, self.doubt = self._first_traits(k), np.full((len(self.x), k), 0.1)
        d = log.dimensions
        self.n = d + 1 + k
        self.m0 = np.zeros(self.n)
        self.m0[d] = ndtri(np.clip(np.mean(self.label > 0), 0.02, 0.98))
        self.m0[d + 1] = 0.5
        self.p0 = np.diag(np.r_[np.full(d, 0.5), 0.5, np.full(k, 0.25)])
        self.trait_map, self.ridge = np.zeros((d + 1, k)), np.full(k, 10.0)
        self.means = np.tile(self.m0, (self.users, 1))
        self.covariances = np.zeros((self.users, self.n, self.n))

    def directions(self) -> tuple[Matrix, Vector]:
        """In which tastes over tags go together, as many as the learner has, or as there are tags."""
        d, many = self.log.dimensions, min(self.learner.directions, self.log.dimensions)
        covariance = np.eye(d)
        if many:
            covariance = np.asarray(fit_prior(Probit(), self.log, neutral=np.zeros(d)).covariance)[:d, :d]
        sd = np.sqrt(np.diag(covariance))
        return taste_directions(covariance / np.outer(sd, sd), many)

    def _first_traits(self, k: int) -> Matrix:
        """The candidates' mean residual, then the leading directions of what is left, each with variance 1."""
        liked = (self.label > 0).astype(np.float64)
        n = np.bincount(self.place, minlength=self.users)
        rate = (np.bincount(self.place, liked, self.users) + 1.0) / (n + 2.0)
        residual = liked - rate[self.place]
        seen = np.bincount(self.candidate, minlength=len(self.x))
        mean = np.bincount(self.candidate, residual, len(self.x)) / (seen + 3.0)
        z = np.zeros((len(self.x), k))
        z[:, 0] = mean
        if k > 1:
            left = residual - mean[self.candidate]
            matrix = csr_array((left, (self.place, self.candidate)), shape=(self.users, len(self.x)))
            few = min(k - 1, min(matrix.shape) - 1)
            if few > 0:
                rng = np.random.default_rng([self.seed, 40])
                _, _, right = svds(matrix, k=few, v0=rng.standard_normal(min(matrix.shape)))
                z[:, 1 : 1 + few] = right[::-1].T * signs(right[::-1].T)
        scale = np.sqrt(np.mean(z[self.candidate] ** 2, axis=0))
        return z / np.where(scale > 0.0, scale, 1.0)

    def _of_all_users(self, function: Callable[[int], R]) -> list[R]:
        parts = [range(first, min(first + _USERS, self.users)) for first in range(0, self.users, _USERS)]
        return self.runner.fold(lambda part: [function(place) for place in part], parts, iadd, [])

    def hear_users(self) -> None:
        """Every user's M and C, given the candidates and the mean of the round before."""
        k, inverse = self.learner.traits, np.linalg.inv(self.p0)
        pull = inverse @ self.m0

        def posterior(place: int) -> tuple[Vector, Matrix]:
            one, y, m = self.candidate[self.rows_of[place]], self.label[self.rows_of[place]], self.means[place]
            phi = np.hstack([self.x[one], self.z[one]])
            precision = inverse + phi.T @ phi
            precision[range(-k, 0), range(-k, 0)] += _DOUBT * self.doubt[one].sum(axis=0)
            covariance = np.linalg.inv(precision)
            for _ in range(_INNER):
                mu = phi @ m
                m = covariance @ (pull + phi.T @ (mu + y * _slope(y * mu)))
            return m, np.asarray(covariance, np.float64)

        for place, (mean, covariance) in enumerate(self._of_all_users(posterior)):
            self.means[place], self.covariances[place] = mean, covariance

    def _evidence(self) -> tuple[Matrix, NDArray[np.float64]]:
        """Of each row (l − w·x̃ − c) M − C·(x̃, 1), and of each user MMᵀ + C over traits."""
        k = self.learner.traits
        found = np.empty((len(self.label), k))

        def evidence(place: int) -> Matrix:
            one, y, m = self.candidate[self.rows_of[place]], self.label[self.rows_of[place]], self.means[place]
            base = self.x[one] @ m[:-k]
            mu = base + self.z[one] @ m[-k:]
            latent = mu + y * _slope(y * mu)
            return np.asarray((latent - base)[:, None] * m[-k:] - self.x[one] @ self.covariances[place, :-k, -k:])

        for rows, said in zip(self.rows_of, self._of_all_users(evidence), strict=True):
            found[rows] = said
        v = self.means[:, -k:]
        return found, v[:, :, None] * v[:, None, :] + self.covariances[:, -k:, -k:]

    def hear_candidates(self) -> None:
        """Every candidate's posterior, given the users'."""
        k, many = self.learner.traits, len(self.x)
        evidence, second = self._evidence()
        ones = csr_array((np.ones(len(self.label)), (self.candidate, self.place)), shape=(many, self.users))
        sums = np.stack([np.bincount(self.candidate, evidence[:, each], many) for each in range(k)], axis=1)
        raters = second.reshape(self.users, -1)

        def heard(first: int) -> list[tuple[Matrix, Matrix]]:
            part = slice(first, first + _CANDIDATES)
            squares, pull = np.asarray(ones[part] @ raters).reshape(-1, k, k), self.x[part] @ self.trait_map + sums[part]
            z = np.linalg.solve(squares + np.eye(k), pull[:, :, None])[:, :, 0]
            return [(np.asarray(z, np.float64), 1.0 / (1.0 + np.diagonal(squares, axis1=1, axis2=2)))]

        parts = self.runner.fold(heard, range(0, many, _CANDIDATES), iadd, list[tuple[Matrix, Matrix]]())
        self.z, self.doubt = (np.concatenate(one) for one in zip(*parts, strict=True))

    def update_population(self) -> None:
        share, d = self.counts / self.counts.sum(), self.log.dimensions
        self.m0 = share @ self.means
        self.m0[:d] *= self.counts.sum() / (self.counts.sum() + _NEUTRAL)
        apart = self.means - self.m0
        p0 = np.einsum("u,uij->ij", share, self.covariances) + (apart * share[:, None]).T @ apart
        self.p0 = self._structured(p0)
        x, doubt = self.x[self.seen], self.doubt[self.seen]
        said = self.z[self.seen] - doubt * (x @ self.trait_map)  # by raters alone, times 1 − S
        for k in range(self.learner.traits):
            spread = np.linalg.inv((x * (1.0 - doubt[:, k, None])).T @ x + self.ridge[k] * np.eye(d + 1))
            self.trait_map[:, k] = spread @ (x.T @ said[:, k])
            self.ridge[k] = (d + 1) / (np.sum(self.trait_map[:, k] ** 2) + np.trace(spread))

    def _structured(self, p0: Matrix) -> Matrix:
        """As the learner keeps it: without covariances of tags unless it is `full`."""
        symmetric, d = (p0 + p0.T) / 2.0, self.log.dimensions
        if self.learner.full:
            return symmetric
        kept = np.diag(np.diag(symmetric))
        kept[d:, d:] = symmetric[d:, d:]
        return kept

    def prior(self, width: _Width, together: tuple[Matrix, Vector]) -> Prior:
        """(w, c', v) as fitted, wider, with directions of tags between, and c = c' − centre Σ w."""
        (loadings, alone), d, directions = together, self.log.dimensions, self.learner.directions
        wider = np.sqrt(np.r_[np.full(d, width.tags), np.full(1 + self.learner.traits, width.rest)])
        fitted = np.r_[: d + 1, d + 1 + directions : self.n + directions]
        mean, covariance = np.zeros(self.n + directions), np.eye(self.n + directions) * width.tags
        mean[fitted], covariance[np.ix_(fitted, fitted)] = self.m0, self.p0 * np.outer(wider, wider)
        covariance[range(d), range(d)] *= alone
        mapped = np.zeros((d + 1, directions + self.learner.traits))
        mapped[:d, : loadings.shape[1]] = np.sqrt(np.diag(self.p0)[:d, None]) * loadings
        mapped[:, directions:] = self.trait_map
        mapped[d] -= self.centre * mapped[:d].sum(axis=0)
        apart = np.eye(len(mean))
        apart[d, :d] = -self.centre
        mean, covariance = apart @ mean, apart @ covariance @ apart.T
        return Prior(
            mean[:d],
            "population",
            float(mean[d]),
            covariance=(covariance + covariance.T) / 2.0,
            label_noise=self.learner.label_noise,
            traits=mean[d + 1 + directions :],
            trait_map=mapped,
        ).with_content_version("population")

    def site_log(self) -> SiteLog:
        """Every rater's site on the fitted traits, from the last decision about each candidate."""
        evidence, second = self._evidence()
        across = second[self.place]
        diagonal = np.diagonal(across, axis1=1, axis2=2)
        z = self.z[self.candidate]
        shift = evidence - np.einsum("nij,nj->ni", across, z) + diagonal * z
        sites = np.zeros((len(self.label), 2 * self.learner.traits), np.int32)
        _guard_rows(np.ascontiguousarray(diagonal), shift, np.ascontiguousarray(self.x @ self.trait_map), self.candidate, sites)
        _, backwards = np.unique((self.place * len(self.x) + self.candidate)[::-1], return_index=True)
        last = np.sort(len(self.label) - 1 - backwards)
        at = np.zeros(len(last), np.int64) if self.log.at is None else self.log.at[last]
        return SiteLog(self.user[last].astype(np.int64), self.candidate[last].astype(np.int64), at, sites[last])


@compiled
def _guard_rows(precision: Matrix, shift: Matrix, expected: Matrix, candidate: Integers, sites: NDArray[np.int32]) -> None:
    for i in range(precision.shape[0]):
        for k in range(precision.shape[1]):
            guard_site(precision[i, k], shift[i, k], LARGEST_FITTED, expected[candidate[i], k], 1.0, sites[i], k)


@compiled
def _slope(t: Vector) -> Vector:
    """g of each answer, with the share of coin tosses that sites expect."""
    found = np.empty(len(t))
    for i in range(len(t)):
        found[i] = answer_likelihood(t[i], LEAST_RANDOM_SHARE)[1]
    return found


def taste_directions(correlations: Matrix, many: int) -> tuple[Matrix, Vector]:
    """So many factors of the correlations of tastes over tags, R = UUᵀ + ψ, by principal axes: U and ψ."""
    rest = 1.0 / np.diag(np.linalg.inv(correlations))
    loadings = np.zeros((len(correlations), many))
    for _ in range(_AXES_ROUNDS if many else 0):
        size, axes = np.linalg.eigh(correlations - np.diag(rest))
        loadings = (axes * np.sqrt(np.maximum(size, 0.0)))[:, : -1 - many : -1]
        rest = np.maximum(1.0 - np.sum(loadings**2, axis=1), _LEAST_REST)
    return loadings * signs(loadings), rest if many else np.ones(len(rest))


def signs(columns: Matrix) -> Vector:
    """By which the largest entry of each column becomes positive: a direction and its opposite are one."""
    return np.asarray(np.sign(columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])]), np.float64)
