"""Off-policy estimates: the likes that another policy would have earned, from cards that were dealt with known propensities.

A deck is a set of cards, drawn for one person at one moment. We assume that a like depends on the person and the card, not on the
rest of the deck. Then a policy earns Σ p(c) r(c) likes with a deck, summed over everybody eligible, where p(c) is the propensity
of c and r(c) the probability of a like. From a deck that was dealt with propensities p₀

    IPS     Σ w y               over the cards that were dealt, w = p/p₀, y = 1 for a like
    SNIPS   Σ w y / Σ w
    DR      Σ p q + Σ w (y − q)   the first sum over everybody eligible, with q any prediction of r made before the answers

are, divided by the number of cards, unbiased (IPS, DR) or nearly so (SNIPS) where p > 0 implies p₀ > 0. E[1(c dealt)] is p₀(c)
whatever else is in the deck, so no probability of a pair or of a whole deck is needed. (Horvitz and Thompson 1952; Dudík,
Langford and Li 2011; Swaminathan and Joachims 2015.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.inference.clustered import RatioEstimate, clustered_ratio

MIN_EFFECTIVE_PEOPLE = 30  # with fewer, an interval means little
MIN_EFFECTIVE_CARDS = 100
_MAX_WEIGHT_ERROR = (
    0.2  # a mean weight this far from 1, and beyond its error, says that probabilities and log do not belong together
)
_WEIGHT_CONFIDENCE = 0.999


@final
@dataclass(frozen=True, slots=True, eq=False)
class LoggedCards:
    """Decks that were dealt, one row per deck and one row per card, and what another policy would do with them.

    `expected_likes` is Σ p q per deck, `predicted` is q per card.
    """

    user: NDArray[Any]  # the viewer of the deck
    size: Vector  # number of cards
    min_propensity: Vector  # the smallest propensity of anybody eligible
    expected_likes: Vector
    deck: NDArray[np.int64]  # per card: the row of its deck
    like: Vector
    weight: Vector
    predicted: Vector
    not_drawn: int = 0  # cards and swipes that were left out, because they were not drawn

    def supported(self) -> LoggedCards:
        """Without decks in which somebody eligible had no chance. That does not depend on any answer."""
        keep = self.min_propensity > 0.0
        rows, cards = np.cumsum(keep) - 1, keep[self.deck]
        return LoggedCards(
            user=self.user[keep],
            size=self.size[keep],
            min_propensity=self.min_propensity[keep],
            expected_likes=self.expected_likes[keep],
            deck=rows[self.deck[cards]],
            like=self.like[cards],
            weight=self.weight[cards],
            predicted=self.predicted[cards],
            not_drawn=self.not_drawn,
        )


@final
@dataclass(frozen=True, slots=True)
class OffPolicyEstimate:
    """Likes per card: as logged, and of the target policy by three estimators. Each interval treats people as independent."""

    logged: RatioEstimate
    ips: RatioEstimate
    snips: RatioEstimate
    doubly_robust: RatioEstimate
    mean_weight: RatioEstimate  # close to 1 where propensities and log belong together
    people: int
    decks: int
    cards: int
    effective_cards: float  # Kish's effective sample size
    effective_people: float
    unsupported_decks: int  # left out, because they gave somebody eligible no chance
    not_drawn: int  # cards and swipes left out, because they were not drawn


def estimate_off_policy(logged: LoggedCards) -> OffPolicyEstimate:
    """The estimates, from decks that support them. Raises :class:`InvalidInput` where the log does not have enough of those."""
    if not len(logged.like):
        raise InvalidInput("support", "no deck that was answered is in the log yet (imported swipes have none): deal some first")
    dealt, logged = len(logged.size), logged.supported()
    decks, cards = len(logged.size), len(logged.like)
    unsupported = (
        f"{dealt - decks:,} of {dealt:,} decks were dealt in a way that gives some people no chance at all, so what another "
        "policy would earn with those people is not in the log; deal with a uniform floor (policy_settings: uniform_floor), or "
        "judge by later decks"
    )
    if not decks:
        raise InvalidInput("support", unsupported)
    _, person = np.unique(logged.user, return_inverse=True)

    def by_person(values: Vector, of_cards: bool = True) -> Vector:
        return np.bincount(person[logged.deck] if of_cards else person, values, int(person.max()) + 1).astype(np.float64)

    sizes, weights = by_person(logged.size, False), by_person(logged.weight)
    effective_cards, effective_people = _effective_sample_size(logged.weight), _effective_sample_size(weights)
    if effective_cards < MIN_EFFECTIVE_CARDS or effective_people < MIN_EFFECTIVE_PEOPLE:
        raise InvalidInput(
            "support",
            f"what this policy would show was hardly shown: {cards:,} cards of {len(sizes):,} people say as much about it as "
            f"{effective_cards:.0f} cards of {effective_people:.0f} people (needed: {MIN_EFFECTIVE_CARDS} of "
            f"{MIN_EFFECTIVE_PEOPLE}); judge by more decks, or deal with a larger floor"
            + (f". {unsupported}" if decks < dealt else ""),
        )
    mean_weight = clustered_ratio(weights, sizes)
    confident = clustered_ratio(weights, sizes, level=_WEIGHT_CONFIDENCE)
    if abs(mean_weight.value - 1.0) > _MAX_WEIGHT_ERROR and not confident.covers(1.0):
        raise InvalidInput(
            "support",
            f"weights should be 1 on average and are {mean_weight.value:.2f}: the policy would show people who could not be "
            "shown, or profiles have changed too much since; judge by later decks",
        )
    corrected = by_person(logged.weight * (logged.like - logged.predicted)) + by_person(logged.expected_likes, False)
    weighted = by_person(logged.weight * logged.like)
    return OffPolicyEstimate(
        logged=clustered_ratio(by_person(logged.like), sizes),
        ips=clustered_ratio(weighted, sizes),
        snips=clustered_ratio(weighted, weights),
        doubly_robust=clustered_ratio(corrected, sizes),
        mean_weight=mean_weight,
        people=len(sizes),
        decks=decks,
        cards=cards,
        effective_cards=effective_cards,
        effective_people=effective_people,
        unsupported_decks=dealt - decks,
        not_drawn=logged.not_drawn,
    )


def _effective_sample_size(weights: Vector) -> float:
    """Kish's effective sample size."""
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0
