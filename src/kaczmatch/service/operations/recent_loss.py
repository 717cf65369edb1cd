"""Whether a refitted model predicts the latest swipes, which no fit has seen, better than the model in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.population.population_fit import clearly_lower
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import seen_features
from kaczmatch.service.domain.folding import UNSEEN, AnsweredPeople, ModelFold, said_of, without_undone
from kaczmatch.service.domain.records import Decision, Event, EventKind
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.traits import with_seen

_SHARE: Final = 5  # the latest fifth of all events, or
_MOST_EVENTS: Final = 5_000  # if that is less
_MOST_PEOPLE: Final = 300
_SMALLEST: Final = 1e-9


def latest_from(reader: Reader) -> int:
    """The number of the first of the latest events. A refit does not see them, so that it can be tried on them."""
    newest = max((event.number for event in reader.find(Event, newest=True, limit=1)), default=0)
    return newest + 1 - min(newest // _SHARE, _MOST_EVENTS)


def predicts_better(context: Context, model: int, other: int) -> bool:
    """Whether the `other` model's log-loss on the latest swipes is clearly below that of `model`, over people.

    Each is predicted before it is learned from. A learner without probabilities cannot be compared, and passes.
    """
    with context.store.read() as reader:
        folds = [context.catalogue.fold(reader, number) for number in (model, other)]
        first, newest = latest_from(reader), reader.find(Event, newest=True, limit=_MOST_EVENTS)
    if not all(isinstance(fold.learner, ProbabilisticLearner) for fold in folds):
        return True
    people = list(dict.fromkeys(event.user for event in newest if event.number >= first))[:_MOST_PEOPLE]
    losses_of_both: list[tuple[float, float]] = []
    for user in people:
        with context.store.read() as reader:
            context.catalogue.current(reader)  # and every vocabulary there was by then
            log = reader.find(Event, user=user)
            losses = [_losses(fold, with_seen(reader, fold, log), first) for fold in folds]
        both = losses[0].keys() & losses[1].keys()
        if both:
            before, after = (float(np.mean([one[swipe] for swipe in both])) for one in losses)
            losses_of_both.append((before, after))
        context.rest()
    before_and_after = np.array(losses_of_both).reshape(-1, 2)
    return clearly_lower(before_and_after[:, 1], before_and_after[:, 0])


def _losses(fold: ModelFold, log: Sequence[Event], first: int) -> dict[str, float]:
    """The log-loss of each of the latest swipes that teaches, by its id. Swipes that the model has not come to are left out."""
    tracked, answered, found = fold.start(), AnsweredPeople(), dict[str, float]()
    for event in without_undone(log):
        repeated = answered.repeats(event)
        teaches = event.kind == EventKind.SWIPED and event.decision != Decision.SKIP and not repeated and event.said is not UNSEEN
        if teaches and fold.traits is not None and event.said is None:
            break
        if teaches and event.number >= first and isinstance(fold.learner, ProbabilisticLearner):
            dimensions = max(fold.dimensions_of(event.vocabulary), tracked.state.dimensions)
            state, _ = fold.fold.brought_to(tracked, event.at, dimensions)
            p = float(fold.learner.probability(state, unpacked(seen_features(event), dimensions), said_of(event)))
            found[event.id] = -float(np.log(max(p if event.decision == Decision.LIKE else 1.0 - p, _SMALLEST)))
        tracked = fold.step(tracked, event, repeated=repeated)
    return found
