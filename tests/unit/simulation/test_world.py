from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.core.vectors import unit_rows
from kaczmatch.simulation.world import HONEST, HONEST_ADAPTIVE, PAPER, POPULATIONS, Condition, population, with_label_noise, world

SMALL = replace(HONEST, people=150, users=20, sessions=6, deck=10)


@pytest.mark.parametrize("kind", POPULATIONS)
def test_populations_are_tags_of_zero_and_one(kind: str) -> None:
    found = population(kind, 300, 40, np.random.default_rng(0))
    for rows in (found.tags, found.tastes):
        assert rows.shape == (300, 40)
        assert set(np.unique(rows)) == {0.0, 1.0}
    assert bool(found.tags.sum(axis=1).mean() < 8) is (kind == "sparse")


def test_correlated_tags_are_and_uniform_ones_are_not() -> None:
    def correlation(kind: str) -> float:
        tags = population(kind, 3000, 20, np.random.default_rng(0)).tags
        return float(np.abs(np.corrcoef(tags.T) - np.eye(20)).mean())

    assert correlation("correlated") > 5 * correlation("uniform")
    assert correlation("archetypes") > 5 * correlation("uniform")


def test_nobody_sees_themselves_or_anybody_twice_in_a_session() -> None:
    for base in (SMALL, replace(SMALL, sampling="cosine")):
        here = world(base, 3)
        active = np.random.default_rng([3, 1]).choice(base.people, base.users, replace=False)
        assert not (here.pools == active[:, None, None]).any()
        assert all(len(set(pool.tolist())) == len(pool) for user in here.pools for pool in user)


def test_row_norm_sampling_shows_in_proportion_to_the_number_of_tags() -> None:
    here = world(replace(SMALL, sessions=2000, deck=2, users=50, population="sparse"), 0)
    shown = np.bincount(here.pools.ravel(), minlength=150)
    tags = here.tags.sum(axis=1)
    assert shown[tags == 0].sum() == 0
    assert np.corrcoef(shown, tags)[0, 1] > 0.98


def test_labels_follow_their_rule() -> None:
    taste, tags = world(SMALL, 0).tastes[0], world(SMALL, 0).tags
    cosines = unit_rows(taste) @ unit_rows(tags).T
    assert np.array_equal(world(SMALL, 0).likes[0], cosines >= 0.52)
    assert np.array_equal(world(replace(SMALL, labels="raw-dot"), 0).likes[0], taste @ tags.T >= 0.52)
    assert world(replace(SMALL, labels="calibrated", like_rate=0.25), 0).likes.mean() == pytest.approx(0.25, abs=0.01)


def test_priors_know_what_they_should() -> None:
    here = {kind: world(replace(SMALL, prior=kind), 0) for kind in ("informed", "ones", "own-tags")}
    for one in here.values():
        assert np.linalg.norm(one.priors, axis=1) == pytest.approx(np.ones(20))
    agreement = np.mean((here["informed"].priors > 0) == (here["informed"].tastes[0] > 0))
    assert agreement == pytest.approx(0.7, abs=0.04)
    assert np.ptp(here["ones"].priors) < 1e-12


def test_noise_fatigue_and_drift() -> None:
    noisy = replace(SMALL, sessions=200, label_noise=0.3)
    assert world(noisy, 0).turned.mean() == pytest.approx(0.3, abs=0.02)
    assert np.array_equal(with_label_noise(world(SMALL, 0), 0.3).turned, world(replace(SMALL, label_noise=0.3), 0).turned)
    tired = world(replace(noisy, fatigue=0.8), 0).turned.reshape(20, -1, 10) == 2
    assert tired[:, :, 0].mean() == 0.0
    assert tired[:, :, -1].mean() == pytest.approx(0.8, abs=0.03)
    drifted = world(replace(SMALL, drift_at=30), 0)
    assert drifted.tastes.shape[0] == 2
    assert [drifted.phase(t) for t in (0, 29, 30, 59)] == [0, 0, 1, 1]
    assert not np.array_equal(drifted.likes[0], drifted.likes[1])


def test_conditions_share_everything_they_do_not_name() -> None:
    one, other = world(SMALL, 4), world(replace(SMALL, labels="raw-dot", prior="informed"), 4)
    assert np.array_equal(one.tags, other.tags)
    assert np.array_equal(one.pools, other.pools)
    assert np.array_equal(one.turned, other.turned)
    assert not np.array_equal(one.tags, world(SMALL, 5).tags)


def test_sizes_are_the_papers() -> None:
    assert (PAPER.people, PAPER.tags, PAPER.users, PAPER.sessions, PAPER.deck, PAPER.label_noise) == (2000, 60, 100, 200, 32, 0.2)
    assert PAPER.swipes == HONEST_ADAPTIVE.swipes == 6400
    assert (HONEST_ADAPTIVE.cards, HONEST_ADAPTIVE.rounds) == (16, 400)


@pytest.mark.parametrize(
    ("settings", "field", "message"),
    [
        ({"labels": "cosin"}, "labels", "did you mean 'cosine'"),
        ({"prior": "x"}, "prior", "known"),
        ({"sampling": "greedy"}, "sampling", "known"),
        ({"population": "unifrom"}, "population", "did you mean 'uniform'"),
        ({"label_noise": 1.5}, "label_noise", "at most 1"),
        ({"users": 3000}, "users", "at most the number of people"),
        ({"deck": 2000}, "deck", "below the number of people"),
        ({"tags": 1}, "tags", "at least 2"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(settings: dict[str, object], field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Condition(**settings)  # type: ignore[arg-type]
    assert caught.value.field == field
