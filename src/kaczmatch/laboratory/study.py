"""Learners over seeds in one condition, and their metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.learners.rules.kaczmarz import BlockLearner, gram_condition
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import PAPER, Condition, World, with_label_noise, world

RULES = ("tk", "block-tk", "block-nk", "nk", "k-nonorm", "ogd")
CHECKPOINTS = (20, 200, 1_000, 6_400)
CANNOT_TELL = "cannot tell"  # of a run that is smaller than the paper's
LOSSES = (200,)  # and at the end
RANDOM = "random"  # a vector, for comparison

Tick = Callable[[str], None]
R = TypeVar("R")


def learners_by_name(slugs: Sequence[str] = tuple(LEARNERS)) -> dict[str, Learner]:
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
class LearningCurve:
    """One seed of one learner: mean and spread of alignment over users after every swipe."""

    mean: Vector
    spread: Vector
    like_rate: float

    @classmethod
    def of(cls, found: Trace) -> LearningCurve:
        return cls(found.alignment.mean(axis=0), found.alignment.std(axis=0), float(metrics.like_rate(found).mean()))


@final
@dataclass(frozen=True, slots=True)
class Study:
    """Numbers by learner and metric: one row per seed, one column per user; and a curve by learner for each seed."""

    condition: Condition
    numbers: Mapping[str, Mapping[str, Matrix]]
    curves: Mapping[str, Sequence[LearningCurve]]

    def mean(self, name: str, metric: str) -> float:
        values = self.numbers[name].get(metric, np.empty(0))
        known = values[np.isfinite(values)]
        return float(known.mean()) if known.size else float("nan")

    def seed_deviation(self, name: str, metric: str) -> float:
        """How much the mean over users varies from seed to seed."""
        return deviation(self.numbers[name][metric].mean(axis=1)) if metric in self.numbers[name] else float("nan")

    def user_deviation(self, name: str, metric: str) -> float:
        """How much users vary within a seed."""
        return float(self.numbers[name][metric].std(axis=1).mean()) if metric in self.numbers[name] else float("nan")

    @property
    def comparable(self) -> bool:
        """Whether it has the paper's sizes; a smaller run decides nothing."""
        return comparable(self.condition)


def comparable(condition: Condition) -> bool:
    return (condition.swipes, condition.users) == (PAPER.swipes, PAPER.users)


def deviation(means: Sequence[float] | Vector) -> float:
    """From seed to seed; NaN with one seed."""
    return float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")


@final
@dataclass(frozen=True, slots=True)
class PaperComparison:
    """A number of the paper and our mean over seeds and users."""

    what: Mapping[str, object]  # what it is about, by name
    paper: float
    ours: float
    seed_deviation: float
    near: float  # a difference up to this one is none
    decides: bool  # whether the run has the paper's sizes

    @property
    def reproduced(self) -> bool:
        return self.decides and abs(self.ours - self.paper) <= self.near

    def row(self) -> dict[str, Any]:
        difference = self.ours - self.paper
        verdict = "reproduced" if self.reproduced else "not reproduced" if self.decides else CANNOT_TELL
        return {
            **self.what,
            "paper": self.paper,
            "ours": self.ours,
            "difference": difference,
            "verdict": verdict,
            "seed_deviation": self.seed_deviation,
            "difference_in_seed_deviations": difference / self.seed_deviation if self.seed_deviation > 0.0 else float("nan"),
        }


def compared_with_paper(
    what: Mapping[str, object], printed: float, means: Sequence[float] | Vector, near: float, *, decides: bool
) -> PaperComparison:
    """`means` over users, one per seed."""
    return PaperComparison(what, printed, float(np.mean(means)), deviation(means), near, decides)


@final
class Laboratory:
    """A plan and what has been run of it: parts that need the same study share it."""

    def __init__(
        self,
        plan: Plan,
        tick: Tick,
        runner: Runner = LocalRunner(1),  # noqa: B008
    ) -> None:
        self.plan = plan
        self.tick = tick
        self.runner = runner
        self._studies: dict[Condition, Study] = {}
        self._curves: dict[tuple[Condition, str], list[LearningCurve]] = {}
        self._finals: dict[tuple[Condition, str], list[Vector]] = {}

    def curves(self, sized: Condition, named: Mapping[str, Learner]) -> dict[str, list[LearningCurve]]:
        """A curve of every learner for each seed."""
        missing = [name for name in named if (sized, name) not in self._curves]
        parts = [_Part(seed, name, named[name]) for seed in range(self.plan.seeds) for name in missing]
        for part, found in self._of_all(partial(_curve, sized), parts):
            self._curves.setdefault((sized, part.name), []).append(found)
        return {name: self._curves[sized, name] for name in named}

    def finals(
        self, sized: Condition, named: Mapping[str, Learner], noise_levels: Sequence[float]
    ) -> dict[tuple[str, float], list[Vector]]:
        """Every user's alignment after the last swipe, by learner and label noise, one vector per seed."""
        wanted = {(name, noise): replace(sized, label_noise=noise) for noise in noise_levels for name in named}
        missing = [key for key, condition in wanted.items() if (condition, key[0]) not in self._finals]
        parts = [_Part(seed, name, named[name], noise) for seed in range(self.plan.seeds) for name, noise in missing]
        for part, found in self._of_all(partial(_final, sized), parts):
            self._finals.setdefault((replace(sized, label_noise=part.noise or 0.0), part.name), []).append(found)
        return {key: self._finals[condition, key[0]] for key, condition in wanted.items()}

    def _of_all(self, function: Callable[[_Part], R], parts: Sequence[_Part]) -> Iterator[tuple[_Part, R]]:
        for part, found in zip(parts, self.runner.results(function, parts), strict=True):
            self.tick(str(part))
            yield part, found

    def study(self, condition: Condition) -> Study:
        """Every learner on every seed of a condition.

        In the paper's condition a block rule's Align@20 is read after its first session, as the paper must have done.
        """
        sized = self.plan.sized(condition)
        if sized not in self._studies:
            found = self.run(sized, learners_by_name(), paper_reading=condition == PAPER)
            self._studies[sized] = found
            for name, curves in found.curves.items():
                self._curves[sized, name] = list(curves)
                self._finals[sized, name] = list(found.numbers[name]["final_alignment"])
        return self._studies[sized]

    def run(self, condition: Condition, named: Mapping[str, Learner], *, paper_reading: bool = False) -> Study:
        """These learners and a random vector on every seed."""
        first = next(iter(named))
        parts = [
            _Part(seed, name, one) for seed in range(self.plan.seeds) for name, one in [*named.items(), (RANDOM, named[first])]
        ]
        collected: dict[str, dict[str, list[Vector]]] = {}
        curves: dict[str, list[LearningCurve]] = {}
        kappa: Vector = np.empty(0)
        for part, (numbers, curve) in self._of_all(partial(_studied, condition, first, paper_reading), parts):
            if curve is not None:  # by row norms everybody is shown the same, so that the first learner's is everybody's
                kappa = numbers.setdefault("kappa", kappa)
                curves.setdefault(part.name, []).append(curve)
            for metric, values in numbers.items():
                collected.setdefault(part.name, {}).setdefault(metric, []).append(values)
        by_name = {name: {key: np.array(rows) for key, rows in found.items()} for name, found in collected.items()}
        return Study(condition, by_name, curves)


