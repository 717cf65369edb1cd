"""The ranking test as tables, words and charts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from kaczmatch.charts.evaluation import difference_chart
from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import ALL_ONES, APPEAL, OWN_RATE, RANDOM, TOP, HoldoutRanking
from kaczmatch.evaluation.protocol.contenders import TRAITS
from kaczmatch.evaluation.reporting.words import listed, verdict
from kaczmatch.report.results import Figure, ReportPart, Table

DRAWN = 9  # lines that a figure can hold
WITHOUT = "probit-diag + population"  # what traits are compared with where nobody has said anything


def ranking_part(scores: BootstrapScores) -> ReportPart:
    tables = ranking_tables(scores)
    best = sorted(scores.names, key=lambda name: -scores.mean_auc(name).mean)
    names = [*[name for name in best if name not in (APPEAL, ALL_ONES, OWN_RATE, RANDOM)][: DRAWN - 2], APPEAL, ALL_ONES]
    chart = line_chart(
        auc_points(scores, names), x="swipes", y="auc", title="How well the rest is ranked", names=names, x_title="swipes learned from",
        y_title="AUC, mean over users", height=340,
    )  # fmt: skip
    words = [
        "For each user, learn on the first swipes, freeze, and rank the candidates of all that follow. An AUC of 0.5 is chance, 1 is perfect. Appeal (how "
        "much others liked a candidate) and traits count what the protocol says. The population's prior is fitted on other users than it is tested on."
    ]
    return ReportPart("ranking", "Does it learn?", words, tables, [Figure("auc", chart, "95 % intervals over users, bootstrap")])


def auc_points(scores: BootstrapScores, names: list[str]) -> list[dict[str, Any]]:
    """One row per name and number of swipes, as line charts take them."""
    return [
        {"learner": name, "swipes": t, **dict(zip(("auc", "low", "high"), scores.auc_at(place, name), strict=True))}
        for place, t in enumerate(scores.times)
        for name in names
    ]


def ranking_tables(scores: BootstrapScores) -> list[Table]:
    ranking, cohort = scores.ranking, scores.ranking.cohort
    counts = [int(ranking.testable(place).sum()) for place in range(len(ranking.times))]
    same = f"The same {scores.users:,} users at every number of swipes."
    everyone = "Everybody who can be tested: " + ", ".join(
        f"{count:,} users after {t}" for t, count in zip(ranking.times, counts, strict=True)
    )
    return [
        _pivot(ranking, ranking.auc[:, cohort], "auc", "AUC on the swipes that follow", same),
        _pivot(ranking, ranking.ndcg[:, cohort], "ndcg", f"nDCG of the first {TOP}", same),
        *_unknown_tables(ranking),
        replace(
            _pivot(ranking, ranking.auc, "auc-everyone", "AUC of everybody who can be tested at each number", f"{everyone}."),
            in_report=False,
        ),
        ranking_table(scores),
    ]


def _unknown_tables(ranking: HoldoutRanking) -> list[Table]:
    """The ranking of candidates without history, where there are any that were liked and passed."""
    counts = [int(np.isfinite(each).all(axis=1).sum()) for each in ranking.unknown_auc]
    if not all(counts):
        return []
    note = "Users with a like and a pass among them: " + ", ".join(
        f"{count:,} after {t}" for t, count in zip(ranking.times, counts, strict=True)
    )
    title = "AUC among candidates about whom nobody else had decided yet"
    return [_pivot(ranking, ranking.unknown_auc, "auc-unknown", title, f"{note}."), *_unknown_leads(ranking)]


def _unknown_leads(ranking: HoldoutRanking) -> list[Table]:
    """What it costs or gains there to hear of others: every learner that does, minus the one that does not."""
    pairs = [(name, name.removesuffix(" + appeal")) for name in ranking.names if name.endswith(" + appeal")]
    pairs = [each for each in [*pairs, (TRAITS, WITHOUT)] if set(each) <= set(ranking.names)]
    reach, rows = float(ndtri(1.0 - 0.025 / len(ranking.times))), []
    for name, other in pairs:
        for t, values in zip(ranking.times, ranking.unknown_auc, strict=True):
            lead = np.diff(values[:, [ranking.names.index(other), ranking.names.index(name)]], axis=1)
            lead = lead[np.isfinite(lead)]
            error = reach * float(lead.std(ddof=1)) / math.sqrt(len(lead)) if len(lead) > 1 else math.nan
            mean = float(lead.mean())
            row = {"learner": name, "without": other, "swipes": t, "users": len(lead), "lead": mean}
            rows.append(row | {"low": mean - error, "high": mean + error})
    note = "Differences in AUC, user by user, with 95 % intervals that hold for all numbers of swipes at once (Bonferroni)."
    title = "Candidates about whom nobody else had decided yet: hearing of others, minus not hearing"
    return [Table("unknown-leads", title, rows, note, in_report=False)] if rows else []


def _pivot(ranking: HoldoutRanking, values: Matrix, name: str, title: str, note: str) -> Table:
    """One row per contender, one column per number of swipes; best mean first."""
    means = np.array([each[np.isfinite(each).all(axis=1)].mean(axis=0) for each in values])
    order = np.argsort(-means.mean(axis=0), kind="stable")
    rows = [
        {"learner": ranking.names[column], **{f"after_{t}": float(means[place, column]) for place, t in enumerate(ranking.times)}}
        for column in order
    ]
    return Table(name, title, rows, note)


def ranking_table(scores: BootstrapScores) -> Table:
    """One row per contender and number of swipes, with intervals and paired differences."""
    ranking = scores.ranking
    ndcg = ranking.ndcg[:, ranking.cohort].mean(axis=1) if scores.users else np.full(ranking.ndcg.shape[::2], np.nan)
    everyone = [each[np.isfinite(each).all(axis=1)] for each in ranking.auc]
    rows = []
    for place, t in enumerate(ranking.times):
        for column, name in enumerate(ranking.names):
            row: dict[str, Any] = {"learner": name, "swipes": t, "users": scores.users}
            row |= dict(zip(("auc", "low", "high"), scores.auc_at(place, name), strict=True))
            for key, other in (("appeal", APPEAL), ("all_ones", ALL_ONES)):
                if other in ranking.names:
                    gap = scores.difference_at(place, name, other)
                    row |= {f"over_{key}": gap.mean, f"over_{key}_low": gap.low, f"over_{key}_high": gap.high}
            row |= {"ndcg": float(ndcg[place, column])}
            row |= {"auc_everyone": float(everyone[place][:, column].mean()), "users_everyone": len(everyone[place])}
            rows.append(row)
    note = f"The same {scores.users:,} users at every number of swipes."
    return Table("ranking", "AUC with intervals and paired differences", rows, note, in_report=False)


def difference_part(scores: BootstrapScores) -> ReportPart:
    names = [name for name in scores.names if name not in (OWN_RATE, RANDOM)]
    tables, figures = [], []
    for key, base in (("appeal", APPEAL), ("all-ones", ALL_ONES)):
        gaps = sorted(
            ((scores.mean_difference(name, base), name) for name in names if name != base), key=lambda each: -each[0].mean
        )
        rows = [
            {"learner": name, "mean": gap.mean, "low": gap.low, "high": gap.high, "verdict": verdict(gap)} for gap, name in gaps
        ]
        title = f"Difference in AUC from {base}, mean over all numbers of swipes"
        tables.append(Table(f"over-{key}", title, rows, in_report=False))
        chart = difference_chart(rows, title=f"Difference from {base}", x_title="AUC, user by user")
        figures.append(Figure(f"over-{key}", chart, "95 % intervals, paired bootstrap over users"))
    better = [name for name in names if name != APPEAL and scores.mean_difference(name, APPEAL).above_zero]
    better.sort(key=lambda name: -scores.mean_difference(name, APPEAL).mean)
    words = [
        "Differences are taken user by user, then averaged: users are easy or hard to rank for all learners alike, and pairing takes that out. "
        f"Better than appeal alone: {listed(better, ', ')}."
    ]
    return ReportPart("differences", "Is that more than luck?", words, tables, figures)
