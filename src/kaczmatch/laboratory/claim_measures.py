"""What the paper's claims are judged by: the mathematics, and for each experiment one mean over users per seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from scipy.special import stdtrit

from kaczmatch.core.vectors import Vector
from kaczmatch.laboratory import published
from kaczmatch.laboratory.alpha_table import alpha_part
from kaczmatch.laboratory.study import CANNOT_TELL, RULES, Laboratory, learners_by_name
from kaczmatch.learners.logs.influence import influence
from kaczmatch.learners.logs.replay import replay
from kaczmatch.learners.registry import learner
from kaczmatch.learners.rules.kaczmarz import Hinge
from kaczmatch.simulation.world import HONEST, HONEST_ADAPTIVE, PAPER, Condition, world

REPRODUCED, MISLEADING, FALSE = "reproduced", "reproduced but misleading", "false"
EARLY, LATE = 200, 3_000
DAMPED = "block-nk, α = 100"


@final
@dataclass(frozen=True, slots=True)
class Mathematics:
    """What the claims without an experiment are judged by."""

    prior_weight: float  # after 20 orthogonal swipes
    step: float  # of TK at α = 9 on nine tags
    rounding: float  # the largest difference from gradient descent on unit rows
    rates: tuple[float, float]  # the least and the largest rate of TK's step on raw rows
    damping: float  # of TK's step by α = 1
    apart: float  # Block-TK with k = 1 from TK
    top: float  # the largest eigenvalue of AAᵀ on raw rows, over k
    two_dislikes: float  # their score


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the claims are judged by: of experiments, one mean over users for each seed."""

    mathematics: Mathematics
    seeds: Mapping[tuple[str, str, str], Vector]  # by condition, learner and metric
    clean_likes: float  # the share of likes among clean labels in the paper's condition
    swipes: int  # of a user under honest labels
    decides: bool  # whether the run has the paper's sizes

    def mean(self, *key: str) -> float:
        return float(np.mean(self._of(key)))

    def difference(self, one: tuple[str, str, str], other: tuple[str, str, str]) -> Difference:
        return Difference.of(self._of(one) - self._of(other))

    def value(self, *key: str) -> Difference:
        """From zero."""
        return Difference.of(self._of(key))

    def leads(self, name: str, condition: str, metric: str) -> list[Difference]:
        """One of the six rules minus each other."""
        return [self.difference((condition, name, metric), (condition, other, metric)) for other in RULES if other != name]

    def _of(self, key: tuple[str, ...]) -> Vector:
        condition, name, metric = key
        return self.seeds[condition, name, metric]

    def verdict(self, *found: tuple[bool, str]) -> str:
        """The first that is so; it cannot be told where none is, or where the run is too small."""
        return next((said for is_so, said in found if is_so and self.decides), CANNOT_TELL)


