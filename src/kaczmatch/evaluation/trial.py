"""One log under one protocol: who is fitted and tested, and what each user could know of each candidate when."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, check_integer, did_you_mean
from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Column, Vector
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.learners.population.appeal import AppealModel

Knowledge = Literal["strict", "mature", "forward"]
BY_USER = "user"
BEGUN = 0.8  # forward: the share of users who had begun when the fit was made
TIMES = (0, 5, 10, 20, 50, 100, 200)

Places = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How to test.

    ``times``: learn on so many first swipes. ``rest``: rank at least so many after them, likes and passes among them.
    ``at_least``: test users with so many swipes in all. ``split``: by what users are divided. ``folds``: test everybody once, in
    so many parts of the users, each with the population fitted on the other parts.

    ``knowledge``: what is known when. ``strict``: of others, what they had decided before; the population is fitted on other users
    at all times. ``mature``: other people's future is past, as in a service that has run for long; so it is, too, where a log does
    not say who was earlier. ``forward``: the population is fitted on what was decided before a moment, and only users who began
    after it are tested.
    """

    times: tuple[int, ...] = TIMES
    rest: int = 5
    at_least: int = 0
    split: str = BY_USER
    folds: int | None = None
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
        known = get_args(Knowledge)
        if self.knowledge not in known:
            value = str(self.knowledge)
            raise InvalidInput("protocol", f"must be {' or '.join(known)}, got {value!r}; {did_you_mean(value, known)}")
        if self.folds is not None and self.folds < 2:
            says = "without it, one half is fitted on and the other tested"
            raise InvalidInput("folds", f"must be 2 or more, got {self.folds}; {says}")
        if self.folds is not None and self.knowledge == "forward":
            says = "forward tests only those who began after the fit, so not everybody can be tested; choose strict or mature"
            raise InvalidInput("folds", says)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Swipes whose outcome is predicted: after the user's first t swipes, with what is known of others at a moment."""

    row: Places  # of the log: who looks, at whom, and what came out
    user: Places
    t: Places
    moment: Places
    appeal: Vector  # of the candidate, as the user could know it then

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, eq=False)
class Trial:
    """A table of swipes and a protocol. Users go by their number. A trial of `folds` tests everybody and fits on nobody; each of its
    folds is a trial that does both."""

    table: SwipeTable
    protocol: Protocol
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
        if self.knowledge != "forward":
            return int(self.clock.max(initial=0)) + 1
        first = np.sort(self.clock[self.begin[:-1]])
        moment = int(first[int(BEGUN * len(first))])
        if moment == first[0]:
            raise InvalidInput("protocol", "nobody begins later than the others, so nobody can be tested forward")
        return moment

    @cached_property
    def fit_rows(self) -> NDArray[np.bool_]:
        """Which swipes the population is fitted on."""
        return np.asarray(self.fit[self.table.user] & (self.clock < self.fitted_at))

    def known_at(self, moments: Places) -> Places:
        """The moment up to which others are heard of: after everything where other people's future is past."""
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

    def testable(self, t: int) -> Places:
        """Tested users with enough to rank after t swipes, likes and passes among it."""
        users = self.tested[np.diff(self.begin)[self.tested] >= t + self.protocol.rest]
        liked = self.likes[self.begin[users + 1]] - self.likes[self.begin[users] + t]
        both: Places = users[(liked > 0) & (liked < self.begin[users + 1] - self.begin[users] - t)]
        return both

    @cached_property
    def likes(self) -> Places:
        """How many of the rows before each are likes, with an end."""
        return np.concatenate([[0], np.cumsum(self.table.like)])

    def own_rate(self, user: Places, t: Places) -> Vector:
        """The share of likes among a user's first t swipes, by Laplace's rule."""
        begin = self.begin[user]
        return np.asarray((self.likes[begin + t] - self.likes[begin] + 1.0) / (t + 2.0))

    def rows(self, users: Places, after: int | Places, upto: int | Places = 1 << 62) -> Places:
        """Rows of each user's swipes number after + 1 to upto, as far as there are any."""
        first, end = self.begin[users] + after, np.minimum(self.begin[users + 1] - self.begin[users], upto) + self.begin[users]
        lengths = np.maximum(end - first, 0)
        starts = np.cumsum(lengths) - lengths
        return np.asarray(np.arange(int(lengths.sum())) + np.repeat(first - starts, lengths), np.int64)

    def asked(self, row: Places, t: Places, moment: Places) -> Asked:
        user = self.table.user[row]
        return Asked(row, user, t, moment, self.appeals(user, self.table.candidate[row], moment))

    def held_out(self, users: Places, times: Sequence[int]) -> Asked:
        """Each user's swipes after the first t, as known when these were done, for each t of `times` that leaves enough to rank."""
        swipes = np.diff(self.begin)[users]
        chosen = [users[swipes >= t + self.protocol.rest] for t in times]
        rows = [self.rows(some, t) for some, t in zip(chosen, times, strict=True)]
        t, row = np.repeat(times, [len(each) for each in rows]), np.concatenate([np.empty(0, np.int64), *rows])
        return self.asked(row, t, self.clock[self.begin[self.table.user[row]] + t])

    def following(self, users: Places) -> Asked:
        """Every swipe of these users, as known just before it."""
        row = self.rows(users, 0)
        user = self.table.user[row]
        return Asked(row, user, row - self.begin[user], self.clock[row], self.appeal_when_swiped[row])

    def appeals(self, viewer: Places, candidate: Places, moments: Places) -> Vector:
        """What viewers could know of candidates at given moments."""
        then = self.known_at(moments).astype("datetime64[us]")
        return self.protocol.appeal.at_moments(self.timed, viewer=viewer, candidate=candidate, at=then)

    @cached_property
    def appeal_when_swiped(self) -> Vector:
        """Of each swipe's candidate, as its user could know it."""
        return self.appeals(self.table.user, self.table.candidate, self.clock)

    @cached_property
    def log(self) -> SwipeLog:
        """All swipes, with appeal as seen."""
        return self._plain.with_others(appeal_rows(self.appeal_when_swiped))

    def fitted_log(self, rows: Places) -> SwipeLog:
        """Swipes of fitted users, with appeal as they alone have made it: what is fitted hears nothing of those it is tested on."""
        return self._plain.select(rows).with_others(appeal_rows(self.fitted_appeals(self.fit, rows, self.clock[rows])))

    def fitted_appeals(self, raters: NDArray[np.bool_], rows: Places, moments: Places) -> Vector:
        """Of each row's candidate to its user at a moment, from what some of the fitted users decided."""
        then = self.known_at(moments).astype("datetime64[us]")
        user, candidate = self.table.user[rows], self.table.candidate[rows]
        return self.protocol.appeal.at_moments(
            self.timed.select(raters[self.table.user]), viewer=user, candidate=candidate, at=then
        )

    def known_by_others(self, asked: Asked) -> NDArray[np.bool_]:
        """Whether anybody else had decided about what is asked."""
        first, rater, second = self._first_decisions
        candidate = self.table.candidate[asked.row]
        mine = rater[candidate] == asked.user
        return np.asarray(np.where(mine, second[candidate], first[candidate]) < self.known_at(asked.moment))

    @cached_property
    def _first_decisions(self) -> tuple[Places, Places, Places]:
        """Of each candidate the moment of the first decision, whose it was, and the moment of the first by anybody else."""
        table, never = self.table, np.iinfo(np.int64).max
        first, second = (np.full(len(table.candidates), never) for _ in range(2))
        rater = np.full(len(table.candidates), -1)
        rows = np.argsort(self.clock, kind="stable")[::-1]  # the earliest is written last
        first[table.candidate[rows]], rater[table.candidate[rows]] = self.clock[rows], table.user[rows]
        others = rows[table.user[rows] != rater[table.candidate[rows]]]
        second[table.candidate[others]] = self.clock[others]
        return first, rater, second

    @cached_property
    def _plain(self) -> SwipeLog:
        return self._log(timed=self.moments is not None, session=self.table.session)

    @cached_property
    def timed(self) -> SwipeLog:
        """All swipes by candidate, with a moment each even where the log has none, and without sessions."""
        return self._log(timed=True, session=None)

    def _log(self, *, timed: bool, session: Column | None) -> SwipeLog:
        table = self.table
        return SwipeLog(
            user=table.user,
            candidate=table.candidate,
            candidates=table.features,
            label=np.where(table.like, 1, -1),
            session=session,
            at=self.clock.astype("datetime64[us]") if timed else None,
        )


