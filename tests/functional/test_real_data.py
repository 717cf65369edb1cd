"""What the project promises on real swipes, where they are at hand: they are never part of the repository.

`REAL_DATA` names the folder; without it, `shared/data` beside the repository is looked for.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kaczmatch.evaluation.evaluate import Choices, EvaluationResult, evaluate
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, HoldoutRanking, holdout_ranking
from kaczmatch.evaluation.peers.comparison import ALONE, DEFAULT, MARGIN, compare_peers
from kaczmatch.evaluation.peers.population import BPR
from kaczmatch.evaluation.peers.registry import peers_of, with_appeal
from kaczmatch.evaluation.protocol.contenders import TRAITS, contenders
from kaczmatch.evaluation.protocol.folds import Fold
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import SwipeTable, read_swipes

DATA = Path(os.environ.get("REAL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
FULL = "probit + population + appeal"
COLUMNS = {"user": "user_id", "candidate": "candidate_id", "decision": "like", "id": "candidate_id"}
MOVIELENS, SPEED_DATING = ColumnNames(**COLUMNS, at="timestamp"), ColumnNames(**COLUMNS, at="order")


def needed(name: str) -> Path:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}; set REAL_DATA to the folder that holds {name}")
    return folder


@pytest.fixture(scope="module")
def movielens() -> EvaluationResult:
    folder = needed("movielens_small")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", MOVIELENS)
    protocol = Protocol(times=(0, 5, 20, 50, 100, 200), rest=30, at_least=60, appeal_at="first")
    choices = Choices(learners=("tk", "block-nk", "rocchio", "probit", "probit-diag"), all_times=True)
    return evaluate(Trial(table, protocol), choices, SilentProgress())


@pytest.fixture(scope="module")
def speed_dating() -> EvaluationResult:
    folder = needed("speed_dating")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", SPEED_DATING, ("wave",))
    protocol = Protocol(times=(0, 5, 10), rest=2, split="wave")
    return evaluate(Trial(table, protocol), Choices(learners=("tk", "probit", "probit-diag"), all_times=True), SilentProgress())


def numbers(found: EvaluationResult, learner: str) -> list[float]:
    """Mean AUC of everybody who can be tested, at each number of swipes."""
    ranking = found.scores.ranking
    column = list(ranking.names).index(learner)
    return [float(values[ranking.testable(place), column].mean()) for place, values in enumerate(ranking.auc)]


def test_the_harness_agrees_with_what_was_measured_before(movielens: EvaluationResult) -> None:
    """Rules that use no appeal, against prototypes that were written apart."""
    known = {
        "all-ones": [0.536, 0.536, 0.529, 0.516, 0.511, 0.509],
        "tk": [0.536, 0.539, 0.534, 0.509, 0.514, 0.497],
        "block-nk": [0.536, 0.536, 0.529, 0.547, 0.558, 0.556],
        "probit": [0.500, 0.533, 0.561, 0.573, 0.597, 0.621],
        "rocchio": [0.500, 0.534, 0.569, 0.582, 0.596, 0.625],
    }
    for learner, expected in known.items():
        assert numbers(movielens, learner) == pytest.approx(expected, abs=0.007), learner


def test_movielens_from_the_first_swipe_on(movielens: EvaluationResult) -> None:
    floors = [0.650, 0.645, 0.640, 0.645, 0.650, 0.685]
    assert all(value >= floor for value, floor in zip(numbers(movielens, FULL), floors, strict=True)), numbers(movielens, FULL)
    scores = movielens.scores
    gains = {t: scores.difference_at(place, FULL, APPEAL) for place, t in enumerate(scores.times)}
    assert all(gain.mean > 0.0 for gain in gains.values())
    assert all(gain.above_zero for t, gain in gains.items() if t >= 100)  # intervals hold for every t and contender at once


@pytest.mark.parametrize("learner", [FULL, "probit-diag + population + appeal"])
def test_movielens_probabilities_are_calibrated(movielens: EvaluationResult, learner: str) -> None:
    score = movielens.probabilities.of(learner)
    assert score is not None
    assert score.warm_calibration_error <= 0.03


def test_speed_dating_and_its_matches(speed_dating: EvaluationResult) -> None:
    _, after_five, after_ten = numbers(speed_dating, FULL)
    assert after_five >= 0.69
    assert after_ten >= 0.715
    assert speed_dating.matches is not None
    for t in (5, 10):
        assert max(each.match_auc for each in speed_dating.matches.scores if (each.name, each.swipes) == (FULL, t)) >= 0.70


def test_speed_dating_with_traits() -> None:
    """Everybody is tested once, by what was fitted on the others."""
    folder = needed("speed_dating")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", SPEED_DATING, ("wave",))
    protocol = Protocol(times=(0, 5, 10), rest=2, split="wave", folds=2)
    parts = []
    for trial in Trial(table, protocol).folds:
        ours = [each for each in contenders(trial, ["probit-traits"], tick=lambda _: None, traits=4) if each.name == TRAITS]
        parts.append(holdout_ranking(trial, ours, protocol.times, trial.tested, advance=lambda _: None))
    ranking = HoldoutRanking.joined(parts)
    found = ranking.auc[:, ranking.cohort, 0].mean(axis=1)
    assert (found >= [0.545, 0.695, 0.715]).all(), found


@pytest.mark.parametrize("name", ["movielens_small", "speed_dating"])
def test_the_default_is_not_worse_than_what_people_use_today(name: str) -> None:
    """Two libraries, after few swipes: `docs/peers.md` has the command for all of them."""
    table, protocol = log_for_peers(name)
    peers = [peer for library in ("vowpal_wabbit", "implicit") for each in peers_of(library) for peer in with_appeal(each)]
    trial = Trial(table, protocol)
    ours = contenders(trial, [ALONE], tick=lambda _: None)
    ranked = holdout_ranking(trial, ours, protocol.times, trial.tested, advance=lambda _: None)
    found = compare_peers([Fold(trial, ours)], ranked, peers, SilentProgress(), time.perf_counter)
    for peer in peers:
        leads = found.differences(DEFAULT, peer.name)
        if peer.individual:
            assert all(gap.low > -MARGIN for gap in leads), peer.name
            assert found.better_from(DEFAULT, peer.name) is not None, peer.name
        elif peer.name == BPR:
            assert all(gap.above_zero for t, gap in zip(protocol.times, leads, strict=True) if t <= 20)


def log_for_peers(name: str) -> tuple[SwipeTable, Protocol]:
    folder = needed(name)
    pytest.importorskip("vowpalwabbit", reason="peers need: pip install -e '.[bench]'")
    files = folder / "swipes.csv", folder / "candidates.csv"
    if name == "speed_dating":
        return read_swipes(*files, SPEED_DATING, ("wave",)), Protocol(times=(0, 5, 10), rest=2, split="wave")
    return read_swipes(*files, MOVIELENS), Protocol(times=(5, 20), rest=30, at_least=60, appeal_at="first")


def test_nothing_looks_ahead(movielens: EvaluationResult, speed_dating: EvaluationResult) -> None:
    assert "leak" not in {movielens.shuffled.verdict, speed_dating.shuffled.verdict}  # of eight shuffles
