"""The paper's mathematical claims, each with its verdict. Numbers in names are those of docs/paper.md."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kaczmatch
from kaczmatch import Hinge
from kaczmatch.learners.rules.kaczmarz import tikhonov_step_bound

# With θ + δ = 1, a like on a candidate orthogonal to v has the residual r = 1 that Proposition 1 assumes.
UNIT_RESIDUAL = Hinge(theta=0.95, delta=0.05)


class TestClaim1InfluenceDecaysAsEtaToTheN:
    """Proposition 1: the prior's weight after n normalised steps with |r| = 1 is at most ηⁿ. False for every η."""

    @given(st.floats(0.01, 0.99))
    def test_one_step_can_raise_the_priors_weight(self, eta: float) -> None:
        """â = v⁰ and r = -1: ṽ = (1 - η) v⁰, so v⁰ enters the result with weight 1/(1 - η) > 1 > η."""
        nk = kaczmatch.learner("nk", eta=eta, direction="unit", hinge=Hinge(theta=0.0, delta=0.0))
        v0 = np.eye(3)[0]
        after = nk.swipe(nk.start(v0), v0, "pass")
        assert Hinge(theta=0.0, delta=0.0).residual(v0, v0, "pass") == -1.0
        assert after.cells == pytest.approx(v0)
        assert 1.0 / np.linalg.norm(v0 - eta * v0) == pytest.approx(1 / (1 - eta))
        assert 1 / (1 - eta) > 1.0 > eta

    @pytest.mark.parametrize("eta", [0.1, 0.5, 0.78, 0.8, 0.95])
    def test_orthogonal_candidates_leave_one_over_root_one_plus_eta_squared_a_step(self, eta: float) -> None:
        """The proof's own "worst case". It exceeds ηⁿ wherever η²(1 + η²) < 1, that is up to η = 0.786."""
        n = 20
        nk = kaczmatch.learner("nk", eta=eta, direction="unit", hinge=UNIT_RESIDUAL)
        log = {"user": np.zeros(n, int), "features": np.eye(n + 1)[1:], "label": np.ones(n, int)}
        measured = kaczmatch.influence(nk, log, prior=np.eye(n + 1)[0]).prior_cosine
        assert measured == pytest.approx((1 + eta**2) ** (-n / 2), rel=1e-12)
        assert (measured > eta**n) is (eta < 0.786)

    def test_the_papers_example_is_a_tenth_not_a_millionth(self) -> None:
        n = 20
        nk = kaczmatch.learner("nk", eta=0.5, direction="unit", hinge=UNIT_RESIDUAL)
        log = {"user": np.zeros(n, int), "features": np.eye(n + 1)[1:], "label": np.ones(n, int)}
        assert kaczmatch.influence(nk, log, prior=np.eye(n + 1)[0]).prior_cosine == pytest.approx(0.107, abs=5e-4)
        assert 0.5**n < 1e-6


