"""Where the paper's learners are the old solvers, to rounding, and where they stop being that.

A learner's residual r comes from a hinge on the cosine. Its step is the solver's on the equations whose right side is Av + r: the
target, which depends on v, is what sets the learners apart.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.rules.kaczmarz import BlockTikhonovKaczmarz, TikhonovKaczmarz
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.registry import solver
from worlds.readable_rules import stepped

D = 7
tags = arrays(np.float64, D, elements=st.sampled_from([0.0, 1.0])).filter(np.any)
preferences = arrays(np.float64, D, elements=st.integers(-300, 300).map(lambda hundredths: hundredths / 100.0))
alphas = st.floats(0.01, 50.0)


def one_step(method: Solver, rows: Matrix, b: Vector, v: Vector) -> Vector:
    return method.solve(rows, b, rng=np.random.default_rng(0), start=v, rows=len(rows), every=len(rows), tolerance=0.0).x


@given(v=preferences, a=tags, liked=st.booleans(), alpha=alphas)
@settings(max_examples=100, deadline=None)
def test_a_swipe_of_tk_is_one_damped_row(v: Vector, a: Vector, liked: bool, alpha: float) -> None:
    learner = TikhonovKaczmarz(alpha=alpha)
    label = "like" if liked else "pass"
    swiped = learner.swipe(learner.start(v), a, label)
    target = a @ v + learner.hinge.residual(v, a, label)
    assert swiped.cells == pytest.approx(
        one_step(solver("damped", alpha=alpha), a[None], np.array([target]), v), rel=1e-12, abs=1e-12
    )


@given(v=preferences, labels=st.lists(st.booleans(), min_size=2, max_size=12), alpha=alphas, seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_session_of_block_tk_is_one_regularised_block(v: Vector, labels: list[bool], alpha: float, seed: int) -> None:
    learner = BlockTikhonovKaczmarz(alpha=alpha)
    rows = (np.random.default_rng(seed).random((len(labels), D)) < 0.5).astype(float)
    rows[:, 0] = 1.0  # a candidate without tags is not kept
    words = ["like" if liked else "pass" for liked in labels]
    state = learner.start(v)
    for a, word in zip(rows, words, strict=True):
        state = learner.swipe(state, a, word)
    b = rows @ v + np.array([learner.hinge.residual(v, a, word) for a, word in zip(rows, words, strict=True)])
    expected = one_step(solver("block", size=len(rows), alpha=alpha), rows, b, v)
    assert learner.end_session(state).cells[:D] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_on_a_fixed_target_tk_is_damped_kaczmarz_for_as_long_as_it_runs() -> None:
    rng = np.random.default_rng(1)
    A = (rng.random((40, D)) < 0.5).astype(float)
    A[:, 0] = 1.0
    truth, alpha = rng.normal(size=D), 1.5
    rule, v = TikhonovKaczmarz(alpha=alpha), np.zeros(D)
    for i in alias_table(np.sum(A * A, axis=1)).draw(np.random.default_rng(2), 3000):
        v = stepped(rule, v, A[i], float(A[i] @ (truth - v)))
    found = solver("damped", alpha=alpha).solve(A, A @ truth, rng=np.random.default_rng(2), rows=3000, every=3000, tolerance=0.0)
    assert v == pytest.approx(found.x, abs=1e-12)
    assert v == pytest.approx(truth, abs=1e-6)  # and α, however large, only slowed it down


def test_the_hinge_moves_the_target_with_v() -> None:
    learner, a = TikhonovKaczmarz(), np.array([1.0, 1.0, 0.0])
    targets = []
    v = np.array([0.1, 0.0, 1.0])
    for _ in range(3):
        targets.append(a @ v + learner.hinge.residual(v, a, "like"))
        v = learner.swipe(learner.start(v), a, "like").cells
    assert len(set(np.round(targets, 3))) == 3  # the same swipe again is another equation: there is no Ax = b behind a log