@final
class Difference(NamedTuple):
    """A mean over seeds and its 95 % interval, which one seed does not give."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, seeds: Vector) -> Difference:
        mean, count = float(np.mean(seeds)), len(seeds)
        if count < 2:
            return cls(mean, -math.inf, math.inf)
        reach = float(stdtrit(count - 1, 0.975) * np.std(seeds, ddof=1) / math.sqrt(count))
        return cls(mean, mean - reach, mean + reach)

    def above(self, least: float = 0.0) -> bool:
        return self.low > least

    def below(self, most: float = 0.0) -> bool:
        return self.high < most

    def within(self, near: float) -> bool:
        return -near < self.low and self.high < near

    def outside(self, near: float) -> bool:
        return self.above(near) or self.below(-near)

    def __str__(self) -> str:
        return (
            f"{self.mean:+.3f} (95 %: {self.low:+.3f} to {self.high:+.3f})"
            if math.isfinite(self.low)
            else f"{self.mean:+.3f} (one seed)"
        )


def measured_in(laboratory: Laboratory) -> Measured:
    paper, honest = laboratory.study(PAPER), laboratory.study(HONEST)
    seeds: dict[tuple[str, str, str], Vector] = {}
    for label, study in (("paper", paper), ("honest", honest)):
        centred = f"centred_at_{study.condition.swipes}"
        for name in (*RULES, "nk-unit", "all-ones", "probit-diag"):
            for metric in ("align_at_20", "final_alignment", "delta_s", centred):
                seeds[label, name, "centred" if metric == centred else metric] = np.nanmean(study.numbers[name][metric], axis=1)
    damped = laboratory.curves(laboratory.plan.sized(HONEST), {DAMPED: learner("block-nk", alpha=100.0)})[DAMPED]
    seeds["honest", DAMPED, "final_alignment"] = np.array([curve.mean[-1] for curve in damped])
    sized = replace(laboratory.plan.sized(HONEST), users=min(laboratory.plan.users, 50))
    noise = published.LABEL_NOISE[0], published.LABEL_NOISE[-1]
    for (name, p), finals in laboratory.finals(sized, learners_by_name(RULES), noise).items():
        seeds["noise", name, f"{p}"] = np.array([each.mean() for each in finals])
    # Sampling is compared at equal block size: the paper's row-norm sessions have 32 cards, its adaptive ones 16.
    half = replace(HONEST, deck=HONEST.deck // 2, sessions=2 * HONEST.sessions)
    for sampling, condition in (("32, rows", HONEST), ("16, rows", half), ("16, cosine", HONEST_ADAPTIVE)):
        seeds |= _block_nk(laboratory, sampling, condition)
        if condition is not HONEST:
            seeds |= _block_nk(laboratory, f"{sampling}, lost", replace(condition, prior="informed", prior_noise=0.8))
    likes = float(world(paper.condition, 0).likes.mean())
    return Measured(_mathematics(), seeds, likes, honest.condition.swipes, paper.comparable)


def _block_nk(laboratory: Laboratory, sampling: str, condition: Condition) -> dict[tuple[str, str, str], Vector]:
    sized = laboratory.plan.sized(condition)
    curves = laboratory.curves(sized, learners_by_name(("block-nk",)))["block-nk"]
    found = {f"at_{t}": [curve.mean[min(t, sized.swipes) - 1] for curve in curves] for t in (EARLY, LATE)}
    found["like_rate"] = [curve.like_rate for curve in curves]
    return {(sampling, "block-nk", metric): np.array(values) for metric, values in found.items()}


def _mathematics() -> Mathematics:
    nk = learner("nk", direction="unit", hinge=Hinge(theta=0.95, delta=0.05))
    log = {"user": [0] * 20, "features": np.eye(21)[1:], "label": [1] * 20}
    tk = learner("tk", alpha=9.0, hinge=Hinge(theta=0.95, delta=0.05))
    rng = np.random.default_rng(0)
    tags = (rng.random((64, 60)) < 0.5).astype(float)
    random = {"user": [0] * 64, "features": tags, "label": rng.choice([-1, 1], 64)}
    lengths = tags.sum(axis=1)
    return Mathematics(
        prior_weight=influence(nk, log, prior=np.eye(21)[0]).prior_cosine,
        step=float(np.linalg.norm(tk.swipe(tk.start(np.zeros(9)), np.ones(9), "like").cells)),
        rounding=max(row["largest_difference_after_200_swipes"] for row in alpha_part().tables[0].rows),
        rates=(float(1.0 / (lengths.max() + 1.0)), float(1.0 / (lengths.min() + 1.0))),
        damping=float(np.mean(lengths / (lengths + 1.0))),
        apart=float(
            np.abs(replay(learner("tk"), random)[0].cells - replay(learner("block-tk", k=1), random)[0].cells[:60]).max()
        ),
        top=float(np.mean([np.linalg.eigvalsh(a @ a.T)[-1] / 32 for a in (rng.random((50, 32, 60)) < 0.5).astype(float)])),
        two_dislikes=math.sqrt(-0.5 * -0.5),
    )
