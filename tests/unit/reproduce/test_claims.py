"""Each verdict follows from what was measured, and can come out either way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.reproduce.claims import DAMPED, Mathematics, Measured, claim_rows
from kaczmatch.reproduce.desiderata import desiderata_verdicts
from kaczmatch.reproduce.published import CANNOT_TELL, FALSE, MISLEADING, REPRODUCED, Difference
from kaczmatch.reproduce.study import RULES

LEVEL, SEEDS = 0.5, np.array([-0.001, 0.0005, 0.001, -0.0005, 0.0])
Key = tuple[str, str, str]
MATHEMATICS = Mathematics(
    prior_weight=1e-7, step=0.05, rounding=0.0, rates=(0.03, 0.06), damping=0.5, apart=0.0, top=0.9, two_dislikes=-0.5
)


def measured(levels: Mapping[Key, float] | None = None, **mathematics: Any) -> Measured:
    """Everything at one level, but for what is named; seeds differ a little, and together."""
    names = (*RULES, "nk-unit", "all-ones", "probit-diag", DAMPED)
    seeds = {
        (condition, name, metric): LEVEL + SEEDS
        for condition in ("paper", "honest", "noise", "32, rows", "16, rows", "16, cosine", "16, rows, lost", "16, cosine, lost")
        for name in names
        for metric in ("align_at_20", "final_alignment", "delta_s", "centred", "0.1", "0.35", "at_200", "at_3000", "like_rate")
    }
    chosen = {key: level + SEEDS * (1.0 + place % 3) for place, (key, level) in enumerate((levels or {}).items())}
    return Measured(replace(MATHEMATICS, **mathematics), seeds | chosen, clean_likes=0.9, swipes=6_400, decides=True)


def at(condition: str, name: str, metric: str, level: float) -> dict[Key, float]:
    return {(condition, name, metric): level}


def six(condition: str, metric: str, level: float) -> dict[Key, float]:
    return {(condition, name, metric): level for name in RULES}


FLAT, LEARNED = at("paper", "block-nk", "centred", 0.0), at("paper", "block-nk", "centred", 0.3)
STEADY = at("honest", "block-nk", "delta_s", 0.6)
LOW, HIGH = 0.2, 0.8
ROBUST = at("noise", "block-nk", "0.1", 0.85) | at("noise", "block-nk", "0.35", HIGH)
SPOILT = six("noise", "0.1", LEVEL) | six("noise", "0.35", 0.3)

MATHEMATICAL: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {
    1: ({"prior_weight": 1e-7}, {"prior_weight": 0.1}),
    2: ({"step": 0.09}, {"step": 0.17}),
    3: ({"rounding": 1e-16}, {"rounding": 1e-3}),
    4: ({"rates": (0.02, 0.04)}, {"rates": (0.03, 0.03)}),
    5: ({"damping": 0.5}, {"damping": 0.97}),
    6: ({"apart": 1e-16}, {"apart": 1e-3}),
    7: ({"top": 1.0}, {"top": 15.0}),
    8: ({"two_dislikes": -0.5}, {"two_dislikes": 0.5}),
}
EXPERIMENTS: dict[int, tuple[dict[Key, float], dict[Key, float]]] = {
    9: (at("paper", "block-nk", "align_at_20", HIGH), at("paper", "ogd", "align_at_20", HIGH)),
    10: (at("honest", "block-nk", "final_alignment", HIGH), at("honest", "tk", "final_alignment", HIGH)),
    11: (
        at("paper", "nk", "align_at_20", LOW) | at("honest", "nk-unit", "final_alignment", LOW),
        at("paper", "nk", "align_at_20", HIGH),
    ),
    12: (at("paper", "tk", "align_at_20", LEVEL), at("paper", "tk", "align_at_20", HIGH)),
    13: (STEADY | LEARNED, at("honest", "tk", "delta_s", HIGH)),
    14: (
        at("paper", "tk", "final_alignment", HIGH),
        six("paper", "centred", 0.0) | at("paper", "all-ones", "final_alignment", HIGH),
    ),
    15: (at("honest", DAMPED, "final_alignment", LOW), at("honest", "tk", "final_alignment", HIGH)),
    16: (SPOILT | ROBUST | LEARNED, at("noise", "block-nk", "0.35", LOW)),
    17: (at("noise", "block-tk", "0.35", LEVEL), at("noise", "block-tk", "0.35", LOW)),
    18: (SPOILT | at("noise", "nk", "0.1", 0.4) | at("noise", "nk", "0.35", 0.39), at("noise", "nk", "0.35", LOW)),
    19: (at("16, cosine", "block-nk", "at_3000", HIGH), at("16, cosine", "block-nk", "at_3000", LOW)),
    20: (
        at("16, cosine", "block-nk", "like_rate", 0.45) | at("32, rows", "block-nk", "like_rate", 0.8),
        at("16, cosine", "block-nk", "like_rate", 0.4) | at("32, rows", "block-nk", "like_rate", 0.4),
    ),
    21: (at("16, cosine", "block-nk", "at_200", LOW), at("16, cosine", "block-nk", "at_200", HIGH)),
    22: (at("16, cosine, lost", "block-nk", "at_200", LOW), at("16, cosine, lost", "block-nk", "at_200", HIGH)),
}


def verdict(number: int, found: Measured) -> str:
    return claim_rows(found)[number - 1]["verdict"]


def test_every_claim_is_here() -> None:
    assert sorted(MATHEMATICAL | EXPERIMENTS) == list(range(1, len(claim_rows(measured())) + 1))


@pytest.mark.parametrize("number", MATHEMATICAL)
def test_what_is_computed_can_hold_and_be_false(number: int) -> None:
    holds, false = MATHEMATICAL[number]
    assert verdict(number, measured(**holds)) == REPRODUCED
    assert verdict(number, measured(**false)) == FALSE


@pytest.mark.parametrize("number", EXPERIMENTS)
def test_what_is_measured_can_hold_and_be_false(number: int) -> None:
    holds, false = (measured(levels) for levels in EXPERIMENTS[number])
    assert verdict(number, holds) == REPRODUCED
    assert verdict(number, false) == FALSE
    assert verdict(number, replace(holds, decides=False)) == verdict(number, replace(false, decides=False)) == CANNOT_TELL


@pytest.mark.parametrize("number", [9, 10, 13, 16, 18, 21, 22])
def test_what_chance_may_explain_cannot_be_told(number: int) -> None:
    assert verdict(number, measured()) == CANNOT_TELL


@pytest.mark.parametrize(
    ("number", "levels"),
    [
        (11, at("paper", "nk", "align_at_20", LOW) | at("honest", "nk-unit", "final_alignment", HIGH)),
        (13, STEADY | FLAT),
        (15, at("honest", DAMPED, "final_alignment", HIGH)),
        (16, SPOILT | ROBUST | FLAT),
        (19, {}),
    ],
)
def test_a_number_can_come_out_and_mislead(number: int, levels: dict[Key, float]) -> None:
    assert verdict(number, measured(levels)) == MISLEADING


def test_an_interval_over_seeds() -> None:
    found = Difference.of(np.array([0.1, 0.2, 0.3]))
    assert found.low == pytest.approx(0.2 - 4.302653 * 0.1 / np.sqrt(3.0))
    assert found.high == pytest.approx(0.2 + 4.302653 * 0.1 / np.sqrt(3.0))
    assert str(Difference.of(np.array([0.1]))) == "+0.100 (one seed)"


TK = {"D2_auc_after_15": 0.7, "D2_gain_over_all_ones": 0.1, "D2_error": 0.01, "D3_turn_without_an_early_swipe": 3.0}
TK |= {"D3_turn_without_a_late_swipe": 3.0, "D4_norm_at_the_start": 1.0, "D4_norm_at_the_end": 0.5, "D5_settings": 3}
CHEAP = {"d_60_people_1000": 10.0, "d_240_people_1000": 20.0, "d_60_people_100000": 10.0}


def desiderata(nk_early: float = 0.001, longest: float = 0.1, **changes: float) -> list[str]:
    """The verdicts on TK, where NK's early swipes matter so much beside its late ones."""
    tk = TK | {name: value for name, value in changes.items() if name in TK}
    nk = TK | {"D3_turn_without_an_early_swipe": nk_early * TK["D3_turn_without_a_late_swipe"]}
    cost = CHEAP | {name: value for name, value in changes.items() if name in CHEAP}
    return [row["verdict"] for row in desiderata_verdicts({"tk": tk, "nk": nk}, cost, longest)]


def test_every_desideratum_can_hold_and_be_false() -> None:
    assert desiderata() == [REPRODUCED] * 5
    worse = {"d_60_people_100000": 90.0, "D2_gain_over_all_ones": -0.1, "D3_turn_without_an_early_swipe": 0.1}
    assert desiderata(longest=0.17, **worse, D4_norm_at_the_end=50.0) == [FALSE] * 5
    assert desiderata(nk_early=0.5)[2] == MISLEADING
    assert desiderata(D2_error=0.2)[1] == CANNOT_TELL
