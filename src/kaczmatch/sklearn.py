"""Any learner as a scikit-learn classifier, for one user or for many, with what the users share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self, final

from kaczmatch.extras import missing_extra

try:
    import sklearn as _sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.moments import microseconds
from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Column, Integers, Matrix, Vector, as_column
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.logs.fold import group_by_user, user_numbers
from kaczmatch.learners.logs.replay import States, replay
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.population_fit import fit_population
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import AnyPrior
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.learners.registry import learner as learner_called
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.learners.state import State

_SUREST = 1e-12
_ANYBODY = 0  # the one user where no column says who swiped
_OWN = ("learner", "user", "candidate", "at", "prior")  # parameters that are no settings of a learner


def _predicts_probabilities(classifier: Any) -> bool:
    return isinstance(learner_called(classifier.learner), ProbabilisticLearner)


def _has_one_user(classifier: Any) -> bool:
    return classifier.user is None


class SwipeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The learner called `learner`; its settings are further parameters, as in ``SwipeClassifier("tk", alpha=9)``.

    A row is a swipe: the numbers of a candidate. Without `user`, all rows are one user's, learned in their order, from `prior` or
    from weights of 0.

    `user`, `candidate` and `at` name columns of X, or give their places in an array. With `user`, each user learns from rows of
    their own, from `prior` or from a prior that is fitted to all users. With `candidate`, learners that can weigh what others
    said of a candidate do so: as appeal, or with "probit-traits" as traits where they pay. `at` (datetimes or seconds) says the
    order of the rows; without it they are in order. A row of `fit` sees what others had said before it, a prediction what they
    have said in all. Users and candidates may be new.

    Of two classes the greater is the like, but of "like" and "pass" it is "like". Each swipe counts once, so there is no
    `sample_weight`. The states are in `states_`, by user; where there is one user, it is called 0.
    """

    def __init__(
        self,
        learner: str = "probit-diag",
        *,
        user: str | int | None = None,
        candidate: str | int | None = None,
        at: str | int | None = None,
        prior: AnyPrior | None = None,
        **settings: Any,
    ) -> None:
        self.learner = learner
        self.user = user
        self.candidate = candidate
        self.at = at
        self.prior = prior
        for name, value in settings.items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What was given; with `deep`, all settings of the learner."""
        usual = {}
        if deep and isinstance(self.learner, str) and self.learner in LEARNERS:
            rule = learner_called(self.learner)
            usual = {each.metadata.get("setting", each.name): getattr(rule, each.name) for each in fields(rule) if each.init}
        return usual | {name: getattr(self, name) for name in _OWN} | self._settings()

    def set_params(self, **params: Any) -> Self:
        """Change parameters, settings of the learner among them."""
        if "learner" in params:  # first, because it says which settings there are
            self.learner = params["learner"]
        super().set_params(**params)
        return self

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Learn from nothing but these rows."""
        swipes, liked = self._swipes(X, y, None, reset=True)
        if self.user is None:
            self.states_, self.others_ = self._of_one_user(swipes, liked, None), None
            return self
        log, rule = swipes.log(liked), learner_called(self.learner, **self._settings())
        prior: AnyPrior | None = self.prior
        others: _Others | None = None
        if self.candidate is not None and isinstance(rule, ProbitTraits):
            if prior is not None:
                raise InvalidInput("prior", "is fitted to these swipes, together with traits; leave it out")
            population = fit_population(log, learner=rule)
            model = TraitModel(learner=rule, prior=population.prior, reference=int(np.asarray(log.at).max()))
            names = swipes.candidates()
            others = _Appeal(log, names) if population.sites is None else _Traits(log, names, model, population.sites)
            rule, prior = population.learner, population.prior
        elif self.candidate is not None and isinstance(rule, Probit | ProbitDiagonal):
            rule, others = replace(rule, appeal=True), _Appeal(log, swipes.candidates())
        if others is not None:
            log = others.heard()
        if prior is None:
            usual = log.dimensions**-0.5 if isinstance(rule, HingeLearner) else 0.0  # the paper's rules start at unit length
            prior = fit_prior(rule, log, neutral=np.full(log.dimensions, usual))
        self.states_, self.others_ = replay(rule, log, prior=prior, end_last_session=True), others
        return self

    @available_if(_has_one_user)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn from these rows of the one user too. The first call names both `classes`, or has rows of both."""
        before: States | None = getattr(self, "states_", None)
        swipes, liked = self._swipes(X, y, classes if before is None else self.classes_, reset=before is None)
        self.states_, self.others_ = self._of_one_user(swipes, liked, before), None
        return self

    def decision_function(self, X: ArrayLike) -> Vector:  # noqa: N803
        """The log-odds of `classes_[1]`; for learners without probabilities, how far the score lies above the threshold."""

        def scored(learner: Learner, state: State, rows: Matrix, said: Any) -> Vector:
            if isinstance(learner, ProbabilisticLearner):
                return np.asarray(logit(np.clip(learner.probability(state, rows, said), _SUREST, 1.0 - _SUREST)))
            scores = np.asarray(learner.score(state, rows, said))
            return scores - learner.theta(state.cells, state.dimensions) if isinstance(learner, HingeLearner) else scores

        scores = self._by_user(X, scored)
        return scores if self._like() == 1 else -scores

    @available_if(_predicts_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The probability of each class, in the order of `classes_`."""
        likely = self._by_user(X, lambda learner, *asked: learner.probability(*asked))
        return np.column_stack([1.0 - likely, likely] if self._like() == 1 else [likely, 1.0 - likely])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likelier class of each row."""
        above = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[above.astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _settings(self) -> dict[str, Any]:
        """Those of the learner that were given."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in _OWN and not name.startswith("_") and not name.endswith("_")
        }

    def _of_one_user(self, swipes: _Swipes, liked: NDArray[np.bool_], before: States | None) -> States:
        log = swipes.log(liked)
        learner = learner_called(self.learner, **self._settings())
        prior = np.zeros(log.dimensions) if self.prior is None else self.prior
        return replay(learner, log, prior=prior, states=before, end_last_session=True)

    def _swipes(
        self,
        X: Any,  # noqa: N803
        y: ArrayLike,
        classes: ArrayLike | None,
        *,
        reset: bool,
    ) -> tuple[_Swipes, NDArray[np.bool_]]:
        """The rows in order, and which of them are likes."""
        if self.user is None and self.candidate is not None:
            raise InvalidInput("user", "name the column of users too: what others said of a candidate is told by it")
        apart, numbers = self._apart(X)
        rows, labels = validate_data(self, numbers, y, dtype=np.float64, reset=reset)
        check_classification_targets(labels)
        labels = column_or_1d(labels)
        known = unique_labels(labels if classes is None else np.asarray(classes))
        if len(known) != 2:
            raise InvalidInput("y", f"Only binary classification is supported: likes and passes, got {len(known)} classes")
        strange = np.setdiff1d(labels, known)
        if len(strange):
            raise InvalidInput("y", f"{strange[0]!r} is none of the classes {list(known)}")
        self.classes_ = known
        return _Swipes(rows, **apart).in_order(labels == known[self._like()])

    def _apart(self, X: Any) -> tuple[dict[str, Column], Any]:  # noqa: N803
        """The columns of users, candidates and times, and the others, which are numbers."""
        named = {field: getattr(self, field) for field in ("user", "candidate", "at") if getattr(self, field) is not None}
        if not named:
            return {}, X
        if hasattr(X, "columns"):
            for field, name in named.items():
                if name not in X.columns:
                    raise InvalidInput(field, f"X has no column {name!r}; {did_you_mean(str(name), map(str, X.columns))}")
            rest = [name for name in X.columns if name not in named.values()]
            return {field: np.asarray(X[name].to_numpy()) for field, name in named.items()}, X[rest]
        array = check_array(X, dtype=None, input_name="X")
        for field, place in named.items():
            if not isinstance(place, int) or not 0 <= place < array.shape[1]:
                raise InvalidInput(
                    field, f"must be the place of a column, below {array.shape[1]}, as X is no frame; got {place!r}"
                )
        return {field: array[:, place] for field, place in named.items()}, np.delete(array, list(named.values()), axis=1)

    def _like(self) -> int:
        """Which of the classes is the like."""
        return 0 if [str(each).lower() for each in self.classes_] == ["like", "pass"] else 1

    def _by_user(self, X: Any, of: Callable[[Any, State, Matrix, Any], Vector]) -> Vector:  # noqa: N803
        """What `of` makes of each user's state and rows, and of what others said of these."""
        check_is_fitted(self)
        apart, numbers = self._apart(X)
        swipes = _Swipes(validate_data(self, numbers, dtype=np.float64, reset=False), **apart)
        said = None if self.others_ is None else self.others_.now(swipes)
        start = self.states_.learner.start(self.states_.prior)
        users, order, begin = group_by_user(swipes.users)
        found = np.empty(len(swipes.rows))
        for user, mine in zip(users, np.split(order, begin[1:-1]), strict=True):
            heard = () if said is None else said[mine]
            found[mine] = of(self.states_.learner, self.states_.get(user, start), swipes.rows[mine], heard)
        return found


