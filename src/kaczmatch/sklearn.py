"""Any learner as a scikit-learn classifier: one user's taste, or everybody's at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from kaczmatch.extras import missing_extra

try:
    import sklearn as _sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.replay import States, replay
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.learners.registry import learner as learner_called
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.learners.state import State

_SUREST = 1e-12
_ANYBODY = 0  # the one user of the log


def _predicts_probabilities(classifier: Any) -> bool:
    return issubclass(LEARNERS[classifier.learner], ProbabilisticLearner)


class SwipeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The learner called `learner`, with its `settings`, from the weights `prior` (usually 0 for every column).

    Rows are learned in their order, each once. Of two classes the greater is the like, but of "like" and "pass" it is "like".
    """

    def __init__(
        self, learner: str = "probit-diag", settings: Mapping[str, Any] | None = None, prior: ArrayLike | None = None
    ) -> None:
        self.learner = learner
        self.settings = settings
        self.prior = prior

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Learn from nothing but these rows."""
        return self._learn(X, y, None, None)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn from these rows too. The first call names both `classes`, or has rows of both."""
        before: States | None = getattr(self, "states_", None)
        return self._learn(X, y, self.classes_ if before is not None else classes, before)

    def decision_function(self, X: ArrayLike) -> Vector:  # noqa: N803
        """The log-odds of `classes_[1]`; for learners without probabilities, how far the score lies above the threshold."""
        rows = self._rows(X)
        learner = self.states_.learner
        if isinstance(learner, ProbabilisticLearner):
            scores = logit(np.clip(learner.probability(self.state_, rows), _SUREST, 1.0 - _SUREST))
        else:
            scores = learner.score(self.state_, rows)
            if isinstance(learner, HingeLearner):
                scores = scores - learner.theta(self.state_.cells, self.state_.dimensions)
        return np.asarray(scores if self._like() == 1 else -scores)

    @available_if(_predicts_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The probability of each class, in the order of `classes_`."""
        rows = self._rows(X)
        learner: Any = self.states_.learner  # a probabilistic one: otherwise there is no such method
        likely = learner.probability(self.state_, rows)
        return np.column_stack([1.0 - likely, likely] if self._like() == 1 else [likely, 1.0 - likely])

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The likelier class of each row."""
        above = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[above.astype(np.int64)])

    @property
    def state_(self) -> State:
        """What was learned, for the learner's own methods."""
        return self.states_[_ANYBODY]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _learn(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, before: States | None) -> Self:  # noqa: N803
        rows, labels = validate_data(self, X, y, dtype=np.float64, reset=before is None)
        check_classification_targets(labels)
        labels = column_or_1d(labels)
        known = unique_labels(labels if classes is None else np.asarray(classes))
        if len(known) != 2:
            raise InvalidInput("y", f"Only binary classification is supported: likes and passes, got {len(known)} classes")
        strange = np.setdiff1d(labels, known)
        if len(strange):
            raise InvalidInput("y", f"{strange[0]!r} is none of the classes {list(known)}")
        self.classes_ = known
        log = SwipeLog(user=np.full(len(rows), _ANYBODY), features=rows, label=labels == known[self._like()])
        prior = np.zeros(rows.shape[1]) if self.prior is None else self.prior
        learner = learner_called(self.learner, **(self.settings or {}))
        self.states_ = replay(learner, log, prior=prior, states=before, end_last_session=True)
        return self

    def _like(self) -> int:
        """Which of the classes is the like."""
        return 0 if [str(each).lower() for each in self.classes_] == ["like", "pass"] else 1

    def _rows(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
