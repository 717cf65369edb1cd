"""Other libraries' learners under the same protocol: ordinary estimators, each behind a few lines.

An individual peer has one model per user, which sees a candidate's tags and, with appeal, that as one more feature. A population
peer has one model of everybody, fitted anew after each number of swipes to what the protocol allows. Where other people's future
is past, that is all swipes of the fit group and the first t of everybody tested, in one fit. Otherwise tested users are taken in
groups by the moment at which they are ranked, and a group's model is fitted on what everybody had decided before the first of these
moments. A user's own first t swipes are known in any case.

Where settings differ from the library's defaults, these were better on the fit users of the logs in docs/peers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Protocol, final

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit, logit

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.predictions import group_bounds
from kaczmatch.evaluation.trial import Asked, Places, Trial
from kaczmatch.extras import missing_extra

BPR = "implicit BPR"
_GROUPS = 8  # of tested users, each with a fit of its own
_RIDGE = 100.0  # of EASE
_SUREST = 1e-12


class UserModel(Protocol):
    """One user's model."""

    def learn(self, candidate: Vector, like: bool) -> None: ...

    def scores(self, features: Matrix) -> Vector:
        """Higher for candidates that the user is likelier to like: log-odds, of models that say any."""
        ...


@final
@dataclass(frozen=True, slots=True)
class IndividualPeer:
    """Learns from each user's own swipes."""

    name: str
    make: Callable[[int], UserModel]  # with a seed
    appeal: bool = False
    likely: bool = True  # its scores are log-odds

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, Vector | None]:
        order = np.lexsort((asked.row, asked.t, asked.user))
        bounds = group_bounds(asked.user[order], asked.t[order])
        found, ahead = np.empty(len(asked)), np.full(len(following), np.nan)
        first = np.searchsorted(following.user, np.arange(len(trial.table.users)))
        model, user, done = self.make(trial.protocol.seed), -1, 0
        for part in np.split(order, bounds[1:-1]) if len(order) else []:
            if asked.user[part[0]] != user:
                model, user, done = self.make(trial.protocol.seed), int(asked.user[part[0]]), 0
            rows = np.arange(first[user] + done, first[user] + asked.t[part[0]])
            for row, seen in zip(rows.tolist(), self._features(trial, following, rows), strict=True):
                if self.likely:
                    ahead[row] = expit(model.scores(seen[None])[0])
                model.learn(seen, bool(trial.table.like[following.row[row]]))
            done = int(asked.t[part[0]])
            found[part] = model.scores(self._features(trial, asked, part))
        return found, ahead if self.likely else None

    def _features(self, trial: Trial, asked: Asked, rows: Places) -> Matrix:
        tags = trial.table.features[trial.table.candidate[asked.row[rows]]]
        return np.column_stack([tags, asked.appeal[rows]]) if self.appeal else tags


class PopulationModel(Protocol):
    """One model of everybody."""

    def scores(self, user: int, own: csr_array) -> Vector:
        """Of every candidate to a user with these decisions (1 x candidates: 1 like, -1 pass, empty for a newcomer)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class PopulationPeer:
    """Learns from everybody's decisions, and knows no tags."""

    name: str
    fit: Callable[[csr_array, int], PopulationModel]  # users x candidates: 1 like, -1 pass; a seed

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, None]:  # noqa: ARG002
        found = np.zeros(len(asked))  # as before anybody has decided anything
        for t in np.unique(asked.t).tolist():
            rows = np.flatnonzero(asked.t == t)
            users, first = np.unique(asked.user[rows], return_index=True)
            parts = dict(zip(users.tolist(), np.split(rows, first[1:]), strict=True))
            for group, heard in _heard(trial, users, t):
                if not len(heard):
                    continue
                model, own = self.fit(_decisions(trial, heard), trial.protocol.seed), _decisions(trial, trial.rows(group, 0, t))
                for user in group.tolist():
                    part = parts[user]
                    found[part] = model.scores(user, own[[user]])[trial.table.candidate[asked.row[part]]]
        return found, None


def _heard(trial: Trial, users: Places, t: int) -> Iterator[tuple[Places, Places]]:
    """Users, and the rows that their model hears."""
    if trial.knowledge == "mature":
        yield users, np.concatenate([trial.rows(np.flatnonzero(trial.fit), 0), trial.rows(trial.tested, 0, t)])
        return
    moments = trial.clock[trial.begin[users] + t]
    for group in np.array_split(np.argsort(moments, kind="stable"), min(_GROUPS, max(len(users), 1))):
        if len(group):
            yield np.sort(users[group]), np.flatnonzero(trial.clock < moments[group].min())


def _decisions(trial: Trial, rows: Places) -> csr_array:
    table = trial.table
    values = np.where(table.like[rows], 1.0, -1.0).astype(np.float32)
    shape = (len(table.users), len(table.candidates))
    return csr_array((values, (table.user[rows].astype(np.int32), table.candidate[rows].astype(np.int32))), shape=shape)