@final
@dataclass(frozen=True, eq=False)
class _Swipes:
    """Rows of candidates, with who saw whom and when, as far as X says so."""

    rows: Matrix
    user: Column | None = None
    candidate: Column | None = None
    at: Column | None = None

    def in_order(self, liked: NDArray[np.bool_]) -> tuple[_Swipes, NDArray[np.bool_]]:
        """By time, where there is one."""
        if self.at is None:
            return self, liked
        at = microseconds(as_column(self.at, "at"))
        order = np.argsort(at, kind="stable")
        user, candidate = (None if each is None else each[order] for each in (self.user, self.candidate))
        return _Swipes(self.rows[order], user, candidate, at[order].astype("datetime64[us]")), liked[order]

    @property
    def users(self) -> Column:
        return np.full(len(self.rows), _ANYBODY) if self.user is None else as_column(self.user, "user")

    def candidates(self) -> dict[Hashable, Vector]:
        """The numbers of each candidate, who has the same ones in every row."""
        names, number = user_numbers(np.asarray(self.candidate))
        first = np.full(len(names), len(self.rows))
        np.minimum.at(first, number, np.arange(len(self.rows)))
        features = self.rows[first]
        other = (features[number] != self.rows).any(axis=1)
        if other.any():
            name = names[number[int(np.argmax(other))]]
            raise InvalidInput("candidate", f"{name!r} has other numbers in a later row; leave `candidate` out where they change")
        return dict(zip(names, features, strict=True))

    def log(self, liked: NDArray[np.bool_]) -> SwipeLog:
        """Rows that are in order. Where candidates are named, each row has a moment, even if X does not say when it was."""
        if self.candidate is None:
            return SwipeLog(user=self.users, features=self.rows, label=liked, at=self.at)
        at = np.arange(len(self.rows)).astype("datetime64[us]") if self.at is None else self.at
        return SwipeLog(user=self.users, candidate=self.candidate, candidates=self.candidates(), label=liked, at=at)


