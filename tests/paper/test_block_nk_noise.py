"""Every step of the proof in docs/block-nk-noise.md, on random instances, under the numbers that it has there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import kaczmatch
from block_nk_noise import ALWAYS, bound, directions, mean_cosine, settled, simulated

Array = NDArray[np.float64]
ROUNDING = 1e-9

seeds = st.integers(0, 10**6)
sizes = st.integers(1, 12)
dimensions = st.integers(2, 12)
alphas = st.floats(0.05, 300.0)
noises = st.floats(0.0, 0.45)


def unit_rows(rng: np.random.Generator, k: int, d: int) -> Array:
    rows: Array = directions(rng, 1, k, d)[0][0]
    return rows


def stepped(rows: Array, y: Array, v: Array, alpha: float) -> Array:
    """v + Aᵀ(AAᵀ + αI)⁻¹(y − Av)."""
    return v + rows.T @ np.linalg.solve(rows @ rows.T + alpha * np.eye(len(rows)), y - rows @ v)


class Block:
    """One block's rows and what the proof makes of them: P, H and the eigenvalues x of AAᵀ."""

    def __init__(self, rng: np.random.Generator, k: int, d: int, alpha: float) -> None:
        self.rows = unit_rows(rng, k, d)
        self.gram = self.rows @ self.rows.T
        self.solver = self.rows.T @ np.linalg.inv(self.gram + alpha * np.eye(k))  # Aᵀ G⁻¹
        self.share = self.solver @ self.rows  # P
        self.noise = self.solver.T @ self.solver  # H
        self.eigenvalues = np.clip(np.linalg.eigvalsh(self.gram), 0.0, None)


class TestTheRule:
    @given(seeds, sizes, dimensions, st.floats(0.1, 100.0))
    @settings(max_examples=30)
    def test_the_learner_takes_the_step_that_is_analysed(self, seed: int, k: int, d: int, alpha: float) -> None:
        """With θ = 0 and δ = 1 the hinge has no dead zone: r = y − cos."""
        rng = np.random.default_rng(seed)
        rows, v, y = unit_rows(rng, k, d), unit_rows(rng, 1, d)[0], rng.choice([-1.0, 1.0], k)
        u = stepped(rows, y, v, alpha)
        assume(np.linalg.norm(u) > 1e-3)
        learner = kaczmatch.learner("block-nk", k=k, alpha=alpha, hinge=ALWAYS)
        state = learner.start(v)
        for row, said in zip(rows, y, strict=True):
            state = learner.swipe(state, row, "like" if said > 0 else "pass")
        assert learner.direction(state) == pytest.approx(u / np.linalg.norm(u), abs=1e-7)


