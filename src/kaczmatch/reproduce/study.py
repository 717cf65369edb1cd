"""One study: what is measured of each learner's run, on every seed of a condition. All experiments are made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.learners.rules.kaczmarz import BlockLearner, gram_condition
from kaczmatch.reproduce.published import PAPER_SIZE, deviation
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import PAPER, Condition, World, with_label_noise, world

RULES = ("tk", "block-tk", "block-nk", "nk", "k-nonorm", "ogd")
CHECKPOINTS = (20, 200, 1_000, 6_400)
LOSSES = (200,)  # where log-loss is measured, and at the end
RANDOM = "random"  # a vector, for comparison

R = TypeVar("R")
Numbers = Mapping[str, Vector]  # one number per user, by metric


def learners_by_name(slugs: Sequence[str] = tuple(LEARNERS)) -> dict[str, Learner]:
    """Learners under the names they have in tables; beside others, NK along the unit vector too."""
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

    def sized(self, condition: Condition, most_users: int = 2_000) -> Condition:
        sessions = max(1, condition.sessions // 5) if self.quick else condition.sessions
        return replace(condition, users=min(self.users, most_users, condition.people), sessions=sessions)


@final
class Reproduction:
    """A plan and what has been run of it: parts that need the same share it."""

    def __init__(self, plan: Plan, tick: Callable[[str], None], runner: Runner = LocalRunner(1)) -> None:  # noqa: B008
        self.plan, self.tick, self.runner = plan, tick, runner
        self._found: dict[tuple[Condition, str, Callable[..., Any]], list[Any]] = {}

    def study(
        self, condition: Condition, named: Mapping[str, Learner], measure: Callable[[Learner, World], R]
    ) -> dict[str, list[R]]:
        """What `measure` makes of each learner in the world of each seed."""
        missing = [name for name in named if (condition, name, measure) not in self._found]
        parts = [(seed, name, named[name]) for seed in range(self.plan.seeds) for name in missing]
        for part, found in zip(parts, self.runner.results(partial(_measured, condition, measure), parts), strict=True):
            seed, name, _ = part
            self.tick(f"{name}, seed {seed}")
            self._found.setdefault((condition, name, measure), []).append(found)
        return {name: self._found[condition, name, measure] for name in named}

    def metrics(self, condition: Condition) -> Study:
        """Every learner of the table and a random vector, in a condition of the paper's sizes or the plan's."""
        sized = self.plan.sized(condition)
        return self.metrics_of(sized, learners_by_name(), paper_numbers if condition == PAPER else numbers)

    def metrics_of(
        self, sized: Condition, named: Mapping[str, Learner], measure: Callable[[Learner, World], RunNumbers]
    ) -> Study:
        found = self.study(sized, named, measure)
        found[RANDOM] = self.study(sized, {RANDOM: next(iter(named.values()))}, random_numbers)[RANDOM]
        return Study(sized, found)


def _measured(condition: Condition, measure: Callable[[Learner, World], R], part: tuple[int, str, Learner]) -> R:
    seed, _, one = part
    return measure(one, with_label_noise(_world(replace(condition, label_noise=0.0), seed), condition.label_noise))


_world = lru_cache(1)(world)  # the parts of a seed come one after the other


@final
class LearningCurve(NamedTuple):
    """One seed of one learner: mean and spread of alignment over users after every swipe."""

    mean: Vector
    spread: Vector
    like_rate: float


@final
class RunNumbers(NamedTuple):
    """One seed of one learner, in numbers and as a curve; a random vector has none."""

    numbers: Numbers
    curve: LearningCurve | None


@final
@dataclass(frozen=True, slots=True)
class Study:
    """What was measured of each learner, one per seed."""

    condition: Condition
    found: Mapping[str, Sequence[RunNumbers]]

    def of(self, name: str, metric: str) -> Matrix:
        """One row per seed, one column per user; nothing where a learner has no such number."""
        return np.array([each.numbers[metric] for each in self.found[name] if metric in each.numbers])

    def mean(self, name: str, metric: str) -> float:
        values = self.of(name, metric)
        known = values[np.isfinite(values)]
        return float(known.mean()) if known.size else math.nan

    def seed_deviation(self, name: str, metric: str) -> float:
        """How much the mean over users varies from seed to seed."""
        values = self.of(name, metric)
        return deviation(values.mean(axis=1)) if values.size else math.nan

    def user_deviation(self, name: str, metric: str) -> float:
        """How much users vary within a seed."""
        values = self.of(name, metric)
        return float(values.std(axis=1).mean()) if values.size else math.nan

    def curves(self, names: Sequence[str]) -> dict[str, list[LearningCurve]]:
        return {name: [each.curve for each in self.found[name] if each.curve is not None] for name in names}


def comparable(condition: Condition) -> bool:
    """Whether it has the paper's sizes; a smaller run decides nothing."""
    return (condition.swipes, condition.users) == PAPER_SIZE


