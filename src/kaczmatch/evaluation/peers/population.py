"""Peers that filter collaboratively: one model of everybody, fitted anew after each number of swipes.

The model gets all swipes of the users in the fit group and the first t of everybody who is tested, whenever they happened. Where the log
has times, that is more than anybody could have known at the moment of ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.measures.holdout_ranking import rounded
from kaczmatch.evaluation.peers.contract import Advance, Clock, PeerResult
from kaczmatch.evaluation.protocol.trial import Places, Trial

BPR = "implicit BPR"

Factors = tuple[Matrix, Matrix]  # of users, of candidates


@final
@dataclass(frozen=True, slots=True)
class PopulationPeer:
    """Factors of users and candidates."""

    name: str
    fit: Callable[[csr_array, int], Factors]  # users x candidates: 1 like, -1 pass; a seed
    individual: bool = False

    def run(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> PeerResult:
        areas = np.full((len(times), len(users)), np.nan)
        seconds, swipes = 0.0, 0
        for place, t in enumerate(times):
            rows = np.concatenate([trial.holdout_rows(np.flatnonzero(trial.fit), 0), trial.rows(trial.tested, 0, t)])
            matrix = _matrix(trial, rows)
            begun = clock()
            user_factors, candidate_factors = self.fit(matrix, trial.protocol.seed)
            seconds += clock() - begun
            swipes += len(rows)
            user_factors = _with_newcomers(user_factors, _likes(trial, rows))
            testable = set(trial.testable(t).tolist())
            for column, user in enumerate(users.tolist()):
                if user in testable:
                    rest = trial.holdout_rows(np.array([user]), t)
                    scores = candidate_factors[trial.table.candidate[rest]] @ user_factors[user]
                    areas[place, column] = auc(rounded(scores.astype(np.float64)), trial.table.like[rest])
            advance(len(users))
        return PeerResult(areas, None, seconds / max(swipes, 1))


def _matrix(trial: Trial, rows: Places) -> csr_array:
    """Each user's last decision about each candidate."""
    table = trial.table
    last = {(int(table.user[row]), int(table.candidate[row])): 1.0 if table.like[row] else -1.0 for row in rows}
    places = np.array(list(last), np.int32).reshape(-1, 2).T
    shape = (len(table.users), len(table.candidates))
    return csr_array((np.array(list(last.values()), np.float32), (places[0], places[1])), shape=shape)


def _likes(trial: Trial, rows: Places) -> NDArray[np.bool_]:
    """Whether each user has liked anybody yet."""
    return np.bincount(trial.table.user[rows], trial.table.like[rows], len(trial.table.users)) > 0


def _with_newcomers(user_factors: Matrix, known: NDArray[np.bool_]) -> Matrix:
    """A user who has liked nobody yet gets the average of those who have."""
    average = user_factors[known].mean(axis=0) if known.any() else np.zeros(user_factors.shape[1])
    return np.where(known[:, None], user_factors, average)
