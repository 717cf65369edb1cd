"""The whole evaluation of a log, as parts of a report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kaczmatch.charts.evaluation import difference_chart, reliability_chart
from kaczmatch.charts.lines import line_chart
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Column
from kaczmatch.evaluation.advice import Advice, advice
from kaczmatch.evaluation.beside import ALONE
from kaczmatch.evaluation.contenders import Contender, contenders
from kaczmatch.evaluation.foretold import WARM, foretold, loss_table, reliability_table
from kaczmatch.evaluation.frozen import APPEAL, OWN_RATE, RANDOM, frozen, usable_times
from kaczmatch.evaluation.matches import FORWARD, match_rows, match_tables
from kaczmatch.evaluation.mutual import Pairs, mutual, viewers_after
from kaczmatch.evaluation.peers.contract import Clock, Peer
from kaczmatch.evaluation.peers_part import peers_part
from kaczmatch.evaluation.progress import Progress
from kaczmatch.evaluation.shuffled import MOST_USERS, check_table, shuffled, sound
from kaczmatch.evaluation.standing import ALL_ONES, BootstrapScores, ranking_tables
from kaczmatch.evaluation.trial import Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.report.results import Figure, Part, Table

FEWEST_USERS = 20  # tested at a number of swipes, below which a log says little there; of a small log, half of them
FEWEST_SHARE = 0.1  # of all tested users, likewise
DRAWN = 9  # lines that a figure can hold


@final
@dataclass(frozen=True, slots=True)
class Choices:
    """What to compare, and how much of it."""

    learners: Sequence[str] = tuple(LEARNERS)
    settings: Mapping[str, Mapping[str, object]] | None = None  # by learner, where not the defaults
    both_ways: bool | None = None  # whether candidates swipe too; None: as the log looks
    side: str | None = None  # the column that says who is who, where both sides are to be told apart
    peers: Sequence[Peer] = ()  # other libraries' learners to put beside ours
    all_times: bool = False  # test at every number of swipes that was asked for, however few users have so many


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was found: a recommendation, and the parts that show it."""

    advice: Advice
    sound: bool  # whether shuffled answers came out at 0.5
    parts: Sequence[Part]

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for part in self.parts for table in part.tables if table.name == name)


def evaluate(trial: Trial, choices: Choices, progress: Progress, clock: Clock = time.perf_counter) -> Evaluation:
    """Every learner and baseline on one log, and the peers; `clock` times their swipes."""
    pairs = Pairs(trial)
    both_ways = pairs.go_both_ways if choices.both_ways is None else choices.both_ways
    if both_ways and not (pairs.answer >= 0).any():
        raise InvalidInput("both_ways", "no candidate of the log swipes on who swiped on them; leave --both-ways out")
    times = _times(trial, choices)
    learners = dict.fromkeys([ALL_ONES, *([ALONE] if choices.peers else []), *choices.learners])

    def contend(one: Trial) -> list[Contender]:
        return contenders(one, list(learners), choices.settings, tick=lambda _: progress.advance())

    progress.stage("population", len(learners))
    compared = contend(trial)
    progress.stage("learn, freeze, rank", len(times) * len(trial.tested))
    found = frozen(trial, compared, times, trial.tested, advance=progress.advance)
    standing = BootstrapScores.of(found, _rng(trial, 10))
    if standing.users < 2:
        raise InvalidInput("at", f"only {standing.users} users can be tested after all of {times} swipes; name fewer with --at")
    progress.stage("probabilities", sum(isinstance(each.learner, ProbabilisticLearner) for each in compared))
    parts = [_ranking(standing), _differences(standing), _probabilities(trial, compared, progress)]
    if choices.peers:
        parts.append(peers_part(trial, compared, found, choices.peers, progress, clock))
    if both_ways:
        parts.append(_matches(trial, compared, times, choices.side, progress))
    progress.stage("shuffled answers", len(learners) + len(times) * min(len(trial.tested), MOST_USERS))
    check = check_table(shuffled(trial, contend, times, advance=progress.advance), _rng(trial, 12))
    parts.append(_check(check))
    return Evaluation(advice(standing, compared), sound(check), parts)


