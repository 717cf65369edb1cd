"""What the project promises on real swipes, where they are at hand: they are never part of the repository.

`REAL_DATA` names the folder; without it, `shared/data` beside the repository is looked for.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kaczmatch.evaluation.contenders import APPEAL, DEFAULT, TRAITS, UNLEARNED
from kaczmatch.evaluation.evaluate import Choices, measure
from kaczmatch.evaluation.peers import BPR, IndividualPeer, all_peers
from kaczmatch.evaluation.pooled import POOLED
from kaczmatch.evaluation.predictions import Predictions, predict
from kaczmatch.evaluation.report import Report
from kaczmatch.evaluation.scores import ranking_scores
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import SwipeTable, read_swipes
from kaczmatch.runner.local import LocalRunner
from worlds.trials import fitted, table_of

DATA = Path(os.environ.get("REAL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
FULL = "probit + population + appeal"
MARGIN = 0.005  # an AUC lower by less is not worse
COLUMNS = {"user": "user_id", "candidate": "candidate_id", "decision": "like", "id": "candidate_id"}
MOVIELENS, SPEED_DATING = ColumnNames(**COLUMNS, at="timestamp"), ColumnNames(**COLUMNS, at="order")


def needed(name: str) -> Path:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}; set REAL_DATA to the folder that holds {name}")
    return folder


@pytest.fixture(scope="module")
def movielens() -> Report:
    folder = needed("movielens_small")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", MOVIELENS)
    protocol = Protocol(times=(0, 5, 20, 50, 100, 200), rest=30, at_least=60)
    choices = Choices(learners=("tk", "block-nk", "rocchio", "probit", "probit-diag"), all_times=True)
    return measure(Trial(table, protocol), choices)


@pytest.fixture(scope="module")
def speed_dating() -> Report:
    folder = needed("speed_dating")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", SPEED_DATING, ("wave",))
    protocol = Protocol(times=(0, 5, 10), rest=2, split="wave")
    choices = Choices(learners=("tk", "probit", "probit-diag"), both_ways=True, all_times=True)
    return measure(Trial(table, protocol), choices)


def numbers(found: Report, learner: str) -> list[float]:
    """Mean AUC of everybody who can be tested, at each number of swipes."""
    return [found.scores.at(place, learner).mean for place in range(len(found.times))]


def test_the_harness_agrees_with_what_was_measured_before(movielens: Report) -> None:
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


def test_movielens_from_the_first_swipe_on(movielens: Report) -> None:
    floors = [0.650, 0.645, 0.640, 0.645, 0.650, 0.685]
    assert all(value >= floor for value, floor in zip(numbers(movielens, FULL), floors, strict=True)), numbers(movielens, FULL)
    scores = movielens.scores
    gains = {t: scores.together(place, FULL, APPEAL) for place, t in enumerate(scores.times)}
    assert all(gain.mean > 0.0 for gain in gains.values())
    assert all(gain.above_zero for t, gain in gains.items() if t >= 100)  # intervals hold for every t and contender at once


@pytest.mark.parametrize("learner", [FULL, "probit-diag + population + appeal"])
def test_movielens_probabilities_are_calibrated(movielens: Report, learner: str) -> None:
    (score,) = [each for each in movielens.probabilities if each.name == learner]
    assert score.warm_calibration_error <= 0.03


def test_speed_dating_and_its_matches(speed_dating: Report) -> None:
    _, after_five, after_ten = numbers(speed_dating, FULL)
    assert after_five >= 0.69
    assert after_ten >= 0.715
    assert speed_dating.matches is not None
    for t in (5, 10):
        assert max(each.match_auc for each in speed_dating.matches if (each.name, each.swipes) == (FULL, t)) >= 0.70


def test_own_swipes_buy_something_and_the_default_is_ahead_of_simple_things(movielens: Report) -> None:
    last = len(movielens.times) - 1
    assert movielens.own_swipes.difference(last, FULL, FULL + UNLEARNED).mean > 0.0
    for other in (APPEAL, *POOLED):
        assert movielens.scores.difference(last, FULL, other).mean > -0.01, other


def test_speed_dating_with_traits() -> None:
    """Everybody is tested once, by what was fitted on the others."""
    folder = needed("speed_dating")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", SPEED_DATING, ("wave",))
    protocol = Protocol(times=(0, 5, 10), rest=2, split="wave", folds=2)
    parts = []
    for trial in Trial(table, protocol).folds:
        ours = [each for each in fitted(trial, "probit-traits", traits=True) if each.name == TRAITS]
        parts.append(table_of(trial, ours, protocol.times))
    heavy = ranking_scores(Predictions.joined(parts), [TRAITS], protocol.times, [0]).heaviest()
    found = np.array([heavy.at(place, TRAITS).mean for place in range(3)])
    assert (found >= [0.545, 0.695, 0.715]).all(), found


@pytest.mark.parametrize("name", ["movielens_small", "speed_dating"])
def test_the_default_is_not_worse_than_what_people_use_today(name: str) -> None:
    """Two libraries, after few swipes: `docs/peers.md` has the command for all of them."""
    table, protocol = log_for_peers(name)
    trial, peers = Trial(table, protocol), all_peers(["vowpalwabbit", "implicit"])
    ours = [each for each in fitted(trial, "probit-diag") if each.name == DEFAULT]
    found = predict(trial, [*ours, *peers], protocol.times, trial.tested, LocalRunner(1))
    scores = ranking_scores(found, list(found.said), protocol.times, [0])
    for peer in peers:
        behind = [scores.together(place, peer.name, DEFAULT) for place in range(len(protocol.times))]
        if isinstance(peer, IndividualPeer):
            assert all(gap.high < MARGIN for gap in behind), peer.name
            assert behind[0].below_zero, peer.name
        elif peer.name == BPR:
            assert all(gap.below_zero for t, gap in zip(protocol.times, behind, strict=True) if t <= 20)


def log_for_peers(name: str) -> tuple[SwipeTable, Protocol]:
    folder = needed(name)
    pytest.importorskip("vowpalwabbit", reason="peers need: pip install -e '.[bench]'")
    files = folder / "swipes.csv", folder / "candidates.csv"
    if name == "speed_dating":
        return read_swipes(*files, SPEED_DATING, ("wave",)), Protocol(times=(0, 5, 10), rest=2, split="wave")
    return read_swipes(*files, MOVIELENS), Protocol(times=(5, 20), rest=30, at_least=60)


def test_nothing_looks_ahead(movielens: Report, speed_dating: Report) -> None:
    assert "leak" not in {movielens.shuffled.verdict, speed_dating.shuffled.verdict}  # of eight shuffles
