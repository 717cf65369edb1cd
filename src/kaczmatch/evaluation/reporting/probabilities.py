"""Progressive validation as tables, words and a chart."""

from __future__ import annotations

import math

from kaczmatch.charts.evaluation import reliability_chart
from kaczmatch.evaluation.measures.progressive_validation import WARM, ProbabilityScores
from kaczmatch.report.results import Figure, ReportPart, Table

DRAWN = 6


def probability_part(found: ProbabilityScores) -> ReportPart:
    bins = _reliability_table(found)
    first = found.scores[0]
    chart = reliability_chart(
        bins.rows, names=[each.name for each in found.scores[:DRAWN]], title=f"Predicted and observed, after {WARM} swipes"
    )
    error = first.warm_calibration_error
    words = [
        f"Learners that predict how likely a like is do so before each swipe and learn from it afterwards. {first.name} loses least: {first.log_loss.mean:.3f} nats "
        f"per swipe ({first.over_own_rate.mean:+.3f} from the user's own rate)"
        + (f", calibration error {error:.3f} after {WARM} swipes." if math.isfinite(error) else ".")
    ]
    figures = [Figure("reliability", chart, "Ten bins of equal width, all users together; whiskers: 95 %")] if bins.rows else []
    return ReportPart("probabilities", "Can its probabilities be believed?", words, [_loss_table(found), bins], figures)


def _loss_table(found: ProbabilityScores) -> Table:
    rows = [
        {
            "learner": each.name,
            "log_loss": each.log_loss.mean,
            "over_own_rate": each.over_own_rate.mean,
            "low": each.over_own_rate.low,
            "high": each.over_own_rate.high,
            "calibration_error": each.calibration_error,
            f"calibration_error_after_{WARM}": each.warm_calibration_error,
        }
        for each in found.scores
    ]
    note = (
        f"Nats per swipe, mean over {found.users:,} users; the difference is from the user's own like rate so far, negative is better. Calibration "
        f"error: mean distance between what was predicted and what happened, ten bins of equal width, all {found.swipes:,} swipes together."
    )
    return Table("probabilities", "Probabilities predicted before each swipe", rows, note)


def _reliability_table(found: ProbabilityScores) -> Table:
    rows = [{"learner": each.name, **one._asdict()} for each in found.scores for one in each.bins]
    return Table("reliability", f"Predicted and observed, after {WARM} swipes", rows, in_report=False)
