"""Peers that know a person by that person's own swipes: a model each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.ranking import auc
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.frozen import to_rounding
from kaczmatch.evaluation.peers.contract import Advance, Clock, PeerModel, Showing
from kaczmatch.evaluation.trial import Places, Trial

Making = Callable[[int], PeerModel]  # with a seed


@final
@dataclass(frozen=True, slots=True)
class IndividualPeer:
    """Sees a candidate's tags, and the candidate's appeal as one more feature where it is told to."""

    name: str
    make: Making
    appeal: bool = False
    individual: bool = True

    def show(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> Showing:
        areas = np.full((len(times), len(users)), np.nan)
        said: list[float] = []
        says = self._model(trial).says_probabilities
        seconds: list[float] = []
        testable = [set(trial.testable(t).tolist()) for t in times]
        for column, user in enumerate(users.tolist()):
            model = self._model(trial)
            done = 0
            for place, t in enumerate(times):
                rows = trial.rows(np.array([user]), done, t)
                done = t
                for row, features in zip(rows.tolist(), self._features(trial, rows, trial.seen[rows]), strict=True):
                    if says:
                        said.append(float(model.scores(features[None])[0]))
                    candidate, like = model.form(features), bool(trial.table.like[row])
                    begun = clock()
                    model.learn(candidate, like)
                    seconds.append(clock() - begun)
                if user in testable[place]:
                    rest = trial.rest_rows(np.array([user]), t)
                    scores = model.scores(self._features(trial, rest, trial.ranked_appeal(rest, t)))
                    areas[place, column] = auc(to_rounding(scores), trial.table.like[rest])
            advance(len(times))
        return Showing(areas, np.array(said) if says else None, float(np.median(seconds)) if seconds else math.nan)

    def _model(self, trial: Trial) -> PeerModel:
        return self.make(trial.protocol.seed)

    def _features(self, trial: Trial, rows: Places, appeal: Vector) -> Matrix:
        tags = trial.table.features[trial.table.candidate[rows]]
        return np.column_stack([tags, appeal]) if self.appeal else tags
