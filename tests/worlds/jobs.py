"""Small jobs, and what came of them as texts and bytes."""

from __future__ import annotations

from kaczmatch.evaluation.evaluate import Choices, evaluate
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.report import evaluation_parts
from kaczmatch.learners.population.population_fit import fit_population
from kaczmatch.recommend.picks.top_picks import top_picks
from kaczmatch.runner.contract import Runner
from worlds.crowd import make_crowd
from worlds.logs import mutual_table
from worlds.pick_columns import columns_of


def evaluated(runner: Runner, *learners: str) -> list[str]:
    """All tables of an evaluation of people who choose each other."""
    trial = Trial(mutual_table(1, people=16), Protocol(times=(0, 5), rest=2))
    found = evaluate(trial, Choices(learners=("tk", *learners), all_times=True), SilentProgress(), runner=runner)
    assert found.matches is not None
    return [table.json() for part in evaluation_parts(found) for table in part.tables]


def picked(runner: Runner) -> tuple[bytes, bytes]:
    """Everybody's best seven."""
    found = top_picks(columns_of(make_crowd(400, seed=5), []), 7, runner=runner)
    return found.candidates.tobytes(), found.scores.tobytes()


def fitted(runner: Runner) -> bytes:
    """A population with one trait, from people in several parts."""
    return fit_population(mutual_table(2, people=150).log(), traits=True, runner=runner).prior.to_bytes()
