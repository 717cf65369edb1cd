"""The strongest simple things: one logistic regression and one gradient boosting for all users, by scikit-learn.

Both see a candidate's tags and appeal, the user's running like rate, and the user's running profile: how much more than that rate
each tag, and appeal, was liked so far, times what the candidate has of it. They are trained on the fitted users as those stood
after some number of swipes, drawn at random, looking at a later swipe: as they are asked about the tested ones.

What the protocol forbids they do not see. The appeal they are trained on is that of the fitted users alone. Where other people's
future is past, a swipe's appeal would be what is left when its own decision is taken out, which tells the decision to a model that
can guess the sum. So there it is counted from other parts of the fitted users than the one that the swipe's user is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.trial import Asked, Places, Trial, at_most

LOGISTIC, BOOSTING = POOLED = ("pooled logistic regression", "pooled gradient boosting")
MOST_ROWS = 60_000  # to be trained on
_PARTS = 10  # of the fitted users, where other people's future is past
_SHRINKAGES = (2.0, 20.0)  # swipes that a running profile begins with


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """One of the models, fitted in a trial."""

    name: str
    model: Any

    @classmethod
    def fitted(cls, trial: Trial, name: str) -> Pooled:
        rng = np.random.default_rng([trial.protocol.seed, 6])
        rows = at_most(MOST_ROWS, np.flatnonzero(trial.fit_rows))
        begin = trial.begin[trial.table.user[rows]]
        times = np.asarray(trial.protocol.times)
        possible = np.maximum(np.searchsorted(times, rows - begin, side="right"), 1)
        t = np.minimum(times[(rng.random(len(rows)) * possible).astype(np.int64)], rows - begin)
        moment = trial.clock[begin + t]
        asked = Asked(rows, trial.table.user[rows], t, moment, _appeal_of_fitted(trial, rows, moment))
        seen = np.zeros(len(trial.table))
        seen[trial.fit_rows] = trial.fitted_appeals(trial.fit, np.flatnonzero(trial.fit_rows), trial.clock[trial.fit_rows])
        model, features = _logistic() if name == LOGISTIC else _boosting(), _features(trial, asked, seen)
        with _one_thread():
            return cls(name, model.fit(features, trial.table.like[rows]))

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, None]:  # noqa: ARG002
        """Log-odds; nothing of what is following, since the running averages stand still between the tested numbers of swipes."""
        parts = np.array_split(np.arange(len(asked)), max(1, len(asked) // 20_000))
        found = [self._log_odds(trial, asked, part) for part in parts]
        return np.concatenate(found), None

    def _log_odds(self, trial: Trial, asked: Asked, part: Places) -> Vector:
        if not len(part):
            return np.empty(0)
        some = Asked(*(getattr(asked, name)[part] for name in ("row", "user", "t", "moment", "appeal")))
        features = _features(trial, some, trial.appeal_when_swiped)
        with _one_thread():
            likely = self.model.predict_proba(features)[:, 1]
        return np.asarray(logit(np.clip(likely, 1e-9, 1.0 - 1e-9)), np.float64)


def _one_thread() -> Any:
    """The same numbers on every machine; and parts run on all cores already."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(copy=False), LogisticRegression(C=0.01, max_iter=300))


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=80,
        max_leaf_nodes=15,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )


def _features(trial: Trial, asked: Asked, seen: Vector) -> NDArray[np.float32]:
    """`seen` is the appeal of each swipe of the log as its user saw it."""
    table = trial.table
    shown = np.column_stack([table.features[table.candidate[asked.row]], asked.appeal]).astype(np.float32)
    stage, place = np.unique(np.stack([asked.user, asked.t]), axis=1, return_inverse=True)
    rate = trial.own_rate(*stage)
    profile = _profiles(trial, stage[0], stage[1], rate, seen)
    columns = [shown, np.stack([logit(rate)[place], np.log1p(asked.t)], axis=1)]
    for shrinkage in _SHRINKAGES:
        product = shown * (profile / (stage[1] + shrinkage)[:, None]).astype(np.float32)[place]
        columns += [product, product.sum(axis=1, keepdims=True)]
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _profiles(trial: Trial, users: Places, t: Places, rate: Vector, seen: Vector) -> Matrix:
    """Of each user after t swipes: the sum over them of like - rate times what was shown."""
    table, found = trial.table, np.zeros((len(users), trial.table.features.shape[1] + 1))
    for place in np.flatnonzero(t).tolist():
        rows = slice(trial.begin[users[place]], trial.begin[users[place]] + t[place])
        excess = table.like[rows] - rate[place]
        found[place, :-1] = excess @ table.features[table.candidate[rows]]
        found[place, -1] = excess @ seen[rows]
    return found


def _appeal_of_fitted(trial: Trial, rows: Places, moments: Places) -> Vector:
    if trial.knowledge != "mature":
        return trial.fitted_appeals(trial.fit, rows, moments)
    part = np.random.default_rng([trial.protocol.seed, 7]).integers(0, _PARTS, len(trial.table.users))
    found = np.zeros(len(rows))
    for one in range(_PARTS):
        inside = part[trial.table.user[rows]] == one
        found[inside] = trial.fitted_appeals(trial.fit & (part != one), rows[inside], moments[inside])
    return found