@final
class RiverModel:
    """Any of River's classifiers, on the features that are present."""

    def __init__(
        self,
        classifier: str,
        _seed: int,
        *,
        rate: float | None = None,
        constant: bool = False,
        steps: bool = False,
        **settings: Any,
    ) -> None:
        from river import linear_model, optim

        if rate is not None:
            settings = {"optimizer": optim.SGD(rate), "intercept_lr": rate}
        self._model, self._constant, self._steps = getattr(linear_model, classifier)(**settings), constant, steps

    def _encoded(self, features: Vector) -> dict[Any, float]:
        found: dict[Any, float] = {int(place): float(features[place]) for place in np.flatnonzero(features)}
        if self._steps:  # a feature is there or not, so a number that is neither 0 nor 1 is one of many halves
            found = {place if value == 1.0 else (place, round(2.0 * value)): 1.0 for place, value in found.items()}
        return found | {"always": 1.0} if self._constant else found

    def learn(self, candidate: Vector, like: bool) -> None:
        self._model.learn_one(self._encoded(candidate), like)

    def scores(self, features: Matrix) -> Vector:
        said = [self._model.predict_proba_one(self._encoded(row)).get(True, 0.5) for row in features]
        return np.asarray(logit(np.clip(said, _SUREST, 1.0 - _SUREST)))


@final
class GradientModel:
    """scikit-learn: one step of stochastic gradient descent with the logistic loss per swipe."""

    def __init__(self, seed: int) -> None:
        from sklearn.linear_model import SGDClassifier

        self._model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, random_state=seed)

    def learn(self, candidate: Vector, like: bool) -> None:
        self._model.partial_fit(candidate[None], [like], classes=[False, True])

    def scores(self, features: Matrix) -> Vector:
        empty = not hasattr(self._model, "coef_")
        return np.zeros(len(features)) if empty else np.asarray(self._model.decision_function(features))


@final
class RefittedModel:
    """scikit-learn: a logistic regression fitted to all swipes so far; before a like and a pass it knows the rate alone."""

    def __init__(self, _seed: int) -> None:
        from sklearn.linear_model import LogisticRegression

        self._seen: list[Vector] = []
        self._likes: list[bool] = []
        self._model, self._fitted = LogisticRegression(C=0.3, solver="liblinear"), 0

    def learn(self, candidate: Vector, like: bool) -> None:
        self._seen.append(candidate)
        self._likes.append(like)

    def scores(self, features: Matrix) -> Vector:
        likes = sum(self._likes)
        if likes in (0, len(self._likes)):
            return np.full(len(features), np.log((likes + 1.0) / (len(self._likes) - likes + 1.0)))
        if self._fitted < len(self._likes):
            self._model.fit(np.array(self._seen), self._likes)
            self._fitted = len(self._likes)
        return np.asarray(self._model.decision_function(features))


@final
class VowpalWabbitModel:
    """Logistic regression by its adaptive, normalised and invariant updates, which are its defaults."""

    def __init__(self, _seed: int) -> None:
        import vowpalwabbit

        self._model = vowpalwabbit.Workspace("--loss_function logistic --quiet -b 14")  # room for thousands of tags

    def learn(self, candidate: Vector, like: bool) -> None:
        self._model.learn(f"{1 if like else -1} {self._encoded(candidate)}")

    def scores(self, features: Matrix) -> Vector:
        return np.array([self._model.predict(self._encoded(row)) for row in features], np.float64)

    def _encoded(self, features: Vector) -> str:
        return "| " + " ".join(f"{place}:{features[place]:.9g}" for place in np.flatnonzero(features))


@final
class BanditModel:
    """MABWiser: a contextual bandit with one arm, showing the candidate, whose reward is a like."""

    def __init__(self, policy: str, seed: int) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        # What is ranked is ranked once: at the default exploration of 1 the draws of LinTS drown what it knows.
        self._model, self._empty = MAB(["show"], getattr(LearningPolicy, policy)(alpha=0.1, l2_lambda=5.0), seed=seed), True

    def learn(self, candidate: Vector, like: bool) -> None:
        learn = self._model.fit if self._empty else self._model.partial_fit
        learn(["show"], [float(like)], np.r_[candidate, 1.0][None])
        self._empty = False

    def scores(self, features: Matrix) -> Vector:
        if self._empty:
            return np.zeros(len(features))
        model = deepcopy(self._model)  # its draws are not to move the next ones
        said = model.predict_expectations(np.column_stack([features, np.ones(len(features))]))
        return np.array([one["show"] for one in (said if isinstance(said, list) else [said])])


