"""Any mix of learners in any condition."""

from __future__ import annotations

from collections.abc import Mapping

from kaczmatch.charts.lines import line_chart
from kaczmatch.laboratory.curves import curve_rows
from kaczmatch.laboratory.metrics_table import metrics_rows
from kaczmatch.laboratory.study import Laboratory
from kaczmatch.learners.contract import Learner
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation.world import Condition


def simulated_part(condition: Condition, named: Mapping[str, Learner], laboratory: Laboratory) -> ReportPart:
    study = laboratory.run(condition, named)
    table, rows = metrics_rows(study, "simulated"), curve_rows(study.curves, condition)
    chart = line_chart(
        rows, x="swipe", y="alignment", title="Alignment over swipes", names=list(named), x_title="swipes",
        y_title="cosine to the hidden taste",
    )  # fmt: skip
    words = [
        f"{condition.people:,} people, {condition.tags} tags, a population of kind {condition.population}; {condition.users} users with {condition.rounds} "
        f"sessions of {condition.cards} cards by {condition.sampling} sampling; {condition.labels} labels, {condition.label_noise:.0%} of them flipped; "
        f"{condition.prior} prior."
    ]
    curves = Table("simulated-curves", "Alignment over swipes", rows, in_report=False)
    return ReportPart(
        "simulated", "Simulation", words, [table, curves], [Figure("simulated", chart, "± one standard deviation over users")]
    )
