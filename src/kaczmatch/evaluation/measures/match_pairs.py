"""Pairs in logs where candidates swipe too: does a score of both sides find those who like each other?

For a user after t swipes, everybody of the rest who has not decided about the user yet is ranked by a fusion of what the user's state
says of them and what their states say of the user. Both states know what was swiped before the moment of ranking, nothing later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, RANDOM
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Places, Trial, at_most
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.replay import replay
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_VIEWERS = 300  # every pair needs its own two states: more viewers make it slow, not different
_VIEWERS = 25  # in a part


@final
@dataclass(frozen=True, eq=False)
class MutualSwipes:
    """Which swipe answers which, where a user and the candidate of the same identifier are one person."""

    trial: Trial

    @cached_property
    def candidate_of(self) -> Places:
        """Each user's row among the candidates; -1 where the user is not among them."""
        place = {str(key): row for row, key in enumerate(self.trial.table.candidates)}
        return np.array([place.get(str(user), -1) for user in self.trial.table.users], np.int64)

    @cached_property
    def user_of(self) -> Places:
        """Each candidate's number as a user; -1 where the candidate never swiped."""
        found = np.full(len(self.trial.table.candidates), -1, np.int64)
        known = self.candidate_of >= 0
        found[self.candidate_of[known]] = np.flatnonzero(known)
        return found

    @cached_property
    def answer(self) -> Places:
        """The row in which the candidate of each row decided about its user, the first one; -1 where that never happened."""
        table = self.trial.table
        candidates = len(table.candidates)
        keys = table.user * candidates + table.candidate
        order = np.argsort(keys, kind="stable")
        there, back = self.user_of[table.candidate], self.candidate_of[table.user]
        wanted = there * candidates + back
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        found = order[place]
        return np.where((there >= 0) & (back >= 0) & (keys[found] == wanted), found, -1)

    @cached_property
    def on_oneself(self) -> Places:
        """Rows in which users swipe on the candidate of their own identifier. People do not: such candidates are something else."""
        return np.flatnonzero(self.candidate_of[self.trial.table.user] == self.trial.table.candidate)

    @property
    def answered(self) -> float:
        """The share of swipes whose candidate decided about their user, too."""
        return float((self.answer >= 0).mean()) if len(self.answer) else 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class MatchPairs:
    """Every ranked pair after one number of swipes: who looks, both probabilities under each contender, and whether it was a match."""

    names: Sequence[str]
    t: int
    viewer: Places
    match: NDArray[np.bool_]
    forward: Matrix  # contenders x pairs
    backward: Matrix

    @classmethod
    def joined(cls, parts: Sequence[MatchPairs]) -> MatchPairs:
        """All pairs of the parts, one part after the other."""
        viewer, match = (np.concatenate(each) for each in zip(*((one.viewer, one.match) for one in parts), strict=True))
        sides = (np.concatenate(each, axis=1) for each in zip(*((one.forward, one.backward) for one in parts), strict=True))
        return cls(parts[0].names, parts[0].t, viewer, match, *sides)


