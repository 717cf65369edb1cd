"""What another policy would have earned, from cards that were dealt with known probabilities.

A deck is a set of cards, drawn for one person at one moment. Whether a card is liked is taken to depend on the person and the
card, not on what else is in the deck. Then the likes that a policy earns with a deck are Σ p(c) r(c) over everybody eligible,
with p(c) the probability of c to be in the deck and r(c) that of a like, and from a deck that was dealt with probabilities p₀

    IPS     Σ w y               over the cards that were dealt, w = p/p₀, y = 1 for a like
    SNIPS   Σ w y / Σ w
    DR      Σ p q + Σ w (y − q)   the first sum over everybody eligible, with q any guess of r that does not know the answers

are, divided by the number of cards, unbiased (IPS, DR) or nearly so (SNIPS) wherever p₀ > 0 as soon as p > 0: E[1(c dealt)] is
p₀(c) whatever else is in the deck, so no probability of a pair or of a whole deck is needed. (Horvitz and Thompson 1952; Dudík,
Langford and Li 2011; Swaminathan and Joachims 2015.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.inference.clustered import Estimate, ratio

FEWEST_PEOPLE = 30  # effectively: with fewer, an interval of theirs means little
FEWEST_CARDS = 100  # effectively
_FAR = 0.2  # a mean weight this far from 1, and beyond its error, says that probabilities and log do not belong together
_SURE = 0.999


@final
@dataclass(frozen=True, slots=True, eq=False)
class LoggedCards:
    """Decks that were dealt, and what another policy makes of them: a row a deck, and a row a card.

    `foreseen` is Σ p q of each deck, `guess` q of each card.
    """

    user: NDArray[Any]  # whose deck
    size: Vector  # cards in it
    least: Vector  # the smallest probability that anybody eligible had
    foreseen: Vector
    deck: NDArray[np.int64]  # of each card: the row of its deck
    like: Vector
    weight: Vector
    guess: Vector


@final
@dataclass(frozen=True, slots=True)
class OffPolicyEstimate:
    """Likes a card: as logged, and of the other policy by three estimates. Each interval treats people as independent."""

    logged: Estimate
    ips: Estimate
    snips: Estimate
    doubly_robust: Estimate
    mean_weight: Estimate  # 1 where probabilities and log belong together
    people: int
    decks: int
    cards: int
    effective_cards: float  # as many, all of one weight, would say as much
    effective_people: float


def judged(dealt: LoggedCards) -> OffPolicyEstimate:
    """The estimates; refused where the log cannot tell."""
    decks, cards = len(dealt.size), len(dealt.like)
    unsupported = int(np.count_nonzero(dealt.least <= 0.0))
    if not cards:
        raise InvalidInput("support", "no deck that was answered is in the log yet (imported swipes have none): deal some first")
    if unsupported:
        raise InvalidInput(
            "support",
            f"{unsupported:,} of {decks:,} decks were dealt in a way that gives some people no chance at all, so what another "
            "policy would earn with those people is not in the log; deal with a uniform floor (policy_settings: floor), or "
            "judge by later decks",
        )
    _, person = np.unique(dealt.user, return_inverse=True)

    def by_person(values: Vector, of_cards: bool = True) -> Vector:
        return np.bincount(person[dealt.deck] if of_cards else person, values, int(person.max()) + 1).astype(np.float64)

    sizes, weights = by_person(dealt.size, False), by_person(dealt.weight)
    effective_cards, effective_people = _effective(dealt.weight), _effective(weights)
    if effective_cards < FEWEST_CARDS or effective_people < FEWEST_PEOPLE:
        raise InvalidInput(
            "support",
            f"what this policy would show was hardly shown: {cards:,} cards of {len(sizes):,} people say as much about it as "
            f"{effective_cards:.0f} cards of {effective_people:.0f} people (needed: {FEWEST_CARDS} of {FEWEST_PEOPLE}); judge by "
            "more decks, or deal with a larger floor",
        )
    mean_weight = ratio(weights, sizes)
    likely = ratio(weights, sizes, level=_SURE)
    if abs(mean_weight.value - 1.0) > _FAR and not likely.covers(1.0):
        raise InvalidInput(
            "support",
            f"weights should be 1 on average and are {mean_weight.value:.2f}: the policy would show people who could not be "
            "shown, or profiles have changed too much since; judge by later decks",
        )
    corrected = by_person(dealt.weight * (dealt.like - dealt.guess)) + by_person(dealt.foreseen, False)
    weighted = by_person(dealt.weight * dealt.like)
    return OffPolicyEstimate(
        logged=ratio(by_person(dealt.like), sizes),
        ips=ratio(weighted, sizes),
        snips=ratio(weighted, weights),
        doubly_robust=ratio(corrected, sizes),
        mean_weight=mean_weight,
        people=len(sizes),
        decks=decks,
        cards=cards,
        effective_cards=effective_cards,
        effective_people=effective_people,
    )


def _effective(weights: Vector) -> float:
    """Kish's effective sample size."""
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0
