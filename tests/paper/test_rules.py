"""Identities between the paper's rules that hold to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import kaczmatch
from kaczmatch import Hinge, Learner
from kaczmatch.core.compiled import ridge_step
from kaczmatch.core.vectors import unit, unit_rows

D = 12
tags = hnp.arrays(np.float64, (20, D), elements=st.sampled_from([0.0, 1.0]))
hundredths = st.integers(-300, 300).map(lambda n: n / 100)
labels = hnp.arrays(np.int64, 20, elements=st.sampled_from([-1, 1]))
priors = hnp.arrays(np.float64, D, elements=hundredths)


def fold(learner: Learner, rows: Any, ys: Any, prior: Any) -> Any:
    state = learner.start(prior)
    for a, y in zip(rows, ys, strict=True):
        state = learner.swipe(state, a, int(y))
    return learner.end_session(state).cells[:D]


@given(tags, labels, priors, st.sampled_from([0.01, 0.1, 1.0, 9.0]))
def test_block_tk_of_one_is_tk(rows: Any, ys: Any, prior: Any, alpha: float) -> None:
    block = fold(kaczmatch.learner("block-tk", alpha=alpha, k=1), rows, ys, prior)
    assert block == pytest.approx(fold(kaczmatch.learner("tk", alpha=alpha), rows, ys, prior), abs=1e-9)


@given(tags, labels, priors, st.sampled_from([0.01, 1.0, 9.0]))
def test_one_session_of_block_nk_is_block_tk_at_unit_length(rows: Any, ys: Any, prior: Any, alpha: float) -> None:
    tk, nk = (fold(kaczmatch.learner(slug, alpha=alpha), rows, ys, prior) for slug in ("block-tk", "block-nk"))
    assert nk == pytest.approx(unit(tk) if rows.any() else tk, abs=1e-8)


@pytest.mark.parametrize(("alpha", "fraction", "eta"), [(0.01, 0.990, 0.990), (0.1, 0.909, 0.909), (1, 0.5, 0.5), (9, 0.1, 0.1)])
@given(rows=tags, ys=labels, prior=priors)
def test_alpha_table_tk_on_unit_rows_is_gradient_descent(
    alpha: float, fraction: float, eta: float, rows: Any, ys: Any, prior: Any
) -> None:
    """The paper's table of α: reproduced."""
    assert 1 / (1 + alpha) == pytest.approx(fraction, abs=5e-4) == pytest.approx(eta, abs=5e-4)
    rows = unit_rows(rows)
    tk = fold(kaczmatch.learner("tk", alpha=alpha), rows, ys, prior)
    assert tk == pytest.approx(fold(kaczmatch.learner("ogd", eta=1 / (1 + alpha)), rows, ys, prior), abs=1e-9)


@given(tags, labels, priors)
def test_tk_without_damping_is_k_nonorm(rows: Any, ys: Any, prior: Any) -> None:
    tk, plain = (fold(learner, rows, ys, prior) for learner in (kaczmatch.learner("tk", alpha=0), kaczmatch.learner("k-nonorm")))
    assert tk == pytest.approx(plain, abs=1e-12)


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(1, 12)), elements=st.floats(-3, 3).map(lambda x: round(x, 2))
    ),
    st.data(),
)
def test_gram_form_equals_primal_form(a: Any, data: Any) -> None:
    """Aᵀ(AAᵀ + αI)⁻¹ r = (AᵀA + αI)⁻¹ Aᵀ r, whichever of the two is solved."""
    alpha = data.draw(st.sampled_from([0.05, 1.0, 9.0]))
    r = np.random.default_rng(len(a)).normal(size=len(a))
    gram = a.T @ np.linalg.solve(a @ a.T + alpha * np.eye(len(a)), r)
    primal = np.linalg.solve(a.T @ a + alpha * np.eye(a.shape[1]), a.T @ r)
    assert gram == pytest.approx(primal, abs=1e-8)
    assert ridge_step(a, r, alpha) == pytest.approx(gram, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 1e-30, 1e-14, 1e-8])
