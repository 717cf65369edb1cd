"""Peers that learn from each user's own swipes: one model per user."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.measures.holdout_ranking import rounded
from kaczmatch.evaluation.peers.contract import Advance, Clock, PeerModel, PeerResult
from kaczmatch.evaluation.protocol.traits_heard import FittedTraits
from kaczmatch.evaluation.protocol.trial import Places, Trial

Making = Callable[[int], PeerModel]  # with a seed


@final
@dataclass(frozen=True, slots=True)
class IndividualPeer:
    """Sees a candidate's tags and, with `appeal`, the candidate's appeal as one more feature; with `traits` those in its place."""

    name: str
    make: Making
    appeal: bool = False
    traits: FittedTraits | None = None
    individual: bool = True

    def run(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> PeerResult:
        areas = np.full((len(times), len(users)), np.nan)
        log_odds: list[float] = []
        predicts = self._model(trial).predicts_probabilities
        seconds: list[float] = []
        testable = [set(trial.testable(t).tolist()) for t in times]
        heard = None if self.traits is None else self.traits.heard_in(trial)
        said = trial.appeal_when_swiped if heard is None else np.asarray(heard.log.others)
        when_ranked = trial.appeal_when_ranked if heard is None else heard.when_ranked
        for column, user in enumerate(users.tolist()):
            model = self._model(trial)
            done = 0
            for place, t in enumerate(times):
                rows = trial.rows(np.array([user]), done, t)
                done = t
                for row, features in zip(rows.tolist(), self._features(trial, rows, said[rows]), strict=True):
                    if predicts:
                        log_odds.append(float(model.scores(features[None])[0]))
                    candidate, like = model.encode(features), bool(trial.table.like[row])
                    begun = clock()
                    model.learn(candidate, like)
                    seconds.append(clock() - begun)
                if user in testable[place]:
                    rest = trial.holdout_rows(np.array([user]), t)
                    scores = model.scores(self._features(trial, rest, when_ranked(rest, t)))
                    areas[place, column] = auc(rounded(scores), trial.table.like[rest])
            advance(len(times))
        return PeerResult(areas, np.array(log_odds) if predicts else None, float(np.median(seconds)) if seconds else math.nan)

    def _model(self, trial: Trial) -> PeerModel:
        return self.make(trial.protocol.seed)

    def _features(self, trial: Trial, rows: Places, said: Vector | Matrix) -> Matrix:
        tags = trial.table.features[trial.table.candidate[rows]]
        return np.column_stack([tags, said]) if self.appeal or self.traits is not None else tags
