"""Learn on a user's first t swipes, freeze, rank the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.ranking_metrics import auc, ndcg
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Places, Trial
from kaczmatch.learners.logs.replay import States, replay
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

TOP = 10  # nDCG looks at so many
APPEAL, OWN_RATE, RANDOM = "appeal alone", "own like rate", "random"
ALL_ONES = "all-ones"  # a learner that learns nothing
BASELINES = (APPEAL, OWN_RATE, RANDOM)

_USERS = 500  # in a part

Advance = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class HoldoutRanking:
    """AUC and nDCG of every user under every contender after each number of swipes; NaN where a user cannot be tested."""

    names: Sequence[str]
    times: Sequence[int]
    users: Places
    auc: Matrix  # times x users x contenders
    ndcg: Matrix
    unknown_auc: Matrix  # of the candidates alone of whom nobody else had decided yet

    @classmethod
    def joined(cls, parts: Sequence[HoldoutRanking]) -> HoldoutRanking:
        """Of all users of the parts, one part after the other."""
        areas = (
            np.concatenate(each, axis=1) for each in zip(*((one.auc, one.ndcg, one.unknown_auc) for one in parts), strict=True)
        )
        return cls(parts[0].names, parts[0].times, np.concatenate([one.users for one in parts]), *areas)

    def testable(self, place: int) -> NDArray[np.bool_]:
        """Who can be tested after times[place] swipes."""
        return np.asarray(np.isfinite(self.auc[place]).all(axis=1))

    @property
    def cohort(self) -> NDArray[np.bool_]:
        """Who can be tested at every number of swipes: the same users throughout, so that curves are about learning."""
        return np.asarray(np.isfinite(self.auc).all(axis=(0, 2)))


def holdout_ranking(
    trial: Trial,
    contenders: Sequence[Contender],
    times: Sequence[int],
    users: Places,
    *,
    advance: Advance,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> HoldoutRanking:
    """Every contender and the baselines on the same users and candidates, in parts of users."""
    rank = partial(_rank_part, trial, contenders, times)
    parts = [(number, users[first : first + _USERS]) for number, first in enumerate(range(0, len(users), _USERS))]
    found = []
    for part in runner.results(rank, parts or [(0, users)]):
        found.append(part)
        advance(len(times) * len(part.users))
    return HoldoutRanking.joined(found)


def _rank_part(trial: Trial, contenders: Sequence[Contender], times: Sequence[int], part: tuple[int, Places]) -> HoldoutRanking:
    number, users = part
    names = [*(each.name for each in contenders), *BASELINES]
    shape = (len(times), len(users), len(names))
    found = HoldoutRanking(names, times, users, *(np.full(shape, np.nan) for _ in range(3)))
    for place, one in ranked_holdouts(trial, contenders, times, users, np.random.default_rng([trial.protocol.seed, 1, number])):
        column, scores, like = int(np.searchsorted(users, one.user)), rounded(one.scores), trial.table.like[one.rows]
        found.auc[place, column], found.ndcg[place, column] = _judged(scores, like)
        unknown = ~trial.known_by_others(one.rows, times[place])
        if like[unknown].any() and not like[unknown].all():
            found.unknown_auc[place, column], _ = _judged(np.ascontiguousarray(scores[:, unknown]), like[unknown])
    return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class RankedHoldout:
    """The scores of one user's remaining swipes under every contender, frozen at that moment."""

    user: int
    rows: Places
    scores: Matrix  # contenders, then baselines, x rows


def ranked_holdouts(
    trial: Trial, contenders: Sequence[Contender], times: Sequence[int], users: Places, rng: np.random.Generator
) -> Iterator[tuple[int, RankedHoldout]]:
    """Every testable user's ranking, with the place of its number of swipes among `times`."""
    learning: list[States | None] = [None] * len(contenders)
    done = 0
    for place, t in enumerate(times):
        rows = trial.rows(users, done, t)
        if len(rows):
            learning = [
                replay(each.learner, each.log(trial).select(rows), prior=each.prior, states=states)
                for each, states in zip(contenders, learning, strict=True)
            ]
        done = t
        chosen = users[np.isin(users, trial.testable(t))]
        yield from ((place, one) for one in _ranked(trial, contenders, learning, t, chosen, rng))


def _ranked(
    trial: Trial,
    contenders: Sequence[Contender],
    learned: Sequence[States | None],
    t: int,
    users: Places,
    rng: np.random.Generator,
) -> Iterator[RankedHoldout]:
    table = trial.table
    starts = [each.learner.start(each.prior) for each in contenders]
    ranked = trial.holdout_rows(users, t)
    appeals = trial.appeal_when_ranked(ranked, t)
    heard = [each.heard_when_ranked(trial, ranked, t) for each in contenders]
    begin = 0
    for user in users.tolist():
        rest = np.arange(trial.begin[user] + t, trial.begin[user + 1])
        features, part = table.features[table.candidate[rest]], slice(begin, begin + len(rest))
        begin += len(rest)
        scores = np.empty((len(contenders) + len(BASELINES), len(rest)))
        for row, (each, states, start, said) in enumerate(zip(contenders, learned, starts, heard, strict=True)):
            state = start if states is None or user not in states else states[user]
            scores[row] = each.learner.score(state, features, said[part])
        scores[-3], scores[-2], scores[-1] = appeals[part], 0.0, rng.random(len(rest))
        yield RankedHoldout(user, rest, scores)


def rounded(scores: Matrix) -> Matrix:
    """Rounded, so that scores that tie in exact arithmetic tie here."""
    return np.round(scores, 12)


@compiled
def _judged(scores: Matrix, likes: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    areas, gains = np.empty(scores.shape[0]), np.empty(scores.shape[0])
    for row in range(scores.shape[0]):
        areas[row] = auc(scores[row], likes)
        gains[row] = ndcg(scores[row], likes, TOP)
    return areas, gains


def usable_times(trial: Trial, least: int) -> list[int]:
    """The protocol's numbers of swipes after which at least so many users can be tested."""
    times = [t for t in trial.protocol.times if len(trial.testable(t)) >= least]
    if not times:
        swipes = int(np.diff(trial.begin).max(initial=0))
        raise InvalidInput(
            "at",
            f"fewer than {least} test users have {trial.protocol.rest} swipes, likes and passes, after any of "
            f"{', '.join(map(str, trial.protocol.times))} (the longest history has {swipes} swipes; {_counts(trial)}); lower --at, "
            "--rest or --at-least",
        )
    return times


def _counts(trial: Trial) -> str:
    return ", ".join(f"{len(trial.testable(t)):,} users can be tested after {t}" for t in trial.protocol.times)