class _Others(ABC):
    """What others said of candidates, in a log whose `candidates` have a row each."""

    def __init__(self, log: SwipeLog, candidates: Iterable[Hashable]) -> None:
        self.log = log
        self.end = int(np.asarray(log.at).max()) + 1
        self._row = {name: row for row, name in enumerate(candidates)}

    def rows_of(self, swipes: _Swipes) -> Integers:
        """The row of each candidate, or -1 of one who is new."""
        return np.array([self._row.get(name, -1) for name in np.asarray(swipes.candidate).tolist()], np.int64)

    @abstractmethod
    def heard(self) -> SwipeLog:
        """The log, with what each swipe's user had heard before it."""

    @abstractmethod
    def now(self, swipes: _Swipes) -> Matrix:
        """What users have heard of candidates in the end."""


@final
class _Appeal(_Others):
    def heard(self) -> SwipeLog:
        return self.log.with_others(appeal_rows(AppealModel().before_swipes(self.log)))

    def now(self, swipes: _Swipes) -> Matrix:
        rows = self.rows_of(swipes)
        known, found = rows >= 0, np.zeros(len(rows))
        viewers, end = swipes.users[known], np.datetime64(self.end, "us")
        found[known] = AppealModel().at_moments(self.log, viewer=viewers, candidate=rows[known], at=end)
        return appeal_rows(found)


@final
class _Traits(_Others):
    def __init__(self, log: SwipeLog, candidates: Iterable[Hashable], model: TraitModel, sites: SiteLog) -> None:
        super().__init__(log, candidates)
        self._model, self._expected = model, model.expected(log.features)
        names, self._user = user_numbers(log.user)  # numbered as the fit numbers them
        self._number = {name: number for number, name in enumerate(names)}
        alone = np.flatnonzero(~np.isin(self._user, sites.rater))  # of people whom it was not fitted on
        if len(alone):
            their, theirs = self._user[alone], log.select(alone)
            followed = follow_traits(self._model, theirs, their, sites).sites
            sites = sites.followed_by(SiteLog(their, *theirs.candidates_and_times(), followed))
        self._sites = sites

    def heard(self) -> SwipeLog:
        log = self.log
        candidate, at = log.candidates_and_times()
        said = self._sites.traits_at(self._model, self._expected, viewer=self._user, candidate=candidate, at=at)
        return log.with_others(said)

    def now(self, swipes: _Swipes) -> Matrix:
        rows = self.rows_of(swipes)
        expected = np.vstack([self._expected, self._model.expected(swipes.rows)])
        candidate = np.where(rows >= 0, rows, len(self._expected) + np.arange(len(rows)))
        viewer = np.array([self._number.get(user, -1) for user in swipes.users.tolist()], np.int64)
        at: Integers = np.full(len(rows), self.end)
        return self._sites.traits_at(self._model, expected, viewer=viewer, candidate=candidate, at=at)