def match_pairs(
    trial: Trial,
    contenders: Sequence[Contender],
    t: int,
    *,
    advance: Callable[[int], None],
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> MatchPairs:
    """Both sides of every pair that is still open when a tested user has made t swipes, in parts of viewers."""
    viewers = viewers_after(trial, t)
    ranked = partial(_rank_part, trial, MutualSwipes(trial), contenders, t)
    batches = [viewers[first : first + _VIEWERS] for first in range(0, len(viewers), _VIEWERS)]
    names = [*(each.name for each in contenders), APPEAL, RANDOM]
    nothing = np.empty((len(names), 0))
    parts = [MatchPairs(names, t, np.empty(0, np.int64), np.empty(0, np.bool_), nothing, nothing)]
    for batch, found in zip(batches, runner.results(ranked, batches), strict=True):
        parts.append(MatchPairs(names, t, *found))
        advance(len(batch))
    return MatchPairs.joined(parts)


def viewers_after(trial: Trial, t: int) -> Places:
    """The users whose lists are ranked: all who are tested, or so many of them at even distances."""
    users = trial.tested[np.diff(trial.begin)[trial.tested] >= t + trial.protocol.rest]
    return at_most(MOST_VIEWERS, users)


def _rank_part(
    trial: Trial, pairs: MutualSwipes, contenders: Sequence[Contender], t: int, viewers: Places
) -> tuple[Places, NDArray[np.bool_], Matrix, Matrix]:
    table, clock, begin = trial.table, trial.clock, trial.begin
    rows = trial.holdout_rows(viewers, t)
    moment = clock[begin[table.user[rows]] + t]
    answer = pairs.answer[rows]
    undecided = (answer >= 0) & (clock[answer] >= moment)
    rows, moment, answer = rows[undecided], moment[undecided], answer[undecided]
    viewer, viewed = table.user[rows], pairs.user_of[table.candidate[rows]]
    known = np.array([_before(clock[begin[v] : begin[v + 1]], now) for v, now in zip(viewed, moment, strict=True)], np.int64)
    forward = _Side(trial, viewer, np.full(len(rows), t), table.candidate[rows], moment)
    backward = _Side(trial, viewed, known, pairs.candidate_of[viewer], moment)
    rng = np.random.default_rng([trial.protocol.seed, 2, int(viewers[0]), t])
    chance = rng.random((2, len(rows)))
    there = [*(forward.scores(each) for each in contenders), forward.usual(), chance[0]]
    back = [*(backward.scores(each) for each in contenders), backward.usual(), chance[1]]
    return viewer, table.like[rows] & table.like[answer], np.array(there), np.array(back)


def _before(times: Places, now: int) -> int:
    return int(np.searchsorted(times, now, side="left"))


@final
class _Side:
    """One side's view of each pair: `user` after `swipes` of their own, looking at `candidate` at a moment."""

    def __init__(self, trial: Trial, user: Places, swipes: Places, candidate: Places, moment: Places) -> None:
        self.trial, self.viewer, self.candidate, self.moment = trial, user, candidate, moment
        self.appeal = trial.appeals(user, candidate, moment)
        stages, self.stage = np.unique(np.stack([user, swipes]), axis=1, return_inverse=True)
        self.user, self.swipes = stages
        self.order = np.argsort(self.stage, kind="stable")
        self.bounds = np.searchsorted(self.stage[self.order], np.arange(len(self.user) + 1))

    def scores(self, contender: Contender) -> Vector:
        """Probabilities, or for rules that say none, the score by which they order."""
        learner = contender.learner
        states = replay(learner, self._log(contender), prior=contender.prior)
        heard = contender.heard_at(self.trial, self.viewer, self.candidate, self.moment)
        start = learner.start(contender.prior)
        found = np.empty(len(self.candidate))
        for stage in range(len(self.user)):
            pairs = self.order[self.bounds[stage] : self.bounds[stage + 1]]
            state = states.get(stage, start)
            tell = learner.probability if isinstance(learner, ProbabilisticLearner) else learner.score
            found[pairs] = tell(state, self.trial.table.features[self.candidate[pairs]], heard[pairs])
        return found

    def _log(self, contender: Contender) -> SwipeLog:
        """What each stage has swiped so far, as if stages were users."""
        log = contender.log(self.trial).select(self.trial.rows(self.user, 0, self.swipes))
        log.user = np.repeat(np.arange(len(self.swipes)), self.swipes)
        return log

    def usual(self) -> Vector:
        """The user's own like rate so far, moved by the candidate's appeal: nothing is learned."""
        likes = np.concatenate([[0], np.cumsum(self.trial.table.like)])
        begin = self.trial.begin[self.user]
        rate = (likes[begin + self.swipes] - likes[begin] + 1.0) / (self.swipes + 2.0)
        return np.asarray(expit(logit(rate)[self.stage] + self.appeal))
