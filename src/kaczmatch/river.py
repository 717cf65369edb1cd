"""Any learner as a River classifier: one swipe at a time, features by name, new names at any time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, final

from kaczmatch.extras import missing_extra

try:
    import river as _river  # noqa: F401
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

import numpy as np
from river.base import Classifier

from kaczmatch.core.labels import sign
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.registry import learner as learner_called
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.learners.state import State


@final
class SwipeClassifier(Classifier):
    """The learner called `learner`; its settings are further parameters, as in ``SwipeClassifier("tk", alpha=9)``.

    A name that was never seen starts at 0. Labels are True and False, or any labels of learners. Predictions are True for a like.
    """

    def __init__(self, learner: str = "probit-diag", **settings: Any) -> None:
        self.learner = learner
        self.settings = settings  # under this name River finds them
        self.state: State | None = None  # None: nothing was learned yet
        self._rule = learner_called(learner, **settings)
        self._place: dict[Hashable, int] = {}

    @property
    def _multiclass(self) -> bool:
        return False

    def learn_one(self, x: Mapping[Hashable, float], y: Any) -> None:
        label = sign(y)
        # In one order, whichever the mapping has: sums in another order differ in their last bits.
        for name in sorted(x.keys() - self._place.keys(), key=repr):
            self._place[name] = len(self._place)
        if not self._place:
            return
        if self.state is None:
            self.state = self._rule.start(np.zeros(len(self._place)))
        elif self.state.dimensions < len(self._place):
            self.state = self._rule.grow(self.state, len(self._place))
        self.state = self._rule.swipe(self.state, self._vector(x), int(label))

    def predict_proba_one(self, x: Mapping[Hashable, float], **_: Any) -> dict[Any, float]:
        if not isinstance(self._rule, ProbabilisticLearner):
            raise NotImplementedError(f"{self.learner} ranks and predicts no probabilities; use probit-diag, probit or logistic")
        likely = 0.5 if self.state is None else float(self._rule.probability(self.state, self._vector(x)))
        return {False: 1.0 - likely, True: likely}

    def predict_one(self, x: Mapping[Hashable, float], **_: Any) -> Any:
        if isinstance(self._rule, ProbabilisticLearner):
            return self.predict_proba_one(x)[True] > 0.5
        return self.state is not None and self.score_one(x) > _threshold(self._rule, self.state)

    def score_one(self, x: Mapping[Hashable, float]) -> float:
        """A score for ranking."""
        return 0.0 if self.state is None else float(self._rule.score(self.state, self._vector(x)))

    def _vector(self, x: Mapping[Hashable, float]) -> Vector:
        values = np.zeros(len(self._place))
        for name, value in x.items():
            if name in self._place:
                values[self._place[name]] = value
        return values


def _threshold(rule: Learner, state: State) -> float:
    return rule.theta(state.cells, state.dimensions) if isinstance(rule, HingeLearner) else 0.0
