"""Estimates of what another policy earns: unbiased by enumeration, covering by simulation, refused where the log is silent."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.inference.clustered import clustered_ratio
from kaczmatch.inference.off_policy import LoggedCards, estimate_off_policy

PAIRS = list(combinations(range(4), 2))
SHARES = st.integers(0, 3)


@given(
    logged=st.lists(SHARES, min_size=6, max_size=6),
    wanted=st.lists(SHARES, min_size=6, max_size=6),
    halves=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    guess=st.lists(st.floats(-1.0, 2.0), min_size=4, max_size=4),
)
@settings(max_examples=40)
def test_ips_and_doubly_robust_are_unbiased_by_enumeration(
    logged: list[int], wanted: list[int], halves: list[int], guess: list[float]
) -> None:
    """A pool of four, decks of two, any distribution over decks on either side, any probabilities to like, any guess.

    Every deck with every answer comes as often as it is likely, so the mean over them all is the expectation.
    """
    assume(sum(wanted) > 0)
    held = np.array([[c in pair for c in range(4)] for pair in PAIRS])
    p0, p = np.array(logged) @ held / max(sum(logged), 1), np.array(wanted) @ held / sum(wanted)
    assume((p0 > 0.0).all())
    q, r = np.array(guess), np.array(halves) / 2.0
    cards: list[tuple[int, int]] = []
    for times, pair in zip(logged, PAIRS, strict=True):
        for answers in product((0, 1), repeat=2):
            often = times * math.prod(halves[c] if y else 2 - halves[c] for c, y in zip(pair, answers, strict=True))
            cards += often * list(zip(pair, answers, strict=True))
    who, liked = np.array(cards * 60).T
    decks = len(who) // 2
    found = estimate_off_policy(
        LoggedCards(
            user=np.arange(decks),
            size=np.full(decks, 2.0),
            min_propensity=np.full(decks, p0.min()),
            expected_likes=np.full(decks, float(p @ q)),
            deck=np.repeat(np.arange(decks), 2),
            like=liked.astype(np.float64),
            weight=(p / p0)[who],
            predicted=q[who],
        )
    )
    assert found.ips.value == pytest.approx(p @ r / 2.0, abs=1e-9)
    assert found.doubly_robust.value == pytest.approx(p @ r / 2.0, abs=1e-9)
    assert found.mean_weight.value == pytest.approx(1.0, abs=1e-9)


def study(rng: np.random.Generator, people: int = 120, decks: int = 3, floor: float = 0.1) -> tuple[LoggedCards, float]:
    """People with tastes of their own, decks of 3 from 12 by weights that follow them, and a policy with other weights."""
    k, n, rows = 3, 12, people * decks
    taste = np.repeat(rng.normal(size=(people, n)), decks, axis=0)
    likes = 1.0 / (1.0 + np.exp(-(taste + rng.normal(-0.5, 0.5, (rows, 1)))))
    p0 = floor * k / n + (1.0 - floor) * inclusion(np.exp(0.8 * taste), k)
    p = inclusion(np.exp(-0.5 * taste), k)
    deck, card = np.nonzero(drawn(p0, rng))
    dealt = LoggedCards(
        user=np.repeat(np.arange(people), decks),
        size=np.full(rows, float(k)),
        min_propensity=np.full(rows, floor * k / n),
        expected_likes=0.4 * p.sum(axis=1),
        deck=deck,
        like=(rng.random(len(deck)) < likes[deck, card]).astype(np.float64),
        weight=(p / p0)[deck, card],
        predicted=np.full(len(deck), 0.4),
    )
    return dealt, float((p * likes).sum() / (k * rows))


def inclusion(weights: Any, k: int) -> Any:
    """Probabilities in proportion that add up to k in each row, none above 1."""
    p = np.minimum(k * weights / weights.sum(axis=1, keepdims=True), 1.0)
    for _ in range(20):
        free = p < 1.0
        left = k - (~free).sum(axis=1, keepdims=True)
        p = np.where(free, np.minimum(p * left / np.where(free, p, 0.0).sum(axis=1, keepdims=True), 1.0), 1.0)
    return p


def drawn(p: Any, rng: np.random.Generator) -> Any:
    """Sets with exactly these inclusion probabilities: systematic sampling in random order."""
    order = np.argsort(rng.random(p.shape), axis=1)
    ends = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1) + rng.random((len(p), 1))
    taken = np.zeros(p.shape, np.bool_)
    begins = np.concatenate([ends[:, :1] - np.take_along_axis(p, order[:, :1], axis=1), ends[:, :-1]], axis=1)
    np.put_along_axis(taken, order, np.floor(ends) > np.floor(begins), axis=1)
    return taken


def test_intervals_cover_the_truth_in_at_least_90_of_100_studies() -> None:
    rng = np.random.default_rng(4)
    covered = {"ips": 0, "snips": 0, "doubly_robust": 0, "logged": 0}
    for _ in range(100):
        dealt, truth = study(rng)
        found = estimate_off_policy(dealt)
        for name in covered:
            covered[name] += getattr(found, name).covers(truth)
    assert min(covered["ips"], covered["snips"], covered["doubly_robust"]) >= 90, covered
    assert covered["logged"] < 50  # that the two policies differ at all is what makes this hard


def test_people_count_not_cards() -> None:
    """Everybody's cards ten times over say nothing new, and no interval gets narrower."""
    above, below = np.random.default_rng(0).random((2, 50))
    once, ten = clustered_ratio(above, below), clustered_ratio(10 * above, 10 * below)
    assert once == pytest.approx(ten)
    dealt, _ = study(np.random.default_rng(1))
    alone = estimate_off_policy(replace(dealt, user=np.arange(len(dealt.size))))
    together = estimate_off_policy(dealt)
    assert together.ips.value == alone.ips.value
    assert (together.people, alone.people) == (120, 360)


