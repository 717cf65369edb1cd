from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kaczmatch
from kaczmatch.core.vectors import cosine, unit_rows
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import HONEST, world

SMALL = replace(HONEST, people=150, users=6, sessions=5, deck=8, tags=20)


@pytest.mark.parametrize("slug", kaczmatch.LEARNERS)
@pytest.mark.parametrize("sampling", ["row-norm", "cosine"])
def test_a_trace_is_what_replay_of_its_swipes_gives(slug: str, sampling: str) -> None:
    """The log of a trace, replayed by the library, ends in the same state bit for bit, with the same alignments on the way."""
    here = world(replace(SMALL, sampling=sampling), 1)
    learner = kaczmatch.learner(slug)
    swipes = here.condition.swipes
    found = trace(learner, here, (7, swipes))
    priors = priors_of(learner, here)
    for user, prior in enumerate(priors):
        for t in (7, swipes):
            log = {
                "user": np.zeros(t, int),
                "candidate": found.shown[user, :t],
                "candidates": here.tags,
                "label": found.labels[user, :t].astype(int),
                "session": np.arange(t) // here.condition.cards,
            }
            state = kaczmatch.replay(learner, log, prior=prior, end_last_session=t == swipes)[0]
            assert found.states(t, priors)[user] == state
            aligned = cosine(learner.direction(state), here.tastes[0, user])
            assert found.alignment[user, t - 1] == pytest.approx(aligned, abs=1e-12)


def test_labels_are_the_clean_ones_turned() -> None:
    here = world(replace(SMALL, fatigue=0.5, drift_at=20), 2)
    found = trace(kaczmatch.learner("tk"), here)
    for user in range(6):
        for t, candidate in enumerate(found.shown[user]):
            clean = here.likes[here.phase(t), user, candidate]
            felt = {0: clean, 1: not clean, 2: False}[int(here.turned[user, t])]
            assert found.labels[user, t] == (1 if felt else -1)


def test_cosine_sampling_shows_what_fits_more_often() -> None:
    here = world(replace(SMALL, sampling="cosine", users=30, sessions=40, prior="informed", prior_noise=0.0), 0)
    found = trace(kaczmatch.learner("all-ones"), here)
    pools = here.pools.reshape(30, -1)
    shown = unit_rows(here.tags[found.shown]) @ (np.ones(20) / np.sqrt(20))
    offered = unit_rows(here.tags[pools]) @ (np.ones(20) / np.sqrt(20))
    assert shown.mean() > offered.mean()


def test_only_the_last_alignment_is_taken_where_nobody_follows() -> None:
    here = world(SMALL, 0)
    followed, not_followed = (trace(kaczmatch.learner("tk"), here, followed=flag).alignment for flag in (True, False))
    assert np.array_equal(followed[:, -1], not_followed[:, -1])
    assert np.isnan(not_followed[:, :-1]).all()


def test_metrics_of_known_vectors() -> None:
    tastes = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    ones = np.ones((2, 4))
    assert metrics.alignment(tastes, tastes) == pytest.approx([1.0, 1.0])
    assert metrics.alignment(ones, tastes) == pytest.approx([np.sqrt(0.5)] * 2)
    assert metrics.centred_alignment(ones, tastes).tolist() == [0.0, 0.0]
    assert metrics.centred_alignment(tastes + 7.0, tastes) == pytest.approx([1.0, 1.0])


def test_auc_counts_pairs_and_halves_ties() -> None:
    likes = np.array([[True, True, False, False], [True, False, False, True], [True] * 4])
    scores = np.array([[3.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]])
    found = metrics.auc(scores, likes)
    assert found[:2].tolist() == [1.0, 0.5]
    assert np.isnan(found[2])
    rng = np.random.default_rng(0)
    score, like = rng.integers(0, 6, (1, 40)).astype(float), rng.random((1, 40)) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in score[like] for b in score[~like]]
    assert metrics.auc(score, like)[0] == pytest.approx(np.mean(pairs))


def test_log_loss_is_least_for_who_knows_the_truth() -> None:
    here = world(replace(SMALL, users=20, sessions=40), 0)
    times = (8, 320)
    found = trace(kaczmatch.learner("probit"), here, times)
    losses = [metrics.log_loss(found, here, t) for t in times]
    assert losses[0] is not None
    assert losses[1] is not None
    entropy = -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    assert entropy < losses[1].mean() < losses[0].mean()
    assert metrics.log_loss(trace(kaczmatch.learner("tk"), here, times), here, 8) is None