class TestClaim2NormBound:
    """Proposition 2: ‖v‖ grows by at most R/(1 + α). False for 0/1 tags when α > √2, for real values at every α ≠ 1."""

    def test_nine_tags_at_alpha_nine_step_further_than_the_bound(self) -> None:
        tk = kaczmatch.learner("tk", alpha=9.0, hinge=UNIT_RESIDUAL)
        state = tk.swipe(tk.start(np.zeros(9)), np.ones(9), "like")  # v⁰ = 0, so r = 1
        assert np.linalg.norm(state.cells) == pytest.approx(1 / 6)
        assert 1 / 6 > 1 / (1 + 9)

    @given(st.floats(0.0, 100.0), st.integers(1, 200))
    def test_for_tags_it_holds_exactly_up_to_the_square_root_of_two(self, alpha: float, m: int) -> None:
        longest = tikhonov_step_bound(alpha, 200)
        assert math.sqrt(m) / (m + alpha) <= longest * (1 + 1e-12)
        assert (longest <= 1 / (1 + alpha) * (1 + 1e-12)) is (alpha <= math.sqrt(2) + 1e-12)

    @given(st.floats(0.01, 100.0).filter(lambda alpha: abs(alpha - 1) > 1e-3))
    def test_for_real_values_it_fails_at_every_alpha_but_one(self, alpha: float) -> None:
        tk = kaczmatch.learner("tk", alpha=alpha, hinge=UNIT_RESIDUAL)
        a = np.full(4, math.sqrt(alpha) / 2)  # ‖a‖ = √α
        step = float(np.linalg.norm(tk.swipe(tk.start(np.zeros(4)), a, "like").cells))
        assert step == pytest.approx(1 / (2 * math.sqrt(alpha))) == pytest.approx(tikhonov_step_bound(alpha))
        assert step > 1 / (1 + alpha)

    @given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
    def test_the_true_bound_is_one_over_two_root_alpha(self, alpha: float, length: float) -> None:
        assert length / (length**2 + alpha) <= tikhonov_step_bound(alpha) * (1 + 1e-12)

    @given(st.floats(1e-3, 1e3), st.integers(1, 300))
    def test_the_bound_for_tags_is_the_largest_over_all_tag_counts(self, alpha: float, tags: int) -> None:
        by_hand = max(math.sqrt(m) / (m + alpha) for m in range(1, tags + 1))
        assert tikhonov_step_bound(alpha, tags) == pytest.approx(by_hand, rel=1e-12)


class TestClaim6BothWayScore:
    """√(forward · backward) as printed: undefined for mixed signs, and two dislikes look like a match."""

    def test_two_dislikes_score_as_well_as_two_likes(self) -> None:
        assert math.sqrt(-0.5 * -0.5) == math.sqrt(0.5 * 0.5) == 0.5

    def test_mixed_signs_have_no_score(self) -> None:
        with np.errstate(invalid="ignore"):
            assert math.isnan(np.sqrt(np.float64(0.5) * -0.1))

    def test_both_cases_arise_from_learned_preferences(self) -> None:
        """A preference over 0/1 tags takes negative cosines as soon as passes outweigh the prior."""
        ogd = kaczmatch.learner("ogd", eta=1.0, hinge=Hinge(theta=-0.3))
        state = ogd.start(np.ones(8))
        for _ in range(20):
            state = ogd.swipe(state, np.ones(8), "pass")
        assert ogd.score(state, np.ones(8)) < 0.0


class TestClaim7GramEigenvalues:
    """ "The eigenvalues of AAᵀ range from 0 to k": true for unit rows, not for the raw rows the paper uses."""

    def test_raw_rows_have_a_top_eigenvalue_near_15_k(self) -> None:
        rng = np.random.default_rng(0)
        for k in (8, 16, 32):
            top = np.mean([np.linalg.eigvalsh(a @ a.T)[-1] for a in (rng.random((100, k, 60)) < 0.5).astype(float)])
            assert 14 * k < top < 20 * k

    def test_unit_rows_stay_within_k(self) -> None:
        rng = np.random.default_rng(1)
        a = rng.normal(size=(32, 60))
        a /= np.linalg.norm(a, axis=1, keepdims=True)
        assert np.linalg.eigvalsh(a @ a.T)[-1] <= 32


class TestClaim8TheStepIsPassiveAggressive:
    """TK's step is PA-II's with α = 1/(2C): the same direction and denominator, another loss."""

    @given(st.integers(0, 2**32 - 1), st.floats(0.05, 20.0))
    def test_per_unit_of_loss_the_steps_are_equal(self, seed: int, alpha: float) -> None:
        rng = np.random.default_rng(seed)
        v, a = rng.normal(size=10), (rng.random(10) < 0.5).astype(float) + 0.01
        tk = kaczmatch.learner("tk", alpha=alpha)
        pa = kaczmatch.learner("pa-ii", c=1 / (2 * alpha))
        residual = Hinge().residual(v, a, "like")
        loss = max(0.0, 1.0 - float(v @ a))
        tk_step = tk.swipe(tk.start(v), a, "like").cells - v
        pa_step = pa.swipe(pa.start(v), a, "like").cells - v
        assert tk_step * loss == pytest.approx(pa_step * residual, abs=1e-9)