def test_decks_that_give_somebody_no_chance_are_left_out_and_counted() -> None:
    """They do not spoil the report, and what the others say stays what it is."""
    dealt, _ = study(np.random.default_rng(2))
    unsupported = np.arange(360) % 7 == 3
    others = ~unsupported[dealt.deck]
    alone = LoggedCards(
        dealt.user[~unsupported],
        dealt.size[~unsupported],
        dealt.min_propensity[~unsupported],
        dealt.expected_likes[~unsupported],
        np.searchsorted(np.flatnonzero(~unsupported), dealt.deck[others]),
        dealt.like[others],
        dealt.weight[others],
        dealt.predicted[others],
    )
    found = estimate_off_policy(replace(dealt, min_propensity=np.where(unsupported, 0.0, dealt.min_propensity), not_drawn=5))
    assert (found.unsupported_decks, found.not_drawn) == (unsupported.sum(), 5)
    assert replace(found, unsupported_decks=0, not_drawn=0) == estimate_off_policy(alone)


def test_a_log_that_cannot_tell_is_refused() -> None:
    dealt, _ = study(np.random.default_rng(2))
    with pytest.raises(InvalidInput, match=r"360 of 360 decks were dealt .* no chance at all"):
        estimate_off_policy(replace(dealt, min_propensity=np.zeros(360)))
    with pytest.raises(InvalidInput, match="hardly shown"):
        estimate_off_policy(replace(dealt, weight=np.where(np.arange(len(dealt.weight)) < 40, dealt.weight, 1e-9)))
    with pytest.raises(InvalidInput, match="hardly shown"):
        estimate_off_policy(replace(dealt, user=dealt.user % 20))
    with pytest.raises(InvalidInput, match="should be 1 on average"):
        estimate_off_policy(replace(dealt, weight=0.5 * dealt.weight))
    nothing = np.empty(0)
    with pytest.raises(InvalidInput, match="no deck"):
        estimate_off_policy(LoggedCards(nothing, nothing, nothing, nothing, np.empty(0, np.int64), nothing, nothing, nothing))
