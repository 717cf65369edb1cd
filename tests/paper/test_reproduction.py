"""The paper's numbers come out under the paper's condition, and what the honest condition shows instead. Means of three seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import calibration
import ceiling
import kaczmatch
from kaczmatch.reproduce import published
from kaczmatch.reproduce.claims import claims_part
from kaczmatch.reproduce.future_work import blocks_part, cold_start_part, convergence_part, drift_part, settled, thresholds_part
from kaczmatch.reproduce.study import CHECKPOINTS, Plan, Reproduction
from kaczmatch.reproduce.tables import metrics_part
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, PAPER, PAPER_ADAPTIVE, with_label_noise, world

pytestmark = pytest.mark.slow  # the experiments of the paper

SEEDS = 3


@pytest.fixture(scope="module")
def run() -> Reproduction:
    return Reproduction(Plan(seeds=SEEDS), lambda _: None)


def test_the_table_of_metrics_is_reproduced_but_for_align_at_20_which_is_high_in_every_row(run: Reproduction) -> None:
    found = run.metrics(PAPER)
    for name, printed in published.METRICS.items():
        assert found.mean(name, "delta_s") == pytest.approx(printed["delta_s"], abs=0.005)
        assert found.mean(name, "align_at_20") == pytest.approx(printed["align_at_20"], abs=0.02)
        assert found.mean(name, "like_rate") == pytest.approx(printed["like_rate"], abs=0.002)
    against, _ = metrics_part("paper", run).tables
    verdicts = {metric: {row["verdict"] for row in against.rows if row["metric"] == metric} for metric in published.TOLERANCE}
    assert verdicts == {"like_rate": {"reproduced"}, "delta_s": {"reproduced"}, "align_at_20": {"near, but all high"}}


@pytest.mark.parametrize("noise", [published.LABEL_NOISE[0], published.LABEL_NOISE[-1]])
def test_both_ends_of_the_noise_figure_are_reproduced(noise: float) -> None:
    place = published.LABEL_NOISE.index(noise)
    for slug in ("block-nk", "tk", "ogd"):
        learner = kaczmatch.learner(slug)
        finals = [
            trace(learner, with_label_noise(world(PAPER, seed), noise), followed=False).alignment[:, -1].mean()
            for seed in range(SEEDS)
        ]
        assert np.mean(finals) == pytest.approx(published.NOISE[slug][0 if place == 0 else 1], abs=0.02)


def test_block_nk_under_adaptive_sampling_is_reproduced() -> None:
    found = [trace(kaczmatch.learner("block-nk"), world(PAPER_ADAPTIVE, seed)) for seed in range(SEEDS)]
    at_3000 = np.mean([one.alignment[:, 2999].mean() for one in found])
    assert at_3000 == pytest.approx(published.ADAPTIVE_BLOCK_NK_AT_3000, abs=0.02)
    assert np.mean([(one.labels > 0).mean() for one in found]) == pytest.approx(published.ADAPTIVE_LIKE_RATE, abs=0.02)


def test_the_papers_labels_teach_nothing(run: Reproduction) -> None:
    found = run.metrics(PAPER)
    assert world(PAPER, 0).likes.mean() > 0.999
    for name in published.METRICS:
        assert abs(found.mean(name, "centred_at_6400")) < 0.03
        assert found.mean(name, "final_alignment") < found.mean("all-ones", "final_alignment")


# Prototype's means; TK at 6,400 was .789 there and is .776 over fifteen seeds of ours (seed deviation .006), and probit-diag had
# tags and threshold independent (.716, .811, .931, .987).
HONEST_TABLE = {
    "all-ones": (0.703, 0.703, 0.703, 0.703),
    "tk": (0.710, 0.736, 0.786, 0.776),
    "block-tk": (0.703, 0.791, 0.873, 0.775),
    "block-nk": (0.703, 0.791, 0.889, 0.904),
    "nk-unit": (0.682, 0.695, 0.874, 0.904),
    "probit-diag": (0.720, 0.821, 0.939, 0.991),
    "probit": (0.718, 0.829, 0.952, 0.994),
}


def test_the_honest_table(run: Reproduction) -> None:
    found = run.metrics(HONEST)
    for name, expected in HONEST_TABLE.items():
        for t, value in zip(CHECKPOINTS, expected, strict=True):
            assert found.mean(name, f"align_at_{t}") == pytest.approx(value, abs=0.01), (name, t)
    assert abs(found.mean("random", "auc_at_6400") - 0.5) < 0.01
    assert set(kaczmatch.LEARNERS) | {"nk-unit", "random"} == set(found.found)


def test_the_claims_and_their_verdicts(run: Reproduction) -> None:
    """Every verdict is computed; these are the ones a full run comes to."""
    (table,) = claims_part(run).tables
    verdicts = {row["says"]: row["verdict"] for row in table.rows}
    expected = {
        "with |r| = 1 normalisation leaves": "false",
        "‖v‖ grows by at most": "false",
        "Block-NK achieves the highest alignment (Align@20": "false",
        "Block-NK dominates the six on alignment": "reproduced",
        "NK fails": "reproduced but misleading",
        "TK and K-NoNorm are equivalent": "reproduced",
        "the like rate of 0.80 affects": "false",
        "Block-NK is the most robust": "cannot tell",
        "cosine subsampling substantially improves": "reproduced but misleading",
        "the like rate becomes 0.45 because": "false",
    }
    for says, verdict in expected.items():
        (found,) = [given for claim, given in verdicts.items() if claim.startswith(says)]
        assert found == verdict, says
    assert all(row["measured"] and row["command"] for row in table.rows)


def test_before_fifty_swipes_alpha_does_not_matter_and_at_fifty_it_does() -> None:
    table = cold_start_part(Reproduction(Plan(seeds=4, users=50), lambda _: None)).tables[1]
    gains = {(row["swipes"], row["learner"]): (row["alignment_gain_low"], row["alignment_gain_high"]) for row in table.rows}
    for alpha in ("0.01", "9", "30"):
        for t in (5, 10, 20):
            low, high = gains[t, f"tk, α = {alpha}"]
            assert -0.01 < low <= high < 0.01
    for alpha in ("9", "30"):
        assert gains[50, f"tk, α = {alpha}"][0] > 0.01


def test_at_a_recalibrated_threshold_labels_by_the_dot_product_carry_a_preference() -> None:
    (table,) = thresholds_part(Reproduction(Plan(seeds=1), lambda _: None)).tables
    (printed, _), (recalibrated, _), _ = (
        (row["final_centred"], row["labels"]) for row in table.rows if row["learner"] == "block-nk"
    )
    assert abs(printed) < 0.05
    assert recalibrated > 0.5


def test_where_block_nk_levels_off_and_why() -> None:
    """What the report says in words."""
    (table,) = convergence_part(Reproduction(Plan(seeds=1), lambda _: None)).tables
    levels = {(row["varied"], row["value"]): row["plateau_centred"] for row in table.rows}
    noise = [levels["label_noise", p] for p in (0.0, 0.1, 0.2, 0.3, 0.4)]
    assert noise == sorted(noise, reverse=True)
    assert levels["alpha", 0.1] < levels["alpha", 1.0] < levels["alpha", 10.0]
    sizes = {k: level for (varied, k), level in levels.items() if varied == "k"}
    assert min(sizes, key=lambda k: sizes[k]) in (48, 64)
    assert sizes[4] > sizes[32] < sizes[128]
    at_rest = [row for row in table.rows if settled(row)]
    assert len(at_rest) >= 15
    assert all(abs(row["predicted_centred"] - row["plateau_centred"]) < 0.02 for row in at_rest)


def test_nobody_beats_the_exact_posterior() -> None:
    rows = ceiling.measured(seeds=1, users=50)
    for noise in (0.1, 0.2, 0.35):
        last = {row["learner"]: row for row in rows if row["label_noise"] == noise and row["swipe"] == 400}
        for metric in ("alignment", "auc"):
            best = max(last, key=lambda name: last[name][metric])
            assert best == "exact posterior"


def test_a_replaced_taste_is_learned_anew_and_looking_for_it_costs_nothing() -> None:
    table, _ = drift_part(Reproduction(Plan(seeds=2), lambda _: None)).tables
    rows = {row["learner"]: row for row in table.rows}
    for name in ("probit", "probit-diag"):
        assert rows[name]["after_400"] > 0.80
        assert rows[f"{name}, not looking"]["after_400"] < 0.60
        assert rows[name]["end_where_nothing_changed"] > rows[f"{name}, not looking"]["end_where_nothing_changed"] - 0.01


def test_label_noise_is_learned_and_probabilities_come_true() -> None:
    rows, _ = calibration.measured(SEEDS, users=25, sessions=HONEST.sessions)
    errors = {(row["learner"], row["label_noise"], row["swipe"]): row["calibration_error"] for row in rows}
    for name in ("probit", "probit-diag"):
        assert all(errors[name, 0.2, t] <= 0.03 for t in (20, 200, 1_000, 6_400))
        for noise in (0.05, 0.2, 0.35):  # of which nobody is told
            assert max(errors[name, noise, 1_000], errors[name, noise, 6_400]) <= 0.025
        assert errors[f"{name}, fixed ε", 0.35, 6_400] > 0.05


@pytest.mark.parametrize("slug", ["probit", "probit-diag"])
def test_probabilities_come_true_from_the_twentieth_swipe_on(slug: str) -> None:
    """With four times as many users, who only swipe a little: the level of 25 is itself a matter of luck."""
    learner, times = kaczmatch.learner(slug), [20, 50, 100]
    assert isinstance(learner, kaczmatch.BeliefLearner)
    each = [calibration.forecasts(learner, world(replace(HONEST, sessions=4), seed), times) for seed in range(SEEDS)]
    for t in times:
        assert calibration.expected_error(np.concatenate([pairs[t] for pairs in each])) <= 0.03


def test_the_same_defaults_do_under_heavy_noise() -> None:
    finals = [
        trace(kaczmatch.learner("probit"), with_label_noise(world(HONEST, seed), 0.35), followed=False).alignment[:, -1].mean()
        for seed in range(SEEDS)
    ]
    assert np.mean(finals) >= 0.96


def test_adaptive_blocks_are_no_worse_than_their_models() -> None:
    (table,) = blocks_part(Reproduction(Plan(seeds=2), lambda _: None)).tables
    rows = {(row["swipes_a_session"], row["learner"]): row for row in table.rows}
    for size, model in ((2, "tk"), (5, "tk"), (32, "block-nk")):
        for metric in ("align_at_20", "align_at_200", "align_at_1000", "align_at_3200"):
            assert rows[size, "block-adaptive"][metric] >= rows[size, model][metric] - 0.002
