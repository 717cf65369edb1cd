"""Small jobs, and what came of them as texts and bytes."""

from __future__ import annotations

from kaczmatch.evaluation.evaluate import Choices, measure
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.learners.population.population_fit import fit_population
from kaczmatch.recommend.picks.top_picks import top_picks
from kaczmatch.runner.contract import Runner
from worlds.crowd import make_crowd
from worlds.logs import mutual_table
from worlds.pick_columns import columns_of


def evaluated(runner: Runner, *learners: str) -> list[str]:
    """All tables of an evaluation of people who choose each other."""
    trial = Trial(mutual_table(1, people=16), Protocol(times=(0, 5), rest=2))
    found = measure(trial, Choices(learners=("tk", *learners), both_ways=True, all_times=True), runner=runner)
    assert found.matches
    return [table.json() for part in found.parts for table in part.tables]


def picked(runner: Runner) -> tuple[bytes, bytes]:
    """Everybody's best seven."""
    found = top_picks(columns_of(make_crowd(400, seed=5), []), 7, runner=runner)
    return found.candidates.tobytes(), found.scores.tobytes()


def fitted(runner: Runner) -> bytes:
    """A population with one trait, from people in several parts."""
    return fit_population(Trial(mutual_table(2, people=150), Protocol()).timed, traits=True, runner=runner).prior.to_bytes()
