"""How near Block-NK comes to a taste under label noise: the bound that docs/block-nk-noise.md proves, beside the learner itself.

OPENBLAS_NUM_THREADS=1 python research/block_nk_noise.py [--seeds 3] [--users 20] [--quick] [--out FOLDER]

Three tables. `noise`: four shares of flipped labels and three block sizes. `settings`: damping and dimension. `hinges`, of one
seed: the rule that the proposition is about, the same rule with the paper's narrow margin, and the paper's tags and hinge. Two
thirds of each run bring the direction to its level, and the rest is measured.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kaczmatch
from kaczmatch import Hinge

Row = dict[str, Any]
Array = NDArray[np.float64]

NOISE = (0.05, 0.15, 0.25, 0.35)
BLOCKS = (1, 8, 32)
ALPHAS = (3.0, 10.0, 30.0, 100.0, 300.0)
TAGS = (15, 60, 240)
ALWAYS = Hinge(theta=0.0, delta=1.0)  # a cosine is at most 1, so the residual is the label minus the cosine: no dead zone
NARROW = Hinge(theta=0.0, delta=0.05)
PARTS = 60  # of a run; the last third is measured


@dataclass(frozen=True)
class Bound:
    """The constants of the proposition, and what they give."""

    keep: float  # a: what a block keeps of v, at least
    pull: float  # b: how far it moves v along the taste, at least
    length: float  # λ: the root of the mean squared length before normalisation, at most
    error: float  # ε: what normalisation costs because X and Y² vary together, at most
    gain: float  # g: how much shorter the step's result is where the angle is wide
    spread: float  # the standard deviation of X, at most

    @property
    def cosine(self) -> float:
        """The mean cosine is at least this, in the long run."""
        return (self.pull - self.error * self.length) / (self.length - self.keep)

    @property
    def squared_sine(self) -> float:
        """The mean squared sine is at most this, in the long run."""
        slack = 1.0 - (self.keep + self.pull) / self.length + self.error
        restoring = min(self.pull * (1.0 + self.gain), self.keep * self.gain) / self.length
        return slack / restoring if restoring > 0.0 else math.inf

    def one_step(self, c: float) -> float:
        """The next cosine's positive part is at least this in expectation, from a cosine c ≥ 0."""
        return (self.keep * c + self.pull) / self.length * (1.0 + self.gain * (1.0 - c)) - self.error


def mean_cosine(d: int) -> float:
    """E|⟨a, w⟩| for unit vectors of which one is uniform: m, close to √(2/(πd))."""
    return math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)


def bound(p: float, k: int, alpha: float, d: int) -> Bound:
    """The proposition, for a share p < 1/2 of flipped labels, blocks of k, damping α ≥ √k and d tags."""
    if not (0.0 <= p < 0.5 and k >= 1 and alpha >= math.sqrt(k) and d >= 2):
        raise ValueError(f"the proposition needs 0 ≤ p < 1/2 and α ≥ √k, got p = {p}, k = {k}, α = {alpha}")
    q, m, crowd = 1.0 - 2.0 * p, mean_cosine(d), 1.0 + (k - 1) / d
    least, most = k / (alpha + crowd), k / (1.0 + alpha)  # E tr P
    twice = k * crowd / alpha**2  # E tr P², at most
    fresh = k / (1.0 + alpha) ** 2  # h = E tr H, at most
    kept = max(0.0, least - twice)  # αh, at least
    along = 2.0 * q * m - 1.0 / d
    tail = math.sqrt(twice) / alpha * k * (math.pi / 2 - 1) * math.sqrt(15.0 / (d * (d + 2) * (d + 4)))
    explained = 2.0 * q**2 / math.pi
    squared = 1.0 - least / d + max(along * alpha * fresh, along * kept) + (1.0 - explained) * fresh + explained * (twice + tail)
    longest = 1.0 + 0.5 * math.sqrt(k / alpha)  # ‖u‖ ≤ R
    length = math.sqrt(max(squared, longest**2 / 3.0))
    kappa, kappa4 = 1.0 + longest * math.sqrt(3.0 / (d + 2)), 1.0 + longest * (3.0 / (d * (d + 2))) ** 0.25
    spread = math.sqrt(k / d) * kappa / alpha
    spread_squared = math.sqrt(k) / alpha * (2.0 * longest * kappa / math.sqrt(d) + kappa4**2 / alpha)
    return Bound(
        keep=1.0 - most / d,
        pull=q * m * least,
        length=length,
        error=spread * spread_squared / (2.0 * length**3),
        gain=q * m * kept / length**2,
        spread=spread,
    )


def in_short(p: float, alpha: float, d: int) -> float:
    """What the bound on the cosine is, nearly, for small k/α: the block size has cancelled."""
    return 1.0 / (1.0 + math.sqrt(math.pi * d / 8.0) / ((1.0 - 2.0 * p) * (1.0 + alpha)))


