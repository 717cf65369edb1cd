"""The test of matches as tables, words and a chart."""

from __future__ import annotations

from typing import Any

from kaczmatch.charts.lines import line_chart
from kaczmatch.evaluation.measures.match_scores import EVERYBODY, FORWARD, TOPS, MatchScore, MatchScores
from kaczmatch.recommend.scoring import FUSIONS
from kaczmatch.report.results import Figure, ReportPart, Table

DRAWN = 6


def match_part(found: MatchScores) -> ReportPart:
    title = "Does it find matches?"
    if not found.scores:
        why = (
            "No match can be tested. Pairs count where neither side has decided when a user has made the tested number of swipes, "
            "some of them must become matches and some not. Where everybody is asked about everybody at once, no pair is still open."
        )
        return ReportPart("matches", title, [why])
    ranked = found.best_fusions()
    best, last = ranked[0], max(found.times)
    words = [
        "Candidates of this log swipe too. A match is a like from both. A pair is ranked by a fusion of what each side's state says of the other, at a moment when "
        f"neither had decided. After {last} swipes {best.name} with the {best.fusion} fusion has a match AUC of {best.match_auc:.3f}; the best that looks at "
        f"one side only has {found.best_auc(FORWARD, last):.3f}."
    ]
    drawn = [each.name for each in ranked][:DRAWN]
    lines = [
        {"learner": each.name, "swipes": each.swipes, "match_auc": each.match_auc}
        for each in found.scores
        if each.name in drawn and each.fusion == best.fusion and each.side == EVERYBODY
    ]
    chart = line_chart(
        lines, x="swipes", y="match_auc", title=f"Match AUC, {best.fusion} fusion", names=drawn, x_title="swipes learned from",
        y_title="match AUC", height=260,
    )  # fmt: skip
    return ReportPart("matches", title, words, _tables(found, ranked), [Figure("matches", chart, "All open pairs together")])


def _tables(found: MatchScores, ranked: list[MatchScore]) -> list[Table]:
    """Every number as a file; for reading, the best fusion of each contender at the last number of swipes."""
    k = TOPS[1]
    best = [
        {
            "learner": each.name,
            "fusion": each.fusion,
            "match_auc": each.match_auc,
            "auc_per_user": each.auc_per_user.mean,
            f"precision_at_{k}": each.precision[k],
            f"success_at_{k}": each.success[k],
        }
        for each in ranked
    ]
    fusions = [{"fusion": key, **{f"after_{t}": found.best_auc(key, t) for t in found.times}} for key in (FORWARD, *FUSIONS)]
    return [
        Table("matches-best", f"Matches after {max(found.times)} swipes, each learner under its best fusion", best),
        Table("fusions", "Match AUC of the best learner under each fusion", fusions),
        Table(
            "matches",
            "Matches: every learner, fusion, number of swipes and side",
            [_row(each) for each in found.scores],
            in_report=False,
        ),
    ]


def _row(each: MatchScore) -> dict[str, Any]:
    row: dict[str, Any] = {"learner": each.name, "fusion": each.fusion, "swipes": each.swipes, "side": each.side}
    row |= {"pairs": each.pairs, "matches": each.matches, "match_auc": each.match_auc}
    row |= {"auc_per_user": each.auc_per_user.mean, "low": each.auc_per_user.low, "high": each.auc_per_user.high}
    for k in TOPS:
        row |= {f"precision_at_{k}": each.precision[k], f"success_at_{k}": each.success[k]}
    return row
