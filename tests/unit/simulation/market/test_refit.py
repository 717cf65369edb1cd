"""A market whose population is refitted: the same each time, everybody folded again, nobody hears their own words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kaczmatch.core.vectors import Matrix
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.recommend.decks.policy import Always, DeckPlan
from kaczmatch.recommend.samplers.registry import sampler
from kaczmatch.simulation.market import engine
from kaczmatch.simulation.market.engine import HeardAppeal, MarketDecision, MarketSettings, Pace, Refits, Refitted, play, refit
from kaczmatch.simulation.market.outcome import outcome
from kaczmatch.simulation.market.town import Census, town

NOW = datetime(2026, 1, 5, tzinfo=UTC)
UNIFORM = Always(deck_plan=DeckPlan(sampler=sampler("uniform"), reason="compared"))


def decisions(seed: int = 0, people: int = 12, rounds: int = 4) -> list[MarketDecision]:
    rng = np.random.default_rng(seed)
    return [
        MarketDecision(viewer, int(candidate), int(rng.choice([1, -1])), NOW + timedelta(days=day, seconds=viewer))
        for day in range(rounds)
        for viewer in range(people)
        for candidate in rng.choice(np.delete(np.arange(people), viewer), 3, replace=False)
    ]


def test_everybody_who_decided_is_folded_again_and_hears_only_others() -> None:
    features = (np.random.default_rng(1).random((12, 5)) < 0.5).astype(float)
    decided = decisions()
    found = refit(decided, features, Refits(True), 0)
    assert isinstance(found.fold.learner, ProbitTraits)
    assert sorted(found.tracked) == list(range(12))
    assert all(each.swipes == 12 for each in found.tracked.values())
    one, later = decided[-1], NOW + timedelta(days=9)
    heard = found.heard.of(one.candidate, one.viewer, later)
    assert not np.array_equal(heard, found.heard.of(one.candidate, None, later))  # the viewer has spoken of this candidate
    found.heard.record(found.tracked[one.viewer].state, one.viewer, one.candidate, -one.label, later)
    assert np.allclose(heard, found.heard.of(one.candidate, one.viewer, later))


def test_without_traits_appeal_is_heard_as_if_from_the_beginning() -> None:
    features = (np.random.default_rng(1).random((12, 5)) < 0.5).astype(float)
    decided, heard, later = decisions(), HeardAppeal(), NOW + timedelta(days=9)
    found = refit(decided, features, Refits(False), 0)
    for each in decided:
        heard.record(found.fold.start.state, each.viewer, each.candidate, each.label, each.at)
    said, again = (np.array([each.of(one, 3, later) for one in range(12)]) for each in (found.heard, heard))
    assert np.array_equal(said, again)
    assert found.fold.prior.version.startswith("population-")


def test_a_population_may_have_traits_once_and_none_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    selected = iter([Refits(True), Refits(False), Refits(False, full=True), Refits(True)])

    def selecting(decided: Sequence[MarketDecision], features: Matrix, _: Refits, seed: int) -> Refitted:
        return refit(decided, features, next(selected), seed)

    monkeypatch.setattr(engine, "refit", selecting)
    here, pace = town("archetypes", 3, Census(side=8, tags=6)), Pace(rounds=5, deck=1)
    assert len(play(here, lambda *_: UNIFORM, pace, MarketSettings(refits=Refits()))) == len(here) * pace.cards


@pytest.mark.parametrize("traits", [False, True])
def test_a_refitted_market_is_the_same_each_time(traits: bool) -> None:
    here, pace = town("archetypes", 3, Census(side=8, tags=6)), Pace(rounds=2, deck=2)
    first, again = (play(here, lambda *_: UNIFORM, pace, MarketSettings(refits=Refits(traits))) for _ in range(2))
    assert len(first) == len(here) * pace.cards
    assert np.array_equal(first.candidate, again.candidate)
    assert 0.0 <= outcome(first, here).of_possible <= 1.0