def directions(rng: np.random.Generator, users: int, swipes: int, d: int) -> tuple[Array, Array]:
    """Unit rows from the uniform distribution on the sphere, and how much each is to everybody's taste, the first axis."""
    rows = rng.normal(size=(users, swipes, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    return rows, rows[:, :, 0]


def cosines(
    learner: kaczmatch.Learner,
    prior: Array,
    shown: Callable[[int], tuple[Array, Array]],
    p: float,
    blocks: int,
    k: int,
    aligned: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Iterator[Array]:
    """Every user's cosine with the taste, at the end of each part of a run."""
    states = None
    for _ in range(PARTS):
        rows, liking = shown(max(1, round(blocks / PARTS)) * k)
        users, swipes, d = rows.shape
        likes = (liking >= 0.0) ^ (rng.random(liking.shape) < p)
        log = {
            "user": np.repeat(np.arange(users), swipes),
            "features": rows.reshape(-1, d),
            "label": np.where(likes, 1, -1).ravel(),
        }
        states = kaczmatch.replay(learner, log, prior=prior, states=states)
        yield aligned(states.directions())


def settled(cosines: Iterator[Array]) -> Array:
    return np.array(list(cosines))[-(PARTS // 3) :].ravel()


def simulated(p: float, k: int, alpha: float, d: int, hinge: Hinge, blocks: int, users: int, seeds: int) -> Array:
    """Cosines with the taste on uniform unit rows, from a prior at a right angle to it."""
    learner, found = kaczmatch.learner("block-nk", k=k, alpha=alpha, hinge=hinge), []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, k, d])

        def shown(swipes: int, rng: np.random.Generator = rng) -> tuple[Array, Array]:
            return directions(rng, users, swipes, d)

        runs = cosines(learner, np.eye(d)[1], shown, p, blocks, k, lambda v: v[:, 0], rng)
        found.append(settled(runs))
    return np.concatenate(found)


def simulated_tags(p: float, k: int, alpha: float, d: int, blocks: int, users: int, seeds: int) -> Array:
    """The paper's own case: 0/1 tags and tastes, its hinge, all ones at the start; cosines without the all-ones direction."""
    hinge = Hinge()
    learner, found = kaczmatch.learner("block-nk", k=k, alpha=alpha, hinge=hinge), []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, k, d])
        tastes = (rng.random((users, d)) < 0.5).astype(float)
        centred = tastes - tastes.mean(axis=1, keepdims=True)

        def shown(swipes: int, rng: np.random.Generator = rng, tastes: Array = tastes) -> tuple[Array, Array]:
            rows = (rng.random((users, swipes, d)) < 0.5).astype(float)
            lengths = np.linalg.norm(rows, axis=2) * np.linalg.norm(tastes, axis=1)[:, None]
            return rows, np.einsum("usd,ud->us", rows, tastes) / lengths - hinge.theta

        def aligned(v: Array, centred: Array = centred) -> Array:
            v = v - v.mean(axis=1, keepdims=True)
            along = np.einsum("ud,ud->u", v, centred)
            return np.asarray(along / np.linalg.norm(v, axis=1) / np.linalg.norm(centred, axis=1))

        found.append(settled(cosines(learner, np.ones(d) / math.sqrt(d), shown, p, blocks, k, aligned, rng)))
    return np.concatenate(found)


def beside(p: float, k: int, alpha: float, d: int, users: int, seeds: int, most_blocks: int) -> Row:
    """One setting: the bound, what it is in short, and the learner."""
    proved = bound(p, k, alpha, d)
    found = simulated(p, k, alpha, d, ALWAYS, min(most_blocks, round(24.0 / proved.pull)), users, seeds)
    acute = found[found >= 0.0]
    return {
        "cosine_at_least": max(0.0, proved.cosine),
        "in_short": in_short(p, alpha, d),
        "cosine": float(acute.mean()),
        "squared_sine_at_most": min(1.0, proved.squared_sine),
        "squared_sine": float(np.mean(1.0 - acute**2)),
        "beyond_a_right_angle": float(np.mean(found < 0.0)),
    }


def tables(users: int, seeds: int, quick: bool) -> Iterator[tuple[str, str, list[Row]]]:
    most = 120 if quick else 10**9
    every = 3 if quick else 1
    noise, blocks, alphas, tags = NOISE[::every], BLOCKS[::every], ALPHAS[::every], TAGS[::every]
    yield (
        "noise",
        "The bound beside Block-NK: 60 tags, α = 30",
        [{"label_noise": p, "k": k} | beside(p, k, 30.0, 60, users, seeds, most) for p in noise for k in blocks],
    )
    settings = [(8, alpha, 60) for alpha in alphas] + [(8, 30.0, d) for d in tags if d != 60]
    yield (
        "settings",
        "Damping and dimension: label noise 0.15, k = 8",
        [{"alpha": alpha, "tags": d} | beside(0.15, k, alpha, d, users, seeds, most) for k, alpha, d in settings],
    )
    length = most if quick else 1_200
    yield (
        "hinges",
        "Other hinges and rows: k = 32, 60 tags, cosine with the taste",
        [
            {
                "label_noise": p,
                "alpha": alpha,
                "no_dead_zone": float(simulated(p, 32, alpha, 60, ALWAYS, length, users, 1).mean()),
                "narrow_margin": float(simulated(p, 32, alpha, 60, NARROW, length, users, 1).mean()),
                "tags_and_the_papers_hinge": float(simulated_tags(p, 32, alpha, 60, length, users, 1).mean()),
            }
            for alpha in (1.0, 30.0)
            for p in noise
        ],
    )


def cell(value: float | str) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, 2, …")
    parser.add_argument("--users", type=int, default=20, help="per seed")
    parser.add_argument("--quick", action="store_true", help="the smallest input")
    parser.add_argument("--out", type=Path, help="a folder for the tables as JSON")
    asked = parser.parse_args(words)
    for name, title, rows in tables(asked.users, asked.seeds, asked.quick):
        print(f"\n{title}\n\n| " + " | ".join(column.replace("_", " ") for column in rows[0]) + " |")
        print("| --- " * len(rows[0]) + "|")
        for row in rows:
            print("| " + " | ".join(cell(value) for value in row.values()) + " |", flush=True)
        if asked.out is not None:
            asked.out.mkdir(parents=True, exist_ok=True)
            (asked.out / f"{name}.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
