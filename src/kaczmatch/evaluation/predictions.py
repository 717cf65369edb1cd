"""The table of predictions: who looked, at whom, after how many swipes, by which contender, what it said, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.ranking_metrics import AUC, judged
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.contenders import Source
from kaczmatch.evaluation.trial import Asked, Places, Trial
from kaczmatch.runner.contract import Runner

TOP: Final = 10  # nDCG looks at so many

Flags = NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Columns of one length. A row is of a swipe that was ranked among those after the user's first t, by what was frozen then; or,
    where `ahead`, of the probability of the next one, which was learned from afterwards."""

    row: Places  # of the log
    user: Places
    t: Places
    ahead: Flags
    like: Flags
    unknown: Flags  # nobody else had decided about the candidate
    said: Mapping[str, Vector]  # by contender; NaN where it says nothing

    @classmethod
    def joined(cls, parts: Sequence[Predictions]) -> Predictions:
        """All rows of the parts, one part after the other."""
        names = ("row", "user", "t", "ahead", "like", "unknown")
        columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
        return cls(**columns, said={name: np.concatenate([one.said[name] for one in parts]) for name in parts[0].said})

    def by_user(
        self, names: Sequence[str], times: Sequence[int], users: Places, measure: int = AUC, *, unknown: bool = False
    ) -> Matrix:
        """Times x users x names; NaN where likes or passes are missing."""
        rows = np.flatnonzero(~self.ahead & self.unknown if unknown else ~self.ahead)
        user, t, like = self.user[rows], self.t[rows], self.like[rows]
        begin = group_bounds(user, t)
        places = np.searchsorted(times, t[begin[:-1]]), np.searchsorted(users, user[begin[:-1]])
        found = np.full((len(times), len(users), len(names)), np.nan)
        for column, name in enumerate(names):
            found[*places, column] = judged(rounded(self.said[name][rows]), like, begin, measure, TOP)
        return found


def predict(
    trial: Trial,
    sources: Sequence[Source],
    times: Sequence[int],
    users: Places,
    runner: Runner,
    *,
    ahead: bool = True,
    advance: Callable[[], None] = lambda: None,
) -> Predictions:
    """Each source fills its column, as a part of its own. Not `ahead`: without the swipes that peers learn from."""
    asked, following = trial.held_out(users, times), trial.following(users if ahead else users[:0])
    said = {}
    fill = partial(_column, trial, asked, following, sources)
    for place, column in enumerate(runner.results(fill, range(len(sources)))):
        said[sources[place].name] = column
        advance()
    row = np.concatenate([asked.row, following.row])
    return Predictions(
        row=row,
        user=np.concatenate([asked.user, following.user]),
        t=np.concatenate([asked.t, following.t]),
        ahead=np.repeat([False, True], [len(asked), len(following)]),
        like=trial.table.like[row],
        unknown=~np.concatenate([trial.known_by_others(asked), trial.known_by_others(following)]),
        said=said,
    )


def _column(trial: Trial, asked: Asked, following: Asked, sources: Sequence[Source], place: int) -> Vector:
    scores, ahead = sources[place].predict(trial, asked, following)
    return np.concatenate([scores, np.full(len(following), np.nan) if ahead is None else ahead])


def rounded(scores: Vector) -> Vector:
    """So that scores that tie in exact arithmetic tie here."""
    return np.round(scores, 12)


def group_bounds(*columns: NDArray[np.int64]) -> Places:
    """Where rows begin that agree in all columns with their neighbours, with an end."""
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.asarray(np.r_[np.flatnonzero(np.r_[len(columns[0]) > 0, changes]), len(columns[0])])


def usable_times(trial: Trial, least: int) -> list[int]:
    """The protocol's numbers of swipes after which at least so many users can be tested."""
    counts = {t: len(trial.testable(t)) for t in trial.protocol.times}
    times = [t for t, count in counts.items() if count >= least]
    if not times:
        swipes = int(np.diff(trial.begin).max(initial=0))
        can = ", ".join(f"{count:,} users can be tested after {t}" for t, count in counts.items())
        raise InvalidInput(
            "at",
            f"fewer than {least} test users have {trial.protocol.rest} swipes, likes and passes, after any of "
            f"{', '.join(map(str, counts))} (the longest history has {swipes} swipes; {can}); lower --at, --rest or --at-least",
        )
    return times