@final
class Factors:
    """implicit: factors of users and candidates. A user of whom the model has heard nothing gets the average of those it knows."""

    def __init__(self, make: Callable[[], Any], swipes: csr_matrix, *, folds_in: bool) -> None:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "blas"):  # more threads give other numbers, and implicit asks for it
            self._model = make()
            self._model.fit(swipes, show_progress=False)
        self._folds_in = folds_in
        self._known = np.asarray(swipes.maximum(0.0).sum(axis=1)).ravel() > 0.0
        factors = self._model.user_factors
        self._average = factors[self._known].mean(axis=0) if self._known.any() else np.zeros(factors.shape[1])

    def scores(self, user: int, own: csr_array) -> Vector:
        if self._folds_in and own.maximum(0.0).sum() > 0.0:
            factors = self._model.recalculate_user(0, csr_matrix(own))
        else:
            factors = self._model.user_factors[user] if self._known[user] and not self._folds_in else self._average
        return np.asarray(self._model.item_factors @ np.asarray(factors).ravel(), np.float64)


def ranked(swipes: csr_array, seed: int) -> Factors:
    """BPR: what is liked goes before what is not known to be liked; a pass is as good as not seen."""
    from implicit.cpu.bpr import BayesianPersonalizedRanking

    likes = csr_matrix(swipes.maximum(0.0))
    likes.eliminate_zeros()
    settings = {"factors": 8, "learning_rate": 0.03, "regularization": 0.05}
    return Factors(partial(BayesianPersonalizedRanking, **settings, random_state=seed, num_threads=1), likes, folds_in=False)


def least_squares(swipes: csr_array, seed: int) -> Factors:
    """ALS: a pass is a 0 that is as sure as the 1 of a like. Users are folded in by their own decisions."""
    from implicit.cpu.als import AlternatingLeastSquares

    settings = {"factors": 8, "regularization": 1.0, "alpha": 10.0}
    return Factors(
        partial(AlternatingLeastSquares, **settings, random_state=seed, num_threads=1), csr_matrix(swipes), folds_in=True
    )


@final
class Ease:
    """EASE (Steck 2019): a linear model from decisions to decisions, B = I − P diag(1/P) with P = (XᵀX + λI)⁻¹, solved on the users'
    side. A user is what they decided, beside the average of everybody, which is all that is known of a newcomer."""

    def __init__(self, swipes: csr_array, _seed: int) -> None:
        self._x = swipes[np.flatnonzero(np.diff(swipes.indptr))].astype(np.float64)
        gram = (self._x @ self._x.T).toarray() + _RIDGE * np.eye(self._x.shape[0])
        self._solved = np.asarray(np.linalg.solve(gram, self._x.toarray()))
        self._diagonal = 1.0 - np.asarray(self._x.multiply(self._solved).sum(axis=0)).ravel()
        self._average = np.asarray(self._x.sum(axis=0)).ravel() / self._x.shape[0]

    def scores(self, _user: int, own: csr_array) -> Vector:
        asked = np.asarray(own.toarray()).ravel() + self._average
        return np.asarray(asked - (asked - (self._x @ asked) @ self._solved) / self._diagonal)


Peer = IndividualPeer | PopulationPeer


LIBRARIES: Mapping[str, Sequence[Peer]] = {  # by the name under which a library is imported
    "river": (
        IndividualPeer("River PA", partial(RiverModel, "PAClassifier", C=0.1, mode=2)),
        IndividualPeer("River logistic", partial(RiverModel, "LogisticRegression", rate=0.1)),
        IndividualPeer("River ALMA", partial(RiverModel, "ALMAClassifier", constant=True)),  # no intercept of its own
        IndividualPeer("River AdPredictor", partial(RiverModel, "AdPredictor", steps=True, beta=3.0, epsilon=0.0)),
    ),
    "vowpalwabbit": (IndividualPeer("Vowpal Wabbit logistic", VowpalWabbitModel),),
    "sklearn": (
        IndividualPeer("scikit-learn SGD", GradientModel),
        IndividualPeer("scikit-learn logistic, refitted", RefittedModel),
    ),
    "mabwiser": (
        IndividualPeer("MABWiser LinUCB", partial(BanditModel, "LinUCB"), likely=False),
        IndividualPeer("MABWiser LinTS", partial(BanditModel, "LinTS"), likely=False),
    ),
    "implicit": (
        PopulationPeer(BPR, ranked),
        PopulationPeer("implicit ALS", least_squares),
    ),
    "scipy": (PopulationPeer("EASE", Ease),),
}


def all_peers(libraries: Sequence[str] = tuple(LIBRARIES)) -> list[Peer]:
    """Every peer; those that learn from a user's own swipes alone, also with appeal as one more feature."""
    found: list[Peer] = []
    for library in libraries:
        try:
            import_module(library)
        except ModuleNotFoundError as missing:
            raise InvalidInput("peers", str(missing_extra(missing, "bench"))) from missing
        for peer in LIBRARIES[library]:
            found.append(peer)
            if isinstance(peer, IndividualPeer):
                found.append(replace(peer, name=f"{peer.name} + appeal", appeal=True))
    return found