def _times(trial: Trial, choices: Choices) -> list[int]:
    tested = len(trial.tested)
    least = 1 if choices.all_times else max(2, min(FEWEST_USERS, tested // 2), int(FEWEST_SHARE * tested))
    return usable_times(trial, least)


def _rng(trial: Trial, stream: int) -> np.random.Generator:
    return np.random.default_rng([trial.protocol.seed, stream])


def _ranking(standing: BootstrapScores) -> Part:
    tables = ranking_tables(standing)
    best = [row["learner"] for row in tables[0].rows]
    names = [*[name for name in best if name not in (APPEAL, ALL_ONES, OWN_RATE, RANDOM)][: DRAWN - 2], APPEAL, ALL_ONES]
    rows = [row for row in tables[-1].rows if row["learner"] in names]
    chart = line_chart(
        rows, x="swipes", y="auc", title="How well the rest is ranked", names=names, x_title="swipes learned from", y_title="AUC, mean over users",
        height=340,
    )  # fmt: skip
    words = [
        "For each user, learn on the first swipes, freeze, and rank the candidates of all that follow. An AUC of 0.5 is chance, 1 is perfect. Appeal (how "
        "much others liked a candidate) counts only what others had decided before; the population's prior is fitted on users who are not tested."
    ]
    return Part("ranking", "Does it learn?", words, tables, [Figure("auc", chart, "95 % intervals over users, bootstrap")])


def _differences(standing: BootstrapScores) -> Part:
    names = [name for name in standing.found.names if name not in (OWN_RATE, RANDOM)]
    tables, figures = [], []
    for key, base in (("appeal", APPEAL), ("all-ones", ALL_ONES)):
        rows = []
        for name in names:
            if name != base:
                gap = standing.lead(name, base)
                verdict = "better" if gap.above_zero else "worse" if gap.below_zero else "no difference seen"
                rows.append({"learner": name, "mean": gap.mean, "low": gap.low, "high": gap.high, "verdict": verdict})
        rows.sort(key=lambda row: -float(str(row["mean"])))
        tables.append(
            Table(f"over-{key}", f"Difference in AUC from {base}, mean over all numbers of swipes", rows, in_report=False)
        )
        title, axis = f"Difference from {base}", "AUC, user by user"
        figures.append(
            Figure(
                f"over-{key}", difference_chart(rows, title=title, x_title=axis), "95 % intervals, paired bootstrap over users"
            )
        )
    better = [row["learner"] for row in tables[0].rows if row["verdict"] == "better"]
    words = [
        "Differences are taken user by user, then averaged: users are easy or hard to rank for all learners alike, and pairing takes that out. "
        f"Better than appeal alone: {', '.join(better) or 'nobody'}."
    ]
    return Part("differences", "Is that more than luck?", words, tables, figures)


def _probabilities(trial: Trial, compared: Sequence[Contender], progress: Progress) -> Part:
    said = foretold(trial, compared, trial.tested, advance=progress.advance)
    losses, bins = loss_table(said, _rng(trial, 11)), reliability_table(said)
    names = [row["learner"] for row in losses.rows][:6]
    chart = reliability_chart(bins.rows, names=names, title=f"Said and happened, after {WARM} swipes")
    first = losses.rows[0]
    error = first[f"calibration_error_after_{WARM}"]
    words = [
        f"Learners that say how likely a like is say it before each swipe and learn from it afterwards. {first['learner']} loses least: {first['log_loss']:.3f} nats "
        f"a swipe ({first['against_own_rate']:+.3f} from the user's own rate)"
        + (f", calibration error {error:.3f} after {WARM} swipes." if np.isfinite(error) else ".")
    ]
    figures = [Figure("reliability", chart, "Ten bins of equal width, all users together; whiskers: 95 %")] if bins.rows else []
    return Part("probabilities", "Can its probabilities be believed?", words, [losses, bins], figures)


def _matches(trial: Trial, compared: Sequence[Contender], times: Sequence[int], side: str | None, progress: Progress) -> Part:
    progress.stage("matches", sum(len(viewers_after(trial, t)) for t in times))
    sides: Column | None = None if side is None else trial.table.others[side][trial.begin[:-1]]
    rows: list[dict[str, Any]] = []
    for t in times:
        found = mutual(trial, compared, t, advance=progress.advance)
        if found.match.any() and not found.match.all():
            rows += match_rows(found, _rng(trial, 20 + t), sides)
    if not rows:
        return Part("matches", "Does it find matches?", ["No open pair of this log became a match after any number of swipes."])
    tables = match_tables(rows)
    best, forward = tables[0].rows[0], next(row for row in tables[1].rows if row["fusion"] == FORWARD)
    last = max(row["swipes"] for row in rows)
    words = [
        "Candidates of this log swipe too. A match is a like from both; a pair is ranked by a fusion of what each side's state says of the other, at a moment when "
        f"neither had decided. After {last} swipes {best['learner']} with the {best['fusion']} fusion has a match AUC of {best['match_auc']:.3f}; the best that looks at "
        f"one side only has {forward[f'after_{last}']:.3f}."
    ]
    drawn = [row["learner"] for row in tables[0].rows][:6]
    lines = [
        {"learner": row["learner"], "swipes": row["swipes"], "match_auc": row["match_auc"]}
        for row in rows
        if row["learner"] in drawn and row["fusion"] == best["fusion"] and row["side"] == "everybody"
    ]
    chart = line_chart(
        lines, x="swipes", y="match_auc", title=f"Match AUC, {best['fusion']} fusion", names=drawn, x_title="swipes learned from",
        y_title="match AUC", height=260,
    )  # fmt: skip
    return Part("matches", "Does it find matches?", words, tables, [Figure("matches", chart, "All open pairs together")])


def _check(table: Table) -> Part:
    worst = max(table.rows, key=lambda row: abs(row["auc"] - 0.5))
    verdict = (
        "As it must be"
        if sound(table)
        else "NOT as it must be: something looks ahead, and no number of this report can be trusted"
    )
    words = [
        f"The same run with every user's answers in a random order, so that there is nothing to learn. {verdict}: the AUC farthest from 0.5 is "
        f"{worst['auc']:.3f} ({worst['learner']})."
    ]
    return Part("check", "Is the test itself fair?", words, [table])