@final
@dataclass(frozen=True, slots=True)
class _Part:
    """One learner on one seed."""

    seed: int
    name: str
    learner: Learner
    noise: float | None = None  # where it is not the condition's

    def __str__(self) -> str:
        return f"{self.name}, seed {self.seed}" if self.noise is None else f"{self.name}, p = {self.noise:.2f}, seed {self.seed}"


@lru_cache(1)
def _world(condition: Condition, seed: int) -> World:
    """The parts of a seed come one after the other."""
    return world(condition, seed)


def _curve(condition: Condition, part: _Part) -> LearningCurve:
    return LearningCurve.of(trace(part.learner, _world(condition, part.seed)))


def _final(condition: Condition, part: _Part) -> Vector:
    noisy = with_label_noise(_world(condition, part.seed), part.noise or 0.0, part.seed)
    return np.asarray(trace(part.learner, noisy, followed=False).alignment[:, -1])


def _studied(
    condition: Condition, first: str, paper_reading: bool, part: _Part
) -> tuple[dict[str, Vector], LearningCurve | None]:
    """The numbers of a learner, and its curve; of a random vector, which has none, the numbers."""
    times = sorted({t for t in CHECKPOINTS if t <= condition.swipes} | {condition.swipes})
    here = _world(condition, part.seed)
    if part.name == RANDOM:
        return _constant_numbers(np.random.default_rng([part.seed, 6]).normal(size=here.priors.shape), here, times), None
    found = trace(part.learner, here, sorted({*times, condition.cards}))
    numbers = _numbers(found, here, times, paper_reading=paper_reading)
    if part.name == first or condition.sampling == "cosine":
        numbers["kappa"] = _kappa(found, here)
    return numbers, LearningCurve.of(found)


def _numbers(found: Trace, here: World, times: Sequence[int], *, paper_reading: bool) -> dict[str, Vector]:
    numbers = {"like_rate": metrics.like_rate(found), "delta_s": metrics.stability(found)}
    for t in times:
        late = paper_reading and t == CHECKPOINTS[0] and isinstance(found.learner, BlockLearner)
        read = here.condition.cards if late else t
        weights = found.weights(read)
        numbers[f"align_at_{t}"] = found.alignment[:, read - 1]
        numbers[f"centred_at_{t}"] = metrics.centred_alignment(weights, here.tastes[here.phase(read - 1)])
        numbers[f"auc_at_{t}"] = metrics.unseen_auc(weights, here, read)
        loss = metrics.log_loss(found, here, read) if t in LOSSES or t == times[-1] else None
        if loss is not None:
            numbers[f"log_loss_at_{t}"] = loss
    numbers["final_alignment"] = found.alignment[:, -1]
    numbers["norm"] = np.asarray(np.linalg.norm(found.weights(times[-1]), axis=1))
    return numbers


def _kappa(found: Trace, here: World) -> Vector:
    """κ(AAᵀ + I) of everybody's first session."""
    first = (here.tags[shown[: here.condition.cards]] for shown in found.shown)
    return np.array([gram_condition(rows, alpha=1.0) for rows in first])


def _constant_numbers(weights: Matrix, here: World, times: Sequence[int]) -> dict[str, Vector]:
    """The numbers of a vector that learns nothing."""
    numbers = {"delta_s": np.ones(len(weights)), "norm": np.asarray(np.linalg.norm(weights, axis=1))}
    for t in times:
        taste = here.tastes[here.phase(t - 1)]
        numbers[f"align_at_{t}"] = metrics.alignment(weights, taste)
        numbers[f"centred_at_{t}"] = metrics.centred_alignment(weights, taste)
        numbers[f"auc_at_{t}"] = metrics.unseen_auc(weights, here, t)
    return numbers | {"final_alignment": numbers[f"align_at_{times[-1]}"]}
