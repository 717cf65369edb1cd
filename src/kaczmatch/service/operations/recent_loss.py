"""Whether a refitted model predicts recent swipes, each before it is learned from, as well as the model in use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import seen_features
from kaczmatch.service.domain.folding import UNSEEN, AnsweredPeople, ModelFold, without_undone
from kaczmatch.service.domain.records import Decision, Event, EventKind
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.traits import with_seen

_RECENT: Final = timedelta(days=1)  # before the last swipe
_MOST_EVENTS: Final = 5_000
_MOST_PEOPLE: Final = 300
_SMALLEST: Final = 1e-9


def predicts_as_well(context: Context, model: int, other: int) -> bool:
    """Whether the `other` model's log-loss on the last day's swipes is not above that of `model`, by more than a standard error.

    Both are averaged over people. A learner without probabilities cannot be compared, and passes.
    """
    with context.store.read() as reader:
        folds = [context.catalogue.fold(reader, number) for number in (model, other)]
        newest = reader.find(Event, newest=True, limit=_MOST_EVENTS)
    if not newest or not all(isinstance(fold.learner, ProbabilisticLearner) for fold in folds):
        return True
    since = newest[0].at - _RECENT
    people = list(dict.fromkeys(event.user for event in newest if event.at >= since))[:_MOST_PEOPLE]
    worse = []
    for user in people:
        with context.store.read() as reader:
            context.catalogue.current(reader)  # and every vocabulary there was by then
            log = reader.find(Event, user=user)
            losses = [_losses(fold, with_seen(reader, fold, log), since) for fold in folds]
        both = losses[0].keys() & losses[1].keys()
        if both:
            worse.append(float(np.mean([losses[1][swipe] - losses[0][swipe] for swipe in both])))
        context.rest()
    if not worse:
        return True
    error = float(np.std(worse, ddof=1) / np.sqrt(len(worse))) if len(worse) > 1 else 0.0
    return float(np.mean(worse)) <= error


def _losses(fold: ModelFold, log: Sequence[Event], since: datetime) -> dict[str, float]:
    """The log-loss of each recent swipe that teaches, by its id. Swipes that the model has not come to are left out."""
    tracked, answered, found = fold.start(), AnsweredPeople(), dict[str, float]()
    for event in without_undone(log):
        repeated = answered.repeats(event)
        teaches = event.kind == EventKind.SWIPED and event.decision != Decision.SKIP and not repeated and event.said is not UNSEEN
        if teaches and fold.traits is not None and event.said is None:
            break
        if teaches and event.at >= since and isinstance(fold.learner, ProbabilisticLearner):
            dimensions = max(fold.dimensions_of(event.vocabulary), tracked.state.dimensions)
            state, _ = fold.fold.brought_to(tracked, event.at, dimensions)
            said = event.appeal if event.said is None else event.said
            p = float(fold.learner.probability(state, unpacked(seen_features(event), dimensions), said))
            found[event.id] = -float(np.log(max(p if event.decision == Decision.LIKE else 1.0 - p, _SMALLEST)))
        tracked = fold.step(tracked, event, repeated=repeated)
    return found