def fit_users(table: SwipeTable, by: str = BY_USER) -> NDArray[np.bool_]:
    """Which users the population is fitted on; the others are tested.

    By their own identifier, or by a column in which each of them has one value (a wave, a country, a cohort): even numbers fit and odd
    ones are tested. Of texts that are no numbers, the checksum decides.
    """
    fit = np.asarray(user_parts(table, by, 2) == 0)
    for name, group in (("fitted on", fit), ("tested", ~fit)):
        if not group.any():
            raise InvalidInput("split", f"by {by!r} leaves nobody to be {name}; split by another column")
    return fit


def user_parts(table: SwipeTable, by: str, parts: int) -> Places:
    """The part of each user, of so many: what is left when the number by which users are divided is divided by `parts`."""
    values: Sequence[Any] = table.users
    if by != BY_USER:
        column = table.others[by]
        first = column[table.begin[:-1]]
        differs = column != first[table.user]
        if differs.any():
            user = table.users[int(table.user[int(np.argmax(differs))])]
            raise InvalidInput("split", f"user {user!r} has more than one {by!r}, so fit and test users would overlap")
        values = first.tolist()
    return np.array([_number(value) % parts for value in values], np.int64)


def _number(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)  # the same group whether a file has identifiers as numbers or as texts
    return value if isinstance(value, int) else zlib.crc32(str(value).encode())


def at_most(most: int, users: Places) -> Places:
    """All of them, or so many at even distances."""
    return users[np.linspace(0, len(users) - 1, min(len(users), most)).astype(np.int64)]
