from __future__ import annotations

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput, Prior, calibrated_hinge
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.simulation.metrics import auc

D = 40


def sparse_log(seed: int, users: int, swipes: int) -> dict[str, np.ndarray]:
    """Candidates with about two tags of forty; everybody likes the first twenty and passes on the others."""
    rng = np.random.default_rng(seed)
    features = (rng.random((users * swipes, D)) < 0.06).astype(float)
    score = features[:, :20].sum(axis=1) - features[:, 20:].sum(axis=1) + 0.3 * rng.normal(size=len(features))
    return {"user": np.repeat(np.arange(users), swipes), "features": features, "label": np.where(score > 0.1, 1, -1)}


def test_as_many_score_above_it_as_are_liked() -> None:
    log, prior = sparse_log(0, 5, 400), Prior(np.linspace(0.1, 1.0, D))
    scores = kaczmatch.learner("tk").score(kaczmatch.learner("tk").start(prior), log["features"])
    for like_rate in (None, 0.1, 0.8):
        hinge = calibrated_hinge(log, prior, like_rate=like_rate)
        wanted = np.mean(log["label"] > 0) if like_rate is None else like_rate
        assert np.mean(scores >= hinge.theta) == pytest.approx(wanted, abs=0.03)
    assert calibrated_hinge(log, prior, theta_step=0.0) == kaczmatch.Hinge(theta=calibrated_hinge(log, prior).theta)


def test_one_loud_user_counts_once() -> None:
    quiet, loud = sparse_log(1, 10, 50), sparse_log(2, 1, 5_000)
    loud |= {"user": np.full(5_000, 99), "label": np.ones(5_000)}
    both = {name: np.concatenate([quiet[name], loud[name]]) for name in quiet}
    alone, together = (calibrated_hinge(log).theta for log in (quiet, both))
    assert abs(alone - together) < abs(alone - calibrated_hinge(quiet, like_rate=1.0).theta) / 2


@pytest.mark.parametrize("slug", ["tk", "k-nonorm", "ogd", "nk"])  # blocks of strong, clean swipes do well with either
def test_where_tags_are_sparse_a_calibrated_rule_learns_more_than_the_papers(slug: str) -> None:
    log, test = sparse_log(3, 20, 300), sparse_log(4, 1, 2_000)
    prior = Prior(np.full(D, D**-0.5))

    def right(hinge: kaczmatch.Hinge) -> float:
        learner = kaczmatch.learner(slug, hinge=hinge)
        states = kaczmatch.replay(learner, log, prior=prior, end_last_session=True).values()
        scores = np.array([learner.score(state, test["features"]) for state in states])
        return float(auc(scores, np.tile(test["label"] > 0, (len(scores), 1))).mean())

    assert right(calibrated_hinge(log, prior)) > right(kaczmatch.Hinge())


def test_a_users_own_threshold_follows_their_likes() -> None:
    learner = kaczmatch.learner("tk", hinge=kaczmatch.Hinge(theta=0.3, theta_step=0.05))
    assert isinstance(learner, HingeLearner)
    rng = np.random.default_rng(5)
    ends = {}
    for name, rate in (("picky", 0.05), ("easy", 0.95)):
        state = learner.start(np.ones(D))
        for _ in range(300):
            state = learner.swipe(state, (rng.random(D) < 0.4).astype(float), "like" if rng.random() < rate else "pass")
        ends[name] = learner.theta(state.cells, D)
    assert ends["picky"] > ends["easy"]


def test_what_cannot_be_calibrated_is_said() -> None:
    with pytest.raises(InvalidInput, match="log: has no swipes"):
        calibrated_hinge({"user": [], "features": np.empty((0, 3)), "label": []})
    with pytest.raises(InvalidInput, match="like_rate"):
        calibrated_hinge(sparse_log(6, 1, 5), like_rate=1.5)
