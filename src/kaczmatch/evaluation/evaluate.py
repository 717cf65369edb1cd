"""The whole evaluation of a swipe log. It returns numbers; `reporting` shows them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Column
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import ALL_ONES, HoldoutRanking, holdout_ranking, usable_times
from kaczmatch.evaluation.measures.match_pairs import MatchPairs, MutualSwipes, match_pairs, viewers_after
from kaczmatch.evaluation.measures.match_scores import MatchScore, MatchScores, match_scores
from kaczmatch.evaluation.measures.progressive_validation import (
    ProbabilityScores,
    ProgressiveForecasts,
    probability_scores,
    progressive_forecasts,
)
from kaczmatch.evaluation.measures.recommendation import Recommendation, recommend
from kaczmatch.evaluation.measures.shuffled_labels import ShuffledCheck, shuffled_check
from kaczmatch.evaluation.peers.comparison import ALONE, PeerComparison, compare_peers
from kaczmatch.evaluation.peers.contract import Clock, Peer
from kaczmatch.evaluation.peers.crossover import Crossover, crossover
from kaczmatch.evaluation.peers.population import BPR
from kaczmatch.evaluation.protocol.contenders import Contender, contenders
from kaczmatch.evaluation.protocol.folds import Fold, largest_contenders
from kaczmatch.evaluation.protocol.progress import Progress
from kaczmatch.evaluation.protocol.trial import Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

FEWEST_USERS = 20  # tested at a number of swipes, below which a log says little there; of a small log, half of them
FEWEST_SHARE = 0.1  # of all tested users, likewise


@final
@dataclass(frozen=True, slots=True)
class Choices:
    """What to compare, and how much of it."""

    learners: Sequence[str] = tuple(LEARNERS)
    settings: Mapping[str, Mapping[str, object]] | None = None  # by learner, where not the defaults
    both_ways: bool = False  # whether candidates swipe too: users and candidates of one identifier are one person
    side: str | None = None  # the column that tells the two sides apart
    peers: Sequence[Peer] = ()  # other libraries' learners to compare with
    all_times: bool = False  # test at every number of swipes that was asked for, however few users have so many


@final
@dataclass(frozen=True, slots=True, eq=False)
class EvaluationResult:
    """Everything that was measured."""

    trial: Trial
    folds: Sequence[Fold]  # one, unless the protocol names more
    contenders: Sequence[Contender]  # each once, whatever the number of folds
    recommendation: Recommendation
    scores: BootstrapScores
    probabilities: ProbabilityScores
    peers: PeerComparison | None  # where peers were asked for
    crossover: Crossover | None  # where implicit's BPR is among the peers
    matches: MatchScores | None  # where candidates swipe too
    shuffled: ShuffledCheck
    answered: float  # the share of swipes whose candidate has swiped on their user, too, if equal identifiers are one person


def evaluate(
    trial: Trial,
    choices: Choices,
    progress: Progress,
    clock: Clock = time.perf_counter,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> EvaluationResult:
    """Every learner and baseline on one log, in parts of learners and users; and the peers, whose swipes `clock` times."""
    mutual = MutualSwipes(trial)
    if choices.both_ways:
        _check_both_ways(mutual)
    times = _times(trial, choices)
    learners = list(dict.fromkeys([ALL_ONES, *([ALONE] if choices.peers else []), *choices.learners]))

    def contend(one: Trial, traits: bool | None = None) -> list[Contender]:
        return contenders(one, learners, choices.settings, tick=lambda _: progress.advance(), traits=traits, runner=runner)

    progress.stage("population", len(learners) * len(trial.folds))
    folds = [Fold(one, contend(one)) for one in trial.folds]
    compared = largest_contenders(folds)
    progress.stage("learn, freeze, rank", len(times) * len(trial.tested))
    ranking = HoldoutRanking.joined(
        [
            holdout_ranking(one.trial, one.contenders, times, one.trial.tested, advance=progress.advance, runner=runner)
            for one in folds
        ]
    )
    scores = BootstrapScores.of(ranking, _rng(trial, 10))
    if scores.users < 2:
        counts = ", ".join(f"{len(trial.testable(t)):,} after {t}" for t in times)
        raise InvalidInput(
            "at", f"only {scores.users} users can be tested after each of {times} swipes ({counts}); name fewer with --at"
        )
    progress.stage("probabilities", len(folds) * sum(isinstance(each.learner, ProbabilisticLearner) for each in compared))
    forecasts = ProgressiveForecasts.joined(
        [
            progressive_forecasts(one.trial, one.contenders, one.trial.tested, advance=progress.advance, runner=runner)
            for one in folds
        ]
    )
    probabilities = probability_scores(forecasts, _rng(trial, 11))
    peers = compare_peers(folds, ranking, choices.peers, progress, clock) if choices.peers else None
    bpr = next((peer for peer in choices.peers if peer.name == BPR), None)
    crossing = None if peers is None or bpr is None else crossover(trial.folds, peers, bpr, progress, clock)
    matches = _matches(trial, folds, times, choices.side, progress, runner) if choices.both_ways else None
    shuffled = shuffled_check(folds, lambda fold, one: contend(one, fold.traits), times, progress, runner)
    recommendation = recommend(scores, compared, {each.name: each.log_loss.mean for each in probabilities.scores})
    return EvaluationResult(
        trial,
        folds,
        compared,
        recommendation,
        scores,
        probabilities,
        peers,
        crossing,
        matches,
        shuffled,
        mutual.answered,
    )


def _check_both_ways(mutual: MutualSwipes) -> None:
    table = mutual.trial.table
    if not (mutual.answer >= 0).any():
        raise InvalidInput("both_ways", "no candidate of the log swipes on who swiped on them; leave --both-ways out")
    if mutual.on_oneself.size:
        user = table.users[int(table.user[mutual.on_oneself[0]])]
        raise InvalidInput(
            "both_ways", f"user {user!r} swipes on candidate {user!r}, so candidates are not the users; leave --both-ways out"
        )


def _times(trial: Trial, choices: Choices) -> list[int]:
    tested = len(trial.tested)
    least = 1 if choices.all_times else max(2, min(FEWEST_USERS, tested // 2), int(FEWEST_SHARE * tested))
    return usable_times(trial, least)


def _rng(trial: Trial, stream: int) -> np.random.Generator:
    return np.random.default_rng([trial.protocol.seed, stream])


def _matches(
    trial: Trial, folds: Sequence[Fold], times: Sequence[int], side: str | None, progress: Progress, runner: Runner
) -> MatchScores:
    progress.stage("matches", sum(len(viewers_after(one, t)) for one in trial.folds for t in times))
    sides: Column | None = None if side is None else trial.table.others[side][trial.begin[:-1]]
    scores: list[MatchScore] = []
    for t in times:
        pairs = MatchPairs.joined(
            [match_pairs(one.trial, one.contenders, t, advance=progress.advance, runner=runner) for one in folds]
        )
        if pairs.match.any() and not pairs.match.all():
            scores += match_scores(pairs, _rng(trial, 20 + t), sides)
    return MatchScores(scores)
