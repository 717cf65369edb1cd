"""The check on shuffled decisions as a table and words."""

from __future__ import annotations

from kaczmatch.evaluation.measures.shuffled_labels import FALSE_ALARMS, HALF_WIDTH, ShuffledCheck
from kaczmatch.report.results import ReportPart, Table

VERDICTS = {"sound": "good", "leak": "bad", "cannot tell": "open"}


def shuffled_part(check: ShuffledCheck) -> ReportPart:
    rows = [
        {
            "learner": each.name,
            "auc": each.auc.mean,
            "low": each.auc.low,
            "high": each.auc.high,
            "verdict": each.verdict,
        }
        for each in check.scores
    ]
    words = [
        "The same run with the decisions of every tested user in a random order, so that there is nothing to learn. "
        f"{_verdict(check)} The AUC farthest from 0.5 is {check.farthest.auc.mean:.3f} ({check.farthest.name})."
    ]
    note = (
        f"{check.users:,} users, {check.shuffles:,} shuffles, mean over numbers of swipes. All intervals hold at once with "
        f"{1.0 - FALSE_ALARMS:.1%} probability."
    )
    return ReportPart(
        "check", "Is the test itself fair?", words, [Table("shuffled", "Shuffled decisions: every AUC must be 0.5", rows, note)]
    )


def _verdict(check: ShuffledCheck) -> str:
    if check.verdict == "leak":
        return "NOT as it must be: something looks ahead, and no number of this report can be trusted."
    if check.verdict == "sound":
        return f"As it must be, to within {check.widest:.3f}."
    return (
        f"Cannot tell: the log is too small for this test. It would see a leak of {2.0 * check.widest:.3f}, and should see "
        f"{2.0 * HALF_WIDTH:.3f}."
    )
