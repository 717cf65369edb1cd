"""Peers that filter collaboratively: one model of everybody, fitted anew after each number of swipes.

The model hears what the protocol allows. Where other people's future is past, that is all swipes of the fit group and the first t of
everybody tested, in one fit. Otherwise tested users are taken in groups by the moment at which they are ranked, and a group's model
is fitted on what everybody had decided before the first of these moments. A user's own first t swipes are known in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from scipy.sparse import csr_array

from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.measures.holdout_ranking import rounded
from kaczmatch.evaluation.peers.contract import Advance, Clock, PeerResult
from kaczmatch.evaluation.protocol.trial import Places, Trial

BPR = "implicit BPR"
_GROUPS = 8  # of tested users, each with a fit of its own


class FittedPeer(Protocol):
    """One model of everybody."""

    def scores(self, user: int, own: csr_array) -> Vector:
        """Of every candidate to a user with these decisions (1 x candidates: 1 like, -1 pass, empty for a newcomer)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class PopulationPeer:
    """A model of users and candidates."""

    name: str
    fit: Callable[[csr_array, int], FittedPeer]  # users x candidates: 1 like, -1 pass; a seed
    individual: bool = False

    def run(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> PeerResult:
        areas = np.full((len(times), len(users)), np.nan)
        seconds, swipes = 0.0, 0
        for place, t in enumerate(times):
            for group, rows in _groups(trial, users, t):
                if not len(rows):  # nobody has decided anything yet
                    areas[place, np.searchsorted(users, group)] = 0.5
                    continue
                begun = clock()
                model = self.fit(_matrix(trial, rows), trial.protocol.seed)
                seconds += clock() - begun
                swipes += len(rows)
                own = _matrix(trial, trial.rows(group, 0, t))
                for user in group.tolist():
                    rest = trial.holdout_rows(np.array([user]), t)
                    scores = np.asarray(model.scores(user, own[[user]]), np.float64)[trial.table.candidate[rest]]
                    areas[place, np.searchsorted(users, user)] = auc(rounded(scores), trial.table.like[rest])
            advance(len(users))
        return PeerResult(areas, None, seconds / max(swipes, 1))


def fits_at_each(trial: Trial) -> int:
    """The most fits at one number of swipes."""
    return 1 if trial.knowledge == "mature" else _GROUPS


def _groups(trial: Trial, users: Places, t: int) -> Iterator[tuple[Places, Places]]:
    """Testable users, and the rows that their model hears."""
    testable = np.intersect1d(users, trial.testable(t))
    if trial.knowledge == "mature":
        yield testable, np.concatenate([trial.holdout_rows(np.flatnonzero(trial.fit), 0), trial.rows(trial.tested, 0, t)])
        return
    moments = trial.clock[trial.begin[testable] + t]
    for group in np.array_split(np.argsort(moments, kind="stable"), min(_GROUPS, max(len(testable), 1))):
        if len(group):
            heard = trial.counts | np.isin(trial.table.user, testable[group])
            yield np.sort(testable[group]), np.flatnonzero((trial.clock < moments[group].min()) & heard)


def _matrix(trial: Trial, rows: Places) -> csr_array:
    """Each user's last decision about each candidate."""
    table = trial.table
    last = {(int(table.user[row]), int(table.candidate[row])): 1.0 if table.like[row] else -1.0 for row in rows}
    places = np.array(list(last), np.int32).reshape(-1, 2).T
    shape = (len(table.users), len(table.candidates))
    return csr_array((np.array(list(last.values()), np.float32), (places[0], places[1])), shape=shape)
