"""What a learner is scored by is what it would have said live."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput, ProbabilisticLearner
from kaczmatch.learners.logs.replay import progressive_predictions

SAYING = [slug for slug, rule in kaczmatch.LEARNERS.items() if issubclass(rule, ProbabilisticLearner)]


def swipes(rng: np.random.Generator) -> kaczmatch.SwipeLog:
    n = 120
    candidates = (rng.random((30, 7)) < 0.4).astype(float)
    candidates[0] = 0.0
    return kaczmatch.SwipeLog(
        user=rng.choice(["a", "b", "c"], n),
        candidate=rng.integers(0, 30, n),
        candidates=candidates,
        label=rng.choice([1, -1], n),
        session=np.arange(n) // 9,
        at=np.arange(n) * 40_000.0,
        others=kaczmatch.appeal_rows(rng.normal(size=n)),
    )


BELIEVING = [slug for slug in SAYING if issubclass(kaczmatch.LEARNERS[slug], kaczmatch.BeliefLearner)]
CASES = [(slug, {}) for slug in SAYING] + [
    (slug, {"half_life_days": 2.0} | ({} if slug == "probit-traits" else {"appeal": True})) for slug in BELIEVING
]


@pytest.mark.parametrize(("slug", "settings"), CASES)
def test_progressive_probabilities_are_those_of_live_calls(slug: str, settings: dict[str, float]) -> None:
    learner = kaczmatch.learner(slug, **settings)
    assert isinstance(learner, ProbabilisticLearner)
    log = swipes(np.random.default_rng(0))
    assert log.at is not None
    said = progressive_predictions(learner, log, prior=np.full(7, 0.5))
    live = np.empty(len(log))
    for user in ("a", "b", "c"):
        state, at = learner.start(np.full(7, 0.5)), None
        for row in np.flatnonzero(log.user == user):
            if at is not None:
                state = learner.advance(state, timedelta(microseconds=int(log.at[row] - at)))
            at = log.at[row]
            seen = log.shown_candidate(row)
            live[row] = learner.probability(state, seen.features, seen.others)
            state = learner.swipe(state, seen, 1 if log.label[row] > 0 else -1)
    assert said == pytest.approx(live, abs=1e-12)


def test_rules_that_only_order_are_refused_and_an_empty_log_says_nothing() -> None:
    log = swipes(np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="must say probabilities"):
        progressive_predictions(kaczmatch.learner("tk"), log)  # type: ignore[arg-type]
    assert len(progressive_predictions(kaczmatch.learner("probit"), log.select(np.zeros(len(log), bool)))) == 0