class TestNormalisation:
    @given(seeds, dimensions, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
    def test_1_the_cosine_is_at_least_a_product(self, seed: int, d: int, size: float, scale: float) -> None:
        """(X/Y)₊ ≥ X(3 − Y²/λ²)/(2λ), where X ≥ 0 or Y² ≤ 3λ²."""
        rng = np.random.default_rng(seed)
        u, w, longest = math.exp(size) * unit_rows(rng, 1, d)[0], unit_rows(rng, 1, d)[0], math.exp(scale)
        x, y = float(u @ w), float(np.linalg.norm(u))
        assume(x >= 0.0 or y**2 <= 3.0 * longest**2)
        assert max(0.0, x / y) >= x * (3.0 - (y / longest) ** 2) / (2.0 * longest) - ROUNDING

    @given(seeds, sizes, dimensions, alphas)
    def test_2_a_step_is_no_longer_than_r(self, seed: int, k: int, d: int, alpha: float) -> None:
        rng = np.random.default_rng(seed)
        rows, v, y = unit_rows(rng, k, d), unit_rows(rng, 1, d)[0], rng.choice([-1.0, 1.0], k)
        assert np.linalg.norm(stepped(rows, y, v, alpha)) <= 1.0 + 0.5 * math.sqrt(k / alpha) + ROUNDING


class TestMeanAndLength:
    @given(st.floats(0.0, math.pi), dimensions)
    def test_3_signs_of_a_uniform_direction(self, angle: float, d: int) -> None:
        """E⟨w, a⟩ sgn⟨w, b⟩ = m⟨a, b⟩ and E sgn⟨w, a⟩ sgn⟨w, b⟩ = (2/π) arcsin⟨a, b⟩, integrated over w's angle in the plane."""
        turn = (np.arange(20_000) + 0.5) / 20_000 * 2.0 * math.pi
        towards, sign = np.cos(turn - angle), np.sign(np.cos(turn))
        radius = mean_cosine(d) / (2.0 / math.pi)  # the mean length of w's shadow on the plane, as E|⟨w, a⟩| = m
        assert radius * np.mean(towards * sign) == pytest.approx(mean_cosine(d) * math.cos(angle), abs=1e-3)
        assert np.mean(np.sign(towards) * sign) == pytest.approx(2.0 / math.pi * math.asin(math.cos(angle)), abs=1e-3)

    @pytest.mark.parametrize("d", [2, 3, 10, 60])
    def test_the_mean_cosine(self, d: int) -> None:
        """In the plane 2/π, in space 1/2 (Archimedes), and never below √(2/(πd))."""
        known = {2: 2.0 / math.pi, 3: 0.5}
        assert mean_cosine(d) == pytest.approx(known.get(d, mean_cosine(d)))
        assert math.sqrt(2.0 / (math.pi * d)) <= mean_cosine(d) <= 1.0 / math.sqrt(d)
        drawn = np.abs(directions(np.random.default_rng(d), 1, 40_000, d)[1])
        assert drawn.mean() == pytest.approx(mean_cosine(d), abs=5.0 * drawn.std() / 200.0)

    @given(seeds, sizes, dimensions, alphas)
    def test_4_traces(self, seed: int, k: int, d: int, alpha: float) -> None:
        one = Block(np.random.default_rng(seed), k, d, alpha)
        squares = float(np.sum(one.gram**2))
        spectrum = one.eigenvalues
        assert np.trace(one.share) == pytest.approx(np.sum(spectrum / (spectrum + alpha)), abs=1e-7)
        assert np.trace(one.share @ one.share) == pytest.approx(np.trace(one.share) - alpha * np.trace(one.noise), abs=1e-7)
        assert np.trace(one.noise @ one.gram) == pytest.approx(np.trace(one.share @ one.share), abs=1e-7)
        assert np.trace(one.share) <= k / (1.0 + alpha) + ROUNDING
        crowds = np.sum(one.gram**2, axis=1) - 1.0  # Σ ⟨aᵢ, aⱼ⟩² over the others
        assert np.trace(one.share) >= np.sum(1.0 / (1.0 + alpha + crowds)) - ROUNDING
        assert np.trace(one.share @ one.share) <= squares / alpha**2 + ROUNDING
        assert np.linalg.norm(one.noise) <= math.sqrt(squares) / alpha**2 + ROUNDING

    @given(seeds, sizes, dimensions, st.floats(1.0, 30.0))
    def test_5_fresh_noise(self, seed: int, k: int, d: int, ratio: float) -> None:
        """tr H ≤ tr P/(1 + α) where α ≥ √k."""
        alpha = ratio * math.sqrt(k)
        one = Block(np.random.default_rng(seed), k, d, alpha)
        assert one.eigenvalues.max() <= alpha**2 + ROUNDING
        assert np.trace(one.noise) <= np.trace(one.share) / (1.0 + alpha) + ROUNDING

    @given(st.floats(0.0, 50.0), st.floats(0.01, 50.0))
    def test_5_the_identity_behind_it(self, x: float, alpha: float) -> None:
        difference = x / (x + alpha) ** 2 - 1.0 / (1.0 + alpha) ** 2
        assert difference == pytest.approx((x - 1.0) * (alpha**2 - x) / ((x + alpha) * (1.0 + alpha)) ** 2, abs=1e-9)

    @given(st.floats(-1.0, 1.0))
    def test_6_arcsin(self, t: float) -> None:
        assert abs(math.asin(t) - t) <= (math.pi / 2.0 - 1.0) * abs(t) ** 3 + ROUNDING

    @pytest.mark.parametrize(
        ("k", "alpha", "d", "p", "c"), [(1, 1.0, 3, 0.1, 0.5), (5, 3.0, 8, 0.2, -0.3), (12, 4.0, 6, 0.3, 0.9)]
    )
    def test_7_the_mean_and_the_squared_length_of_a_step(self, k: int, alpha: float, d: int, p: float, c: float) -> None:
        """E⟨u, w⟩ = (1 − φ)c + qmdφ, and E‖u‖², both against drawn blocks; φ, h and N are drawn apart."""
        rng, blocks = np.random.default_rng([k, d]), 4_000
        q, m = 1.0 - 2.0 * p, mean_cosine(d)
        others = [Block(rng, k, d, alpha) for _ in range(blocks)]
        phi = np.mean([np.trace(one.share) for one in others]) / d
        h = np.mean([np.trace(one.noise) for one in others])
        spread = [np.sum(one.noise * 2.0 / math.pi * np.arcsin(np.clip(one.gram, -1.0, 1.0))) for one in others]
        fresh = q**2 * np.mean(spread) + (1.0 - q**2) * h
        along, squared = steps(rng, k, d, alpha, p, c, blocks)
        assert along.mean() == pytest.approx((1.0 - phi) * c + q * m * d * phi, abs=5.0 * along.std() / math.sqrt(blocks))
        expected = 1.0 - phi - alpha * h / d + 2.0 * q * m * alpha * h * c + fresh
        assert squared.mean() == pytest.approx(expected, abs=6.0 * squared.std() / math.sqrt(blocks))


def steps(rng: np.random.Generator, k: int, d: int, alpha: float, p: float, c: float, blocks: int) -> tuple[Array, Array]:
    """X = ⟨u, w⟩ and Y² = ‖u‖² of many blocks, from a direction with cosine c; w is the first axis."""
    rows, liking = directions(rng, blocks, k, d)
    y = np.where((liking > 0.0) ^ (rng.random(liking.shape) < p), 1.0, -1.0)
    v = np.zeros(d)
    v[0], v[1] = c, math.sqrt(1.0 - c * c)
    gram = rows @ rows.transpose(0, 2, 1) + alpha * np.eye(k)
    u = v + np.einsum("nkd,nk->nd", rows, np.linalg.solve(gram, (y - rows @ v)[..., None])[..., 0])
    return u[:, 0], np.einsum("nd,nd->n", u, u)


class TestVariances:
    @given(seeds, sizes, dimensions, alphas)
    def test_8_a_step_with_one_row_more(self, seed: int, k: int, d: int, alpha: float) -> None:
        """u = u₋ + ρBa with ρ = (y − ⟨a, u₋⟩)/(1 + ⟨a, Ba⟩), and ‖B‖ ≤ 1/α."""
        rng = np.random.default_rng(seed)
        rows, v, y = unit_rows(rng, k, d), unit_rows(rng, 1, d)[0], rng.choice([-1.0, 1.0], k)
        without = stepped(rows[1:], y[1:], v, alpha)
        inverse = np.linalg.inv(alpha * np.eye(d) + rows[1:].T @ rows[1:])
        rho = (y[0] - rows[0] @ without) / (1.0 + rows[0] @ inverse @ rows[0])
        assert stepped(rows, y, v, alpha) == pytest.approx(without + rho * inverse @ rows[0], abs=1e-7)
        assert np.linalg.norm(inverse, 2) <= 1.0 / alpha + ROUNDING
        assert abs(rho) <= 1.0 + abs(rows[0] @ without) + ROUNDING

    @given(seeds, dimensions)
    @settings(max_examples=10)
    def test_9_fourth_moments_of_a_uniform_row(self, seed: int, d: int) -> None:
        """E⟨a, x⟩²⟨a, z⟩² = (‖x‖²‖z‖² + 2⟨x, z⟩²)/(d(d + 2)) and E⟨a, x⟩⁶ = 15‖x‖⁶/(d(d + 2)(d + 4))."""
        rng = np.random.default_rng(seed)
        rows, x, z = unit_rows(rng, 20_000, d), unit_rows(rng, 1, d)[0], unit_rows(rng, 1, d)[0]
        fourth, sixth = (rows @ x) ** 2 * (rows @ z) ** 2, (rows @ x) ** 6
        assert fourth.mean() == pytest.approx((1.0 + 2.0 * (x @ z) ** 2) / (d * (d + 2)), abs=6.0 * fourth.std() / 141.0)
        assert sixth.mean() == pytest.approx(15.0 / (d * (d + 2) * (d + 4)), abs=6.0 * sixth.std() / 141.0)

    @given(seeds, st.integers(1, 8), st.integers(2, 20), st.floats(1.0, 20.0), noises, st.floats(-1.0, 1.0))
    @settings(max_examples=20)
    def test_10_efron_stein(self, seed: int, k: int, d: int, ratio: float, p: float, c: float) -> None:
        alpha, rng = ratio * math.sqrt(k), np.random.default_rng(seed)
        along, squared = steps(rng, k, d, alpha, p, c, 2_000)
        proved = bound(p, k, alpha, d)
        assert along.std() <= proved.spread
        assert np.cov(along, squared)[0, 1] / (2.0 * proved.length**3) <= proved.error


class TestTheBound:
    @given(seeds, st.integers(1, 8), st.integers(2, 20), st.floats(1.0, 20.0), noises, st.floats(0.0, 1.0))
    @example(0, 4, 20, 1.0, 0.45, 1.0)
    @settings(max_examples=20)
    def test_11_one_step(self, seed: int, k: int, d: int, ratio: float, p: float, c: float) -> None:
        """E(c')₊ ≥ (ac + b)(1 + g(1 − c))/λ − ε, and λ² is at least the mean squared length."""
        alpha, rng, blocks = ratio * math.sqrt(k), np.random.default_rng(seed), 2_000
        along, squared = steps(rng, k, d, alpha, p, c, blocks)
        proved, following = bound(p, k, alpha, d), np.maximum(0.0, along / np.sqrt(squared))
        assert following.mean() >= proved.one_step(c) - 6.0 * following.std() / math.sqrt(blocks) - ROUNDING
        assert squared.mean() <= proved.length**2 + 6.0 * squared.std() / math.sqrt(blocks) + ROUNDING
        beyond = proved.spread**2 / (proved.spread**2 + (proved.keep * c + proved.pull) ** 2)
        assert np.mean(along < 0.0) <= beyond + 6.0 * math.sqrt(beyond / blocks)

    @given(noises, st.integers(1, 64), st.floats(1.0, 50.0), st.integers(2, 300), st.floats(0.0, 1.0))
    @example(0.1, 10_000, 1.0, 10**7, 0.5)
    def test_12_from_one_step_to_the_mean(self, p: float, k: int, ratio: float, d: int, c: float) -> None:
        """What one step gains is at least s(κ − c), and at least min(B₀, B₁)(1 − c²) − (τ + ε)."""
        proved = bound(p, k, ratio * math.sqrt(k), d)
        assert proved.length >= proved.keep + proved.pull
        assert 1.0 + 0.5 * math.sqrt(math.sqrt(k) / ratio) <= math.sqrt(3.0) * proved.length + ROUNDING  # R ≤ √3 λ
        gained = proved.one_step(c) - c
        assert gained >= (1.0 - proved.keep / proved.length) * (proved.cosine - c) - ROUNDING
        if math.isfinite(proved.squared_sine):
            slack = 1.0 - (proved.keep + proved.pull) / proved.length + proved.error
            assert slack >= 0.0
            assert gained >= slack * ((1.0 - c * c) / proved.squared_sine - 1.0) - ROUNDING

    @given(noises, st.integers(1, 32), st.integers(2, 300))
    def test_it_becomes_exact_as_the_damping_grows(self, p: float, k: int, d: int) -> None:
        assert bound(p, k, 1e6, d).cosine > 0.99
        assert bound(p, k, 1e6, d).squared_sine < 0.01

    @pytest.mark.parametrize(("p", "k", "alpha"), [(0.6, 1, 1.0), (0.1, 9, 2.0), (0.1, 0, 1.0)])
    def test_outside_its_assumptions_it_is_refused(self, p: float, k: int, alpha: float) -> None:
        with pytest.raises(ValueError, match="the proposition needs"):
            bound(p, k, alpha, 10)

    def test_the_learner_stays_within_it(self) -> None:
        """Thirty people for 24 times the time that the pull needs."""
        p, k, alpha, d = 0.15, 4, 20.0, 12
        proved = bound(p, k, alpha, d)
        found = simulated(p, k, alpha, d, ALWAYS, round(24.0 / proved.pull), 30, 1)
        assert found.min() > 0.0
        assert 0.7 < proved.cosine <= found.mean()
        assert np.mean(1.0 - found**2) <= proved.squared_sine < 0.35
        assert settled(iter([np.ones(2)] * 60)).shape == (40,)