@pytest.mark.parametrize("k", [2, 5, 12, 40])
def test_collinear_rows_give_least_squares_never_an_exception(alpha: float, k: int) -> None:
    rng = np.random.default_rng(k)
    rows = np.outer(rng.integers(1, 4, k), (rng.random(D) < 0.5).astype(float) + np.eye(D)[0])
    r = rng.normal(size=k)
    expected = np.linalg.lstsq(rows, r, rcond=None)[0]
    assert ridge_step(rows, r, alpha) == pytest.approx(expected, abs=1e-6)


def test_a_block_without_damping_meets_every_margin_it_can() -> None:
    """At α = 0 with independent rows, the projection satisfies all its equations: A·step = r."""
    rng = np.random.default_rng(0)
    rows, r = rng.normal(size=(7, D)), rng.normal(size=7)
    assert rows @ ridge_step(rows, r, 0.0) == pytest.approx(r, abs=1e-10)


@pytest.mark.parametrize("slug", ["tk", "k-nonorm", "ogd", "nk"])
def test_a_swipe_inside_its_margin_changes_nothing(slug: str) -> None:
    learner = kaczmatch.learner(slug)
    state = learner.start(np.full(D, 3.0))
    assert learner.swipe(state, np.ones(D), "like") is not state
    assert learner.swipe(state, np.ones(D), "like") == state  # cosine 1 ≥ θ + δ; NK does not even normalise


@pytest.mark.parametrize("slug", ["block-tk", "block-nk"])
def test_inside_a_block_a_silent_row_still_constrains_the_solve(slug: str) -> None:
    learner = kaczmatch.learner(slug)
    silent, loud = np.r_[np.ones(D - 1), 0.0], np.eye(D)[0]
    alone = fold(learner, [loud], [1], np.ones(D))
    both = fold(learner, [loud, silent], [1, 1], np.ones(D))
    assert Hinge().residual(np.ones(D), silent, "like") == 0.0
    assert not np.allclose(alone, both)


def test_defaults_are_the_papers() -> None:
    assert Hinge() == Hinge(theta=0.52, delta=0.05)
    rules = {slug: kaczmatch.learner(slug) for slug in ("tk", "ogd", "nk", "block-tk", "block-nk")}
    assert rules["tk"] == kaczmatch.learner("tk", alpha=1.0, hinge=Hinge())
    assert rules["ogd"] == kaczmatch.learner("ogd", eta=0.1, direction="raw")
    assert rules["nk"] == kaczmatch.learner("nk", eta=0.5, direction="raw")
    for slug in ("block-tk", "block-nk"):
        assert rules[slug] == kaczmatch.learner(slug, alpha=1.0, k=32)


@pytest.mark.parametrize("label", ["like", "pass"])
@given(score=st.floats(-1, 1))
def test_the_residual_is_the_papers_equation(label: Any, score: float) -> None:
    v, a = np.array([1.0, 0.0]), np.array([score, np.sqrt(1 - score * score)])
    expected = max(0.0, 0.57 - score) if label == "like" else -max(0.0, score - 0.47)
    assert Hinge().residual(v, a, label) == pytest.approx(expected, abs=1e-9)


def test_without_a_preference_every_cosine_is_zero() -> None:
    zero = np.zeros(D)
    assert Hinge().residual(zero, np.ones(D), "like") == pytest.approx(0.57)
    assert Hinge().residual(zero, np.ones(D), "pass") == 0.0
    for slug in ("tk", "k-nonorm", "ogd", "nk", "block-tk", "block-nk"):
        learner = kaczmatch.learner(slug)
        assert not learner.direction(learner.start(zero)).any()
        assert learner.end_session(learner.swipe(learner.start(zero), np.ones(D), "pass")).cells[:D] == pytest.approx(zero)