def curve(one: Learner, here: World) -> LearningCurve:
    return _curve_of(trace(one, here))


def final_alignment(one: Learner, here: World) -> Vector:
    """Each user's, after the last swipe."""
    return np.asarray(trace(one, here, followed=False).alignment[:, -1])


def numbers(one: Learner, here: World, *, paper_reading: bool = False) -> RunNumbers:
    """Every metric at every checkpoint."""
    times = _times(here.condition)
    found = trace(one, here, sorted({*times, here.condition.cards}))
    by_metric = {"like_rate": metrics.like_rate(found), "delta_s": metrics.stability(found)}
    for t in times:
        late = paper_reading and t == CHECKPOINTS[0] and isinstance(one, BlockLearner)
        read = here.condition.cards if late else t
        by_metric |= _readings(found.weights(read), here, t, read)
        by_metric[f"align_at_{t}"] = found.alignment[:, read - 1]
        loss = metrics.log_loss(found, here, read) if t in LOSSES or t == times[-1] else None
        if loss is not None:
            by_metric[f"log_loss_at_{t}"] = loss
    by_metric["final_alignment"] = found.alignment[:, -1]
    by_metric["norm"] = np.asarray(np.linalg.norm(found.weights(times[-1]), axis=1))
    first = (here.tags[shown[: here.condition.cards]] for shown in found.shown)
    by_metric["kappa"] = np.array([gram_condition(rows, alpha=1.0) for rows in first])  # of everybody's first session
    return RunNumbers(by_metric, _curve_of(found))


def paper_numbers(one: Learner, here: World) -> RunNumbers:
    """A block rule's Align@20 is read after its first session, as the paper must have done."""
    return numbers(one, here, paper_reading=True)


def random_numbers(_: Learner, here: World) -> RunNumbers:
    """Of a vector that learns nothing."""
    weights = np.random.default_rng([here.seed, 6]).normal(size=here.priors.shape)
    times = _times(here.condition)
    by_metric = {"delta_s": np.ones(len(weights)), "norm": np.asarray(np.linalg.norm(weights, axis=1))}
    for t in times:
        by_metric |= _readings(weights, here, t, t)
    return RunNumbers(by_metric | {"final_alignment": by_metric[f"align_at_{times[-1]}"]}, None)


def _times(condition: Condition) -> list[int]:
    return sorted({t for t in CHECKPOINTS if t <= condition.swipes} | {condition.swipes})


def _readings(weights: Matrix, here: World, t: int, read: int) -> dict[str, Vector]:
    """Of everybody's preference as it was after `read` swipes, under the name of t."""
    taste = here.tastes[here.phase(read - 1)]
    return {
        f"align_at_{t}": metrics.alignment(weights, taste),
        f"centred_at_{t}": metrics.centred_alignment(weights, taste),
        f"auc_at_{t}": metrics.unseen_auc(weights, here, read),
    }


def _curve_of(found: Trace) -> LearningCurve:
    rate = float(metrics.like_rate(found).mean())
    return LearningCurve(found.alignment.mean(axis=0), found.alignment.std(axis=0), rate)
