"""Learners over seeds in one condition, and their metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners import monitors
from kaczmatch.learners.block import BlockLearner
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.simulation import metrics
from kaczmatch.simulation.condition import PAPER, Condition
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import World, world

RULES = ("tk", "block-tk", "block-nk", "nk", "k-nonorm", "ogd")
CHECKPOINTS = (20, 200, 1_000, 6_400)

Tick = Callable[[str], None]


def contestants(slugs: Sequence[str] = tuple(LEARNERS)) -> dict[str, Learner]:
    """Learners under the names they have in tables; NK along the unit vector where NK is wanted with everybody else."""
    named = {slug: learner(slug) for slug in slugs}
    if set(slugs) > set(RULES):
        named["nk-unit"] = learner("nk", direction="unit")
    return named


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """How much to run."""

    seeds: int = 5
    users: int = 100
    quick: bool = False  # a fifth of the sessions: for a look, not for a comparison

    def sized(self, condition: Condition) -> Condition:
        sessions = max(1, condition.sessions // 5) if self.quick else condition.sessions
        return replace(condition, users=min(self.users, condition.people), sessions=sessions)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One seed of one learner: mean and spread of alignment over users after every swipe."""

    mean: Vector
    spread: Vector
    like_rate: float

    @classmethod
    def of(cls, found: Trace) -> Curve:
        return cls(found.alignment.mean(axis=0), found.alignment.std(axis=0), float(metrics.like_rate(found).mean()))


@final
@dataclass(frozen=True, slots=True)
class Study:
    """Numbers by learner and metric: one row a seed, one column a user; and a curve by learner for each seed."""

    condition: Condition
    numbers: Mapping[str, Mapping[str, Matrix]]
    curves: Mapping[str, Sequence[Curve]]

    def mean(self, name: str, metric: str) -> float:
        return float(np.nanmean(self.numbers[name][metric])) if metric in self.numbers[name] else float("nan")

    def seed_deviation(self, name: str, metric: str) -> float:
        """How much the mean over users varies from seed to seed; NaN with one seed."""
        means = np.nanmean(self.numbers[name][metric], axis=1)
        return float(means.std(ddof=1)) if len(means) > 1 else float("nan")

    def user_deviation(self, name: str, metric: str) -> float:
        """How much users vary within a seed."""
        return float(np.nanmean(np.nanstd(self.numbers[name][metric], axis=1)))


@final
class Laboratory:
    """A plan and what has been run of it: parts that need the same study share it."""

    def __init__(self, plan: Plan, tick: Tick) -> None:
        self.plan = plan
        self.tick = tick
        self._studies: dict[Condition, Study] = {}

    def study(self, condition: Condition) -> Study:
        """Every learner on every seed of a condition.

        In the paper's condition a block rule's Align@20 is read after its first session, as the paper must have done.
        """
        sized = self.plan.sized(condition)
        if sized not in self._studies:
            self._studies[sized] = self.run(sized, contestants(), paper_reading=condition == PAPER)
        return self._studies[sized]

    def run(self, condition: Condition, named: Mapping[str, Learner], *, paper_reading: bool = False) -> Study:
        """These learners and a random vector on every seed."""
        times = sorted({t for t in CHECKPOINTS if t <= condition.swipes} | {condition.swipes})
        collected: dict[str, dict[str, list[Vector]]] = {}
        curves: dict[str, list[Curve]] = {}

        def collect(name: str, found: Mapping[str, Vector]) -> None:
            for metric, values in found.items():
                collected.setdefault(name, {}).setdefault(metric, []).append(values)

        for seed in range(self.plan.seeds):
            here = world(condition, seed)
            kappa: Vector | None = None
            for name, one in named.items():
                self.tick(f"{name}, seed {seed}")
                found = trace(one, here, times)
                if kappa is None or condition.sampling == "cosine":  # by row norms everybody is shown the same
                    kappa = _kappa(found, here)
                collect(name, {**_numbers(found, here, times, paper_reading=paper_reading), "kappa": kappa})
                curves.setdefault(name, []).append(Curve.of(found))
            collect("random", _standing(np.random.default_rng([seed, 6]).normal(size=here.priors.shape), here, times))
        numbers = {name: {key: np.array(rows) for key, rows in found.items()} for name, found in collected.items()}
        return Study(condition, numbers, curves)


def _numbers(found: Trace, here: World, times: Sequence[int], *, paper_reading: bool) -> dict[str, Vector]:
    numbers = {"like_rate": metrics.like_rate(found), "delta_s": metrics.stability(found)}
    for t in times:
        late = paper_reading and t == CHECKPOINTS[0] and isinstance(found.learner, BlockLearner)
        numbers[f"align_at_{t}"] = found.alignment[:, here.condition.cards - 1 if late else t - 1]
        numbers[f"centred_at_{t}"] = metrics.centred_alignment(found.weights(t), here.tastes[here.phase(t - 1)])
        numbers[f"auc_at_{t}"] = metrics.unseen_auc(found.weights(t), here)
        loss = metrics.log_loss(found, here, t)
        if loss is not None:
            numbers[f"log_loss_at_{t}"] = loss
    last = found.weights(times[-1])
    numbers["final_alignment"] = found.alignment[:, -1]
    numbers["norm"] = np.asarray(np.linalg.norm(last, axis=1))
    return numbers


def _kappa(found: Trace, here: World) -> Vector:
    """κ(AAᵀ + I) of everybody's first session."""
    first = (here.tags[shown[: here.condition.cards]] for shown in found.shown)
    return np.array([monitors.gram_condition(rows, alpha=1.0) for rows in first])


def _standing(weights: Matrix, here: World, times: Sequence[int]) -> dict[str, Vector]:
    """The numbers of a vector that learns nothing."""
    aligned = metrics.alignment(weights, here.tastes[-1])
    centred, area = metrics.centred_alignment(weights, here.tastes[-1]), metrics.unseen_auc(weights, here)
    numbers = {"final_alignment": aligned, "delta_s": np.ones(len(weights)), "norm": np.linalg.norm(weights, axis=1)}
    for t in times:
        numbers |= {f"align_at_{t}": aligned, f"centred_at_{t}": centred, f"auc_at_{t}": area}
    return numbers
