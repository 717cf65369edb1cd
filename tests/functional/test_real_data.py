"""What the project promises on real swipes, where they are at hand: they are never part of the repository.

`REAL_DATA` names the folder; without it, `shared/data` beside the repository is looked for.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kaczmatch.evaluation.beside import ALONE, DEFAULT, MARGIN, beside
from kaczmatch.evaluation.contenders import contenders
from kaczmatch.evaluation.evaluate import Choices, Evaluation, evaluate
from kaczmatch.evaluation.frozen import frozen
from kaczmatch.evaluation.peers.from_others import BPR
from kaczmatch.evaluation.peers.registry import peers_of, with_appeal
from kaczmatch.evaluation.progress import Unwatched
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.swipe_table import ColumnNames, SwipeTable, read_swipes

DATA = Path(os.environ.get("REAL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
FULL = "probit + population + appeal"


def needed(name: str) -> Path:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}; set REAL_DATA to the folder that holds {name}")
    return folder


@pytest.fixture(scope="module")
def movielens() -> Evaluation:
    folder = needed("movielens_small")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv")
    protocol = Protocol(times=(0, 5, 20, 50, 100, 200), rest=30, at_least=60, appeal_at="first")
    choices = Choices(learners=("tk", "block-nk", "rocchio", "probit", "probit-diag"), all_times=True)
    return evaluate(Trial(table, protocol), choices, Unwatched())


@pytest.fixture(scope="module")
def speed_dating() -> Evaluation:
    folder = needed("speed_dating")
    table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", ColumnNames(time="order"), ("wave",))
    protocol = Protocol(times=(0, 5, 10), rest=2, split="wave")
    return evaluate(Trial(table, protocol), Choices(learners=("tk", "probit", "probit-diag"), all_times=True), Unwatched())


def row(found: Evaluation, table: str, learner: str) -> dict[str, float]:
    return next(dict(each) for each in found.table(table).rows if each["learner"] == learner)


def numbers(found: Evaluation, learner: str) -> list[float]:
    return [value for value in row(found, "auc-everyone", learner).values() if isinstance(value, float)]


def test_the_harness_agrees_with_what_was_measured_before(movielens: Evaluation) -> None:
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


def test_movielens_from_the_first_swipe_on(movielens: Evaluation) -> None:
    floors = [0.650, 0.645, 0.640, 0.645, 0.650, 0.685]
    assert all(value >= floor for value, floor in zip(numbers(movielens, FULL), floors, strict=True)), numbers(movielens, FULL)
    gains = [each for each in movielens.table("ranking").rows if each["learner"] == FULL]
    assert all(each["over_appeal"] > 0.0 for each in gains)
    assert all(each["over_appeal_low"] > 0.0 for each in gains if each["swipes"] >= 50)


@pytest.mark.parametrize("learner", [FULL, "probit-diag + population + appeal"])
def test_movielens_probabilities_are_calibrated(movielens: Evaluation, learner: str) -> None:
    assert row(movielens, "probabilities", learner)["calibration_error_after_20"] <= 0.03


def test_speed_dating_and_its_matches(speed_dating: Evaluation) -> None:
    _, after_five, after_ten = numbers(speed_dating, FULL)
    assert after_five >= 0.69
    assert after_ten >= 0.715
    matches = [each for each in speed_dating.table("matches").rows if each["learner"] == FULL and each["swipes"] >= 5]
    assert max(each["match_auc"] for each in matches if each["swipes"] == 5) >= 0.70
    assert max(each["match_auc"] for each in matches if each["swipes"] == 10) >= 0.70


@pytest.mark.parametrize("name", ["movielens_small", "speed_dating"])
def test_the_default_is_not_worse_than_what_people_use_today(name: str) -> None:
    """Two libraries, after few swipes: `docs/peers.md` has the command for all of them."""
    table, protocol = beside_peers(name)
    peers = [peer for library in ("vowpal_wabbit", "implicit") for each in peers_of(library) for peer in with_appeal(each)]
    trial = Trial(table, protocol)
    ours = contenders(trial, [ALONE], tick=lambda _: None)
    ranked = frozen(trial, ours, protocol.times, trial.tested, advance=lambda _: None)
    found = beside(trial, ours, ranked, peers, Unwatched(), time.perf_counter)
    for peer in peers:
        leads = found.leads(DEFAULT, peer.name)
        if peer.individual:
            assert all(gap.low > -MARGIN for gap in leads), peer.name
            assert found.better_from(DEFAULT, peer.name) is not None, peer.name
        elif peer.name == BPR:
            assert all(gap.above_zero for t, gap in zip(protocol.times, leads, strict=True) if t <= 20)


def beside_peers(name: str) -> tuple[SwipeTable, Protocol]:
    folder = needed(name)
    pytest.importorskip("vowpalwabbit", reason="peers need: pip install -e '.[bench]'")
    files = folder / "swipes.csv", folder / "candidates.csv"
    if name == "speed_dating":
        return read_swipes(*files, ColumnNames(time="order"), ("wave",)), Protocol(times=(0, 5, 10), rest=2, split="wave")
    return read_swipes(*files), Protocol(times=(5, 20), rest=30, at_least=60, appeal_at="first")


def test_nothing_looks_ahead(movielens: Evaluation, speed_dating: Evaluation) -> None:
    assert movielens.sound
    assert speed_dating.sound
