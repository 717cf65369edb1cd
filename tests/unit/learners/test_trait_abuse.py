"""What a ring of accounts can move through traits, whatever it did before."""

from __future__ import annotations

import numpy as np
import pytest

from kaczmatch import Prior, TraitModel
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import UNITS
from trait_rings import LIMITS, SHAPES, Market, largest


@pytest.fixture(scope="module", params=[1, 4])
def market(request: pytest.FixtureRequest) -> Market:
    return Market.simulated(request.param, users=90, candidates=48, traits=request.param)


@pytest.mark.parametrize("shape", SHAPES)
def test_twenty_accounts_move_a_candidate_within_the_bounds(market: Market, shape: str) -> None:
    moved = largest(market, shape)
    assert all(moved[name] <= limit for name, limit in LIMITS.items()), moved


@pytest.fixture(scope="module")
def larger() -> Market:
    return Market.simulated(0, users=400, candidates=120, traits=1)


@pytest.mark.parametrize("shape", ["new", "100 by the first trait"])
def test_whom_all_raters_of_a_larger_fit_disliked_is_moved_within_the_bound_too(larger: Market, shape: str) -> None:
    assert largest(larger, shape, targets=40)["most_disliked"] <= LIMITS["known"]


def of_films() -> TraitModel:
    """Sizes as they are fitted to real ratings: everybody likes the first trait, and half of all candidates are liked."""
    covariance = np.diag([0.3, 0.3, 0.3, 0.44, 0.1, 0.01])
    prior = Prior(
        np.zeros(3),
        "films",
        0.0,
        covariance=covariance,
        label_noise=0.01,
        traits=np.array([0.6, 0.0]),
        trait_map=np.zeros((4, 2)),
    )
    return TraitModel(learner=ProbitTraits(traits=2, directions=0), prior=prior)


def test_a_surprised_account_is_hardly_louder_than_a_new_one() -> None:
    """Somebody who passes on nearly everybody and weighs the trait twice as much as others likes a candidate."""
    model = of_films()
    learner, a = model.learner, np.array([1.0, 1.0, 0.0])
    new = learner.start(model.prior)
    cells = new.cells.copy()
    cells[3:5] = -1.3, 0.9  # threshold and weight of the first trait
    shaped = learner.state(cells, 3, model.prior)
    heard, usual = (model.site(state, a, "like", 0.0)[2] / UNITS for state in (shaped, new))
    assert 0.0 < heard <= 1.35 * usual
