"""One log under one protocol: who is fitted and tested, and what each user could know of each candidate when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, check_integer, did_you_mean
from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.protocol.split import BY_USER, fit_users, user_parts
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.learners.population.appeal import AppealModel

AppealFrom = Literal["others", "fit"]
AppealAt = Literal["split", "first"]
Knowledge = Literal["strict", "mature", "forward"]
BEGUN = 0.8  # forward: the share of users who had begun when the fit was made
TIMES = (0, 5, 10, 20, 50, 100, 200)

Places = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How to test.

    ``times``: learn on so many first swipes. ``rest``: rank at least so many after them, likes and passes among them.
    ``at_least``: test users with so many swipes in all. ``appeal_from``: count the decisions of all ``others``, or only of the
    users in the ``fit`` group. ``appeal_at``: as known at the ``split`` (just before the first swipe that is ranked), or at the
    user's ``first`` swipe.

    ``knowledge``: what is known when. ``strict``: of others, what they had decided before; the population is fitted on other users
    at all times. ``mature``: other people's future is past, as in a service that has run for long; so it is, too, where a log does
    not say who was earlier. ``forward``: the population is fitted on what was decided before a moment, and only users who began
    after it are tested.

    ``folds``: everybody is tested once, in so many parts of the users, each with the population fitted on the other parts.
    """

    times: tuple[int, ...] = TIMES
    rest: int = 5
    at_least: int = 0
    split: str = BY_USER
    folds: int | None = None
    appeal_from: AppealFrom = "others"
    appeal_at: AppealAt = "split"
    knowledge: Knowledge = "strict"
    appeal: AppealModel = AppealModel()
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.times:
            raise InvalidInput("times", "name at least one number of swipes to learn on")
        for t in self.times:
            check_integer("times", t, low=0, high=10**9)
        object.__setattr__(self, "times", tuple(sorted(set(self.times))))
        check_integer("rest", self.rest, low=2, high=10**9)
        check_integer("at_least", self.at_least, low=0, high=10**9)
        if self.folds is not None:
            self._check_folds(self.folds)
        choices = {"appeal_from": AppealFrom, "appeal_at": AppealAt, "knowledge": Knowledge}
        for name, known in ((name, get_args(values)) for name, values in choices.items()):
            if getattr(self, name) not in known:
                value = str(getattr(self, name))
                raise InvalidInput(name, f"must be {' or '.join(known)}, got {value!r}; {did_you_mean(value, known)}")

    def _check_folds(self, folds: int) -> None:
        if folds < 2:
            raise InvalidInput("folds", f"must be 2 or more, got {folds}; without it, one half is fitted on and the other tested")
        if self.knowledge == "forward":
            raise InvalidInput(
                "folds",
                "forward tests only those who began after the fit, so not everybody can be tested; choose strict or mature",
            )


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """A table of swipes and a protocol. Users go by their number. Where the table is a part of another, `moment` is the other's
    `fitted_at`. A trial of `folds` tests everybody and fits on nobody; each of its folds is a trial that does both."""

    table: SwipeTable
    protocol: Protocol
    moment: int | None = None
    fold: int | None = None

    @cached_property
    def folds(self) -> Sequence[Trial]:
        """The trials in which everybody who is tested is tested once; without folds, this one."""
        if self.protocol.folds is None:
            return [self]
        found = [replace(self, fold=fold) for fold in range(self.protocol.folds)]
        if any(one.fit.all() for one in found):
            by = self.protocol.split
            raise InvalidInput("folds", f"by {by!r} one of {len(found)} has no users; name fewer, or split by another column")
        return found

    @cached_property
    def fit(self) -> NDArray[np.bool_]:
        """Which users the population is learned from."""
        if self.knowledge == "forward":
            begun: NDArray[np.bool_] = self.clock[self.begin[:-1]] < self.fitted_at
            return begun
        if self.protocol.folds is None:
            return fit_users(self.table, self.protocol.split)
        parts = user_parts(self.table, self.protocol.split, self.protocol.folds)
        return np.asarray((parts != self.fold) & (self.fold is not None))

    @cached_property
    def fitted_at(self) -> int:
        """The moment before which the population is fitted: when four fifths of all users had begun, or after the last swipe."""
        if self.moment is not None:
            return self.moment
        if self.knowledge != "forward":
            return int(self.clock.max(initial=0)) + 1
        first = np.sort(self.clock[self.begin[:-1]])
        moment = int(first[int(BEGUN * len(first))])
        if moment == first[0]:
            raise InvalidInput("knowledge", "nobody begins later than the others, so nobody can be tested forward")
        return moment

    @cached_property
    def fit_rows(self) -> NDArray[np.bool_]:
        """Which swipes the population is fitted on."""
        return np.asarray(self.fit[self.table.user] & (self.clock < self.fitted_at))

    def known_at(self, moments: Places) -> Places:
        """The moment up to which somebody hears of others: after everything where other people's future is past."""
        return np.full_like(moments, self.fitted_at) if self.knowledge == "mature" else moments

    @cached_property
    def begin(self) -> Places:
        return self.table.begin

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known when. Where no time says who was earlier, nobody else's decisions can be earlier: all of them are known."""
        return "mature" if self.moments is None and self.protocol.knowledge == "strict" else self.protocol.knowledge

    @cached_property
    def moments(self) -> Places | None:
        """When each swipe happened; None where the log does not say who was earlier: it has no times, or the same one throughout."""
        at = self.table.at
        return None if at is None or (at == at[:1]).all() else at

    @cached_property
    def clock(self) -> Places:
        """When each swipe happened; without times, everybody's n-th swipe at one moment."""
        if self.moments is not None:
            return self.moments
        return (np.arange(len(self.table)) - self.begin[self.table.user] + 1) * 1_000_000

    @cached_property
    def tested(self) -> Places:
        """Users who are tested: not fitted on, and with swipes enough for some split."""
        swipes = np.diff(self.begin)
        least = max(self.protocol.at_least, self.protocol.times[0] + self.protocol.rest)
        return np.flatnonzero(~self.fit & (swipes >= least))

    @cached_property
    def appeal_when_swiped(self) -> Vector:
        """Each swipe's candidate's appeal as that user could know it when swiping; at the first swipe where the protocol says so."""
        return self.appeals(self.table.user, self.table.candidate, self.moments_when_swiped)

    @cached_property
    def moments_when_swiped(self) -> Places:
        """When each swipe's user heard of others."""
        return self.clock[self.begin[:-1][self.table.user]] if self.protocol.appeal_at == "first" else self.clock

    def moments_when_ranked(self, rows: Places, t: int) -> Places:
        """When the users of rows had done their first t swipes; their first swipe where the protocol says so."""
        after = 0 if self.protocol.appeal_at == "first" else t
        return np.asarray(self.clock[self.begin[self.table.user[rows]] + after])

    def appeal_when_ranked(self, rows: Places, t: int) -> Vector:
        """The appeal of what is ranked, as known when each user's first t swipes were done."""
        return self.appeals(self.table.user[rows], self.table.candidate[rows], self.moments_when_ranked(rows, t))

    def appeals(self, viewer: Places, candidate: Places, moments: Places) -> Vector:
        """What viewers could know of candidates at given moments."""
        return self.protocol.appeal.at_moments(
            self._decisions, viewer=viewer, candidate=candidate, at=self.known_at(moments).astype("datetime64[us]")
        )

    @cached_property
    def log(self) -> SwipeLog:
        """All swipes, with appeal as seen."""
        return self._plain.with_others(appeal_rows(self.appeal_when_swiped))

    def fitted_log(self, rows: Places) -> SwipeLog:
        """Swipes of fitted users, with appeal as they alone have made it: what is fitted hears nothing of those it is tested on."""
        user, candidate = self.table.user[rows], self.table.candidate[rows]
        then = self.known_at(self.moments_when_swiped[rows]).astype("datetime64[us]")
        decisions = self.timed.select(self.fit[self.table.user])
        appeals = self.protocol.appeal.at_moments(decisions, viewer=user, candidate=candidate, at=then)
        return self._plain.select(rows).with_others(appeal_rows(appeals))

    def known_by_others(self, rows: Places, t: int) -> NDArray[np.bool_]:
        """Whether anybody else had decided about what is ranked after t swipes."""
        moments = self.known_at(self.moments_when_ranked(rows, t))
        first, rater, second = self._first_decisions
        candidate = self.table.candidate[rows]
        mine = rater[candidate] == self.table.user[rows]
        return np.asarray(np.where(mine, second[candidate], first[candidate]) < moments)

    @cached_property
    def _first_decisions(self) -> tuple[Places, Places, Places]:
        """Of each candidate the moment of the first decision, whose it was, and the moment of the first by anybody else."""
        table, never = self.table, np.iinfo(np.int64).max
        first, second = (np.full(len(table.candidates), never) for _ in range(2))
        rater = np.full(len(table.candidates), -1)
        rows = np.flatnonzero(self.counts)
        rows = rows[np.argsort(self.clock[rows], kind="stable")[::-1]]
        first[table.candidate[rows]], rater[table.candidate[rows]] = (
            self.clock[rows],
            table.user[rows],
        )  # the earliest is written last
        others = rows[table.user[rows] != rater[table.candidate[rows]]]
        second[table.candidate[others]] = self.clock[others]
        return first, rater, second

    def rows(self, users: Places, after: int | Places, upto: int | Places) -> Places:
        """Rows of each user's swipes number after + 1 to upto, as far as there are any."""
        return _ranges(self.begin[users] + after, np.minimum(self.begin[users] + upto, self.begin[users + 1]))

    def holdout_rows(self, users: Places, t: int) -> Places:
        """Rows of each user's swipes after the first t."""
        return _ranges(self.begin[users] + t, self.begin[users + 1])

    def testable(self, t: int) -> Places:
        """Tested users with enough to rank after t swipes, likes and passes among it."""
        users = self.tested[np.diff(self.begin)[self.tested] >= t + self.protocol.rest]
        likes = np.concatenate([[0], np.cumsum(self.table.like)])
        liked = likes[self.begin[users + 1]] - likes[self.begin[users] + t]
        both: Places = users[(liked > 0) & (liked < self.begin[users + 1] - self.begin[users] - t)]
        return both

    @cached_property
    def _plain(self) -> SwipeLog:
        table = self.table
        return SwipeLog(
            user=table.user,
            candidate=table.candidate,
            candidates=table.features,
            label=np.where(table.like, 1, -1),
            session=table.session,
            at=None if self.moments is None else self.clock.astype("datetime64[us]"),
        )

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Which swipes others hear of."""
        return self.fit[self.table.user] if self.protocol.appeal_from == "fit" else np.ones(len(self.table), np.bool_)

    @cached_property
    def timed(self) -> SwipeLog:
        """All swipes by candidate, with a moment each even where the log has none."""
        table = self.table
        return SwipeLog(
            user=table.user,
            candidate=table.candidate,
            candidates=table.features,
            label=np.where(table.like, 1, -1),
            at=self.clock.astype("datetime64[us]"),
        )

    @cached_property
    def _decisions(self) -> SwipeLog:
        """What appeal is counted from."""
        return self.timed.select(self.counts)


def at_most(most: int, users: Places) -> Places:
    """All of them, or so many at even distances."""
    return users[np.linspace(0, len(users) - 1, min(len(users), most)).astype(np.int64)]


def _ranges(first: Places, end: Places) -> Places:
    """Every number from first[i] to end[i] - 1, for all i in a row."""
    lengths = np.maximum(end - first, 0)
    starts = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(first - starts, lengths), np.int64)
