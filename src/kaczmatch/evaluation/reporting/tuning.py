"""What tuning found, as a table, words and a chart."""

from __future__ import annotations

from kaczmatch.charts.evaluation import tuning_chart
from kaczmatch.evaluation.measures.calibration import MATTERS
from kaczmatch.evaluation.tune import GRID, TuningResult
from kaczmatch.report.results import Figure, ReportPart, Table


def tuning_words(result: TuningResult) -> list[str]:
    """What to do, then why."""
    slug, default, best, gain = result.default.learner.slug, result.default, result.best, result.gain
    differing = [f"{name} = {best.value(name):g}" for name in GRID if best.value(name) != default.value(name)]
    if not differing:
        return [
            f"Keep the defaults of {slug}.",
            f"No other setting predicts the next swipe better, beyond error ({result.compared_on:,} users, paired 95 % intervals).",
        ]
    found = f"{', '.join(differing)}: {gain.mean:+.4f} nats per swipe ({gain.low:+.4f} to {gain.high:+.4f}) on {result.checked_on:,} users it was not chosen on"
    if result.changed:
        return [f"Change {slug}: {', '.join(differing)}.", f"Against the defaults, {found}; negative is better."]
    why = f"is real but too small to matter (below {MATTERS:g})" if gain.below_zero else "is within error"
    return [f"Keep the defaults of {slug}.", f"What looked best {why}: {found}."]


def tuning_part(result: TuningResult) -> ReportPart:
    rows = [
        {
            "setting": each.setting,
            "value": f"{each.value:g}",
            "difference": 100.0 * each.difference.mean,
            "low": 100.0 * each.difference.low,
            "high": 100.0 * each.difference.high,
            "role": each.role,
        }
        for each in result.trials
    ]
    chart = tuning_chart(rows, settings=result.varied, title="One setting varied at a time, the others at the best so far")
    caption = "Loss before each swipe, user by user; below the line is better; 95 % intervals, paired bootstrap over users"
    tables = [Table("tuning", "Nats per hundred swipes over the default", rows, "Negative is better.")]
    words = [
        "There are three groups of users, and nobody is in two. The population's prior is fitted on the first. Settings are compared on the second by the loss of "
        "probabilities before each swipe. The best is compared with the defaults once, on the third."
    ]
    return ReportPart("tuning", "Settings tried", words, tables, [Figure("tuning", chart, caption)])
