"""The check on shuffled decisions as a table and words."""

from __future__ import annotations

from kaczmatch.evaluation.measures.shuffled_labels import ShuffledCheck
from kaczmatch.report.results import ReportPart, Table

VERDICTS = {"sound": "good", "leaks": "bad"}


def shuffled_part(check: ShuffledCheck) -> ReportPart:
    rows = [
        {
            "learner": each.name,
            "auc": each.auc.mean,
            "low": each.auc.low,
            "high": each.auc.high,
            "verdict": "sound" if each.sound else "leaks",
        }
        for each in check.scores
    ]
    verdict = (
        "As it must be"
        if check.sound
        else "NOT as it must be: something looks ahead, and no number of this report can be trusted"
    )
    words = [
        f"The same run with every user's decisions in a random order, so that there is nothing to learn. {verdict}: the AUC farthest from 0.5 is "
        f"{check.farthest.auc.mean:.3f} ({check.farthest.name})."
    ]
    note = f"{check.users:,} users, mean over numbers of swipes."
    return ReportPart(
        "check", "Is the test itself fair?", words, [Table("shuffled", "Shuffled decisions: every AUC must be 0.5", rows, note)]
    )
