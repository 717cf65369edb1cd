"""The whole evaluation of a swipe log: one table of predictions, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.contenders import ALL_ONES, Fold, Source, fit_sources
from kaczmatch.evaluation.matches import MutualSwipes, measure_matches
from kaczmatch.evaluation.peers import Peer, all_peers
from kaczmatch.evaluation.pooled import POOLED
from kaczmatch.evaluation.predictions import Predictions, predict, usable_times
from kaczmatch.evaluation.report import WITHOUT_PRIOR, Report
from kaczmatch.evaluation.self_test import Progress, shuffled_check
from kaczmatch.evaluation.trial import BY_USER, TIMES, Knowledge, Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.formats.tables import as_table
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.runner.processes import ProcessRunner

FEWEST_USERS = 20  # tested at a number of swipes, below which a log says little there; of a small log, half of them
FEWEST_SHARE = 0.1  # of all tested users, likewise


@final
class SilentProgress:
    """Shows nothing."""

    def stage(self, what: str, steps: int) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass


@final
@dataclass(frozen=True, slots=True)
class Choices:
    """What to compare, and how much of it."""

    learners: Sequence[str] = tuple(LEARNERS)  # each with settings behind it, if any: probit-diag(alpha=2)
    both_ways: bool = False  # whether candidates swipe too: users and candidates of one identifier are one person
    side: str | None = None  # the column that tells the two sides apart
    peers: Sequence[Peer] = ()  # other libraries' learners to compare with
    all_times: bool = False  # test at every number of swipes that was asked for, however few users have so many


def evaluate(
    swipes: Any,
    candidates: Any,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    like_from: float | None = None,
    learners: Sequence[str] | None = None,
    at: Sequence[int] | None = None,
    rest: int = 5,
    at_least: int = 0,
    split: str = BY_USER,
    folds: int | None = None,
    protocol: Knowledge = "strict",
    appeal_half_life_days: float = AppealModel().half_life_days,
    both_ways: bool = False,
    side: str | None = None,
    peers: bool = False,
    seed: int = 0,
    workers: int = 1,
) -> Report:
    """Find out which learner to use on your own swipes. Each table is a file or a frame of pandas, polars or Arrow.

    Options are those of ``kaczmatch evaluate``. ``columns`` says what fields are called in your tables: ``{"user": "user_id"}``.
    ``learners`` are slugs, with settings in brackets where they are not the defaults: ``["probit", "probit-diag(alpha=2)"]``. With
    ``workers``, parts run in so many processes.
    """
    told = Protocol(
        times=TIMES if at is None else tuple(at),
        rest=rest,
        at_least=at_least,
        split=split,
        folds=folds,
        knowledge=protocol,
        appeal=AppealModel(half_life_days=appeal_half_life_days),
        seed=seed,
    )
    trial = read_trial(swipes, candidates, told, columns or {}, ignore, like_from, side)
    wanted = tuple(LEARNERS) if learners is None else tuple(learners)
    choices = Choices(wanted, both_ways, side, all_peers() if peers else (), all_times=at is not None)
    return measure(trial, choices, runner=LocalRunner(1) if workers == 1 else ProcessRunner(workers))


def read_trial(
    swipes: Any,
    candidates: Any,
    protocol: Protocol,
    columns: Mapping[str, str],
    ignore: Sequence[str] = (),
    like_from: float | None = None,
    side: str | None = None,
) -> Trial:
    """The log, with the columns that are wanted beside the usual ones."""
    wanted = [name for name in (protocol.split, side) if name is not None and name != BY_USER]
    tables = as_table(swipes, "swipes"), as_table(candidates, "candidates")
    return Trial(read_swipes(*tables, ColumnNames.of(columns), wanted, ignore, like_from), protocol)


def measure(
    trial: Trial,
    choices: Choices,
    progress: Progress = SilentProgress(),  # noqa: B008
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> Report:
    """Every learner, peer and baseline on one log; each is a part."""
    mutual = MutualSwipes(trial)
    if choices.both_ways:
        _check_both_ways(mutual)
    tested = len(trial.tested)
    times = usable_times(trial, 1 if choices.all_times else max(2, min(FEWEST_USERS, tested // 2), int(FEWEST_SHARE * tested)))
    if len(trial.testable(times[-1])) < 2:
        raise InvalidInput("at", f"fewer than 2 users can be tested after {times[-1]} swipes; name fewer with --at")
    learners = list(dict.fromkeys([ALL_ONES, *([WITHOUT_PRIOR] if choices.peers else []), *choices.learners]))
    fit = partial(fit_sources, learners=learners, runner=runner)
    progress.stage("population", (len(learners) + len(POOLED)) * len(trial.folds))
    folds = [Fold(one, fit(one, advance=progress.advance)) for one in trial.folds]
    progress.stage("learn, freeze, rank", sum(len(fold.sources) + len(choices.peers) for fold in folds))

    def predicted(fold: Fold) -> Predictions:
        sources: Sequence[Source] = [*fold.sources, *choices.peers]
        return predict(fold.trial, sources, times, fold.trial.tested, runner, advance=progress.advance)

    table = Predictions.joined([predicted(fold) for fold in folds])
    matches = measure_matches(folds, times, choices.side, progress, runner) if choices.both_ways else None
    shuffled = shuffled_check(folds, lambda fold, one: fit(one, traits=fold.traits, pooled=False), times, progress, runner)
    return Report(trial, folds, times, table, [peer.name for peer in choices.peers], matches, shuffled, mutual.answered)


def _check_both_ways(mutual: MutualSwipes) -> None:
    table = mutual.trial.table
    if not (mutual.answer >= 0).any():
        raise InvalidInput("both_ways", "no candidate of the log swipes on who swiped on them; leave --both-ways out")
    if mutual.on_oneself.size:
        user = table.users[int(table.user[mutual.on_oneself[0]])]
        raise InvalidInput(
            "both_ways", f"user {user!r} swipes on candidate {user!r}, so candidates are not the users; leave --both-ways out"
        )
