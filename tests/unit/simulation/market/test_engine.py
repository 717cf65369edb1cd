"""A market is played by the decks of the service: what holds whatever the policy."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.decks.policy import Always, DeckPlan, MutualPolicy, PaperPolicy, Policy
from kaczmatch.recommend.samplers.registry import sampler
from kaczmatch.service.domain.catalogue import learner_from
from kaczmatch.service.operations.models import unfitted
from kaczmatch.settings.model import Settings
from kaczmatch.simulation.market.arms import DEFAULT, market_policies
from kaczmatch.simulation.market.engine import MarketLog, MarketSettings, Pace, play, play_and_rank, service_learner
from kaczmatch.simulation.market.outcome import effective, first_match, outcome
from kaczmatch.simulation.market.town import Census, Town, compatible, town

SMALL = Census(side=20, tags=8)
SHORT = Pace(rounds=3, deck=4)


def always(slug: str, **safeguards: float) -> Policy:
    return Always(deck_plan=DeckPlan(sampler=sampler(slug), reason="test", **safeguards))


def alike(one: MarketLog, other: MarketLog) -> bool:
    return all(getattr(one, each.name).tobytes() == getattr(other, each.name).tobytes() for each in fields(MarketLog))


def mixed_town(seed: int, people: int = 24) -> Town:
    """Several kinds and ages, so that filters have something to do in both directions."""
    rng = np.random.default_rng([seed, 9])
    plain = town("archetypes", seed, Census(side=people // 2, tags=6))
    profiles = [
        replace(
            profile,
            i_look_for=frozenset(rng.choice(["woman", "man"], rng.integers(1, 3), replace=False).tolist()),
            born=profile.born - timedelta(days=int(rng.integers(0, 7_000))),
            ages=(18, int(rng.integers(30, 60))),
        )
        for profile in plain.profiles
    ]
    return Town(seed, plain.vocabulary, profiles, plain.likes, plain.says)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), slug=st.sampled_from(["uniform", "greedy", "mutual"]), quota=st.sampled_from([0.0, 0.5]))
def test_nobody_is_shown_whom_filters_or_a_match_keep_away(seed: int, slug: str, quota: float) -> None:
    here = mixed_town(seed)
    log = play(here, lambda _viewer, _round: always(slug, admirer_quota=quota, exposure_capped=True), SHORT)
    assert compatible(here.profiles)[log.viewer, log.candidate].all()
    kept_apart: set[tuple[int, int]] = set()
    for viewer, candidate, matched in zip(log.viewer.tolist(), log.candidate.tolist(), log.matched.tolist(), strict=True):
        assert (viewer, candidate) not in kept_apart
        if matched:
            kept_apart |= {(viewer, candidate), (candidate, viewer)}


@pytest.mark.parametrize(
    "policy", [MutualPolicy(), always("uniform"), always("information"), always("thompson", exposure_capped=True)]
)
def test_cards_are_conserved_and_nobody_meets_twice_while_there_are_others(policy: Policy) -> None:
    here = town("archetypes", 3, SMALL)
    log = play(here, lambda _viewer, _round: policy, SHORT)
    assert len(log) == len(here) * SHORT.cards
    assert (np.bincount(log.viewer, minlength=len(here)) == SHORT.cards).all()
    assert len(set(zip(log.viewer.tolist(), log.candidate.tolist(), strict=True))) == len(log)
    assert ((log.propensity > 0.0) & (log.propensity <= 1.0)).all()


def test_a_match_is_made_by_the_second_of_two_likes_and_counts_if_both_were_meant() -> None:
    here = town("archetypes", 5, SMALL)
    log = play(here, lambda _viewer, _round: MutualPolicy(), SHORT)
    said: set[tuple[int, int]] = set()
    for viewer, candidate, liked, matched in zip(
        log.viewer.tolist(), log.candidate.tolist(), log.liked.tolist(), log.matched.tolist(), strict=True
    ):
        assert liked == here.says[viewer, candidate]
        assert matched == (liked and (candidate, viewer) in said)
        if liked:
            said.add((viewer, candidate))
    good = effective(log, here)
    assert 0 < good.sum() < log.matched.sum()  # some were careless
    assert here.possible[log.viewer[good], log.candidate[good]].all()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    one, again, other = (
        play(town("popularity", seed, SMALL), lambda _viewer, _round: MutualPolicy(), SHORT) for seed in (1, 1, 2)
    )
    assert alike(one, again)
    assert not alike(one, other)


def test_a_policy_is_asked_for_each_person_and_round() -> None:
    here = town("archetypes", 0, SMALL)
    asked: list[tuple[int, int]] = []

    def policy_of(viewer: int, number: int) -> Policy:
        asked.append((viewer, number))
        return always("uniform") if viewer % 2 else MutualPolicy()

    log = play(here, policy_of, SHORT)
    assert sorted(asked) == [(viewer, number) for viewer in range(len(here)) for number in range(SHORT.rounds)]
    uniform = log.viewer % 2 == 1
    # Everybody alike: 4 of whoever is left of 20, after 0, 4 and 8 cards and but for matches, who were met anyway.
    np.testing.assert_allclose(log.propensity[uniform], 4.0 / (20.0 - 4.0 * log.round[uniform]))


def test_random_cards_match_as_often_as_arithmetic_says() -> None:
    """Without learning or quota each side of a pair comes up with probability cards/side, independently."""
    pace = Pace(rounds=2, deck=5)
    expected, found = 0.0, 0
    for seed in range(8):
        here = town("archetypes", seed, replace(SMALL, like_rate=0.5))
        found += outcome(play(here, lambda _viewer, _round: always("uniform"), pace), here).matches
        expected += here.possible.sum() / 2 * (pace.cards / SMALL.side) ** 2
    assert expected > 100.0
    assert abs(found - expected) < 4.0 * np.sqrt(expected)  # a sum of nearly independent rare events


def test_nothing_beats_all_possible_matches_and_the_whole_town_shown_reaches_them() -> None:
    here = town("archetypes", 1, SMALL)
    possible = int(here.possible.sum()) // 2
    everything = Pace(rounds=2, deck=10)
    for policy in (always("uniform"), always("greedy"), MutualPolicy()):
        assert outcome(play(here, lambda _viewer, _round, it=policy: it, SHORT), here).matches <= possible
        assert outcome(play(here, lambda _viewer, _round, it=policy: it, everything), here).matches == possible


def test_the_first_match_is_counted_in_cards_of_ones_own() -> None:
    here = town("archetypes", 4, SMALL)
    log = play(here, lambda _viewer, _round: MutualPolicy(), SHORT)
    seen, first = [0] * len(here), [np.inf] * len(here)
    good = effective(log, here)
    for row in range(len(log)):
        seen[log.viewer[row]] += 1
        if good[row]:
            for person in (log.viewer[row], log.candidate[row]):
                first[person] = min(first[person], seen[person])
    np.testing.assert_array_equal(first_match(log, here), first)


def test_likes_wait_where_the_liked_have_not_been_shown_who_liked_them() -> None:
    here = town("archetypes", 4, SMALL)
    log = play(here, lambda _viewer, _round: always("greedy"), SHORT)
    pairs = set(zip(log.viewer.tolist(), log.candidate.tolist(), strict=True))
    likes = {(u, v) for u, v, liked in zip(log.viewer.tolist(), log.candidate.tolist(), log.liked.tolist(), strict=True) if liked}
    assert outcome(log, here).waiting == sum((v, u) not in pairs for u, v in likes) / len(likes)


def test_a_group_is_shown_and_matched_beside_the_others() -> None:
    here = town("archetypes", 4, SMALL)
    log = play(here, lambda _viewer, _round: MutualPolicy(), SHORT)
    good, women = effective(log, here), np.arange(len(here)) % 2 == 0
    for group, inside in (("woman", women), ("tag 3", np.array([person.features[2] > 0.0 for person in here.profiles]))):
        shown = np.bincount(log.candidate, minlength=len(here))
        matches = np.bincount(np.concatenate([log.viewer[good], log.candidate[good]]), minlength=len(here))
        found = outcome(log, here, group=group)
        assert found.group_shown == pytest.approx(shown[inside].mean() / shown[~inside].mean())
        assert found.group_matches == pytest.approx(matches[inside].mean() / matches[~inside].mean())
    assert np.isnan(outcome(log, here).group_shown)
    with pytest.raises(InvalidInput, match="tag 3"):
        outcome(log, here, group="tagg 3")


def test_what_was_learned_ranks_those_who_were_not_shown() -> None:
    here = town("archetypes", 2, Census(side=40, tags=16, label_noise=0.0))
    log, ranking = play_and_rank(here, lambda _viewer, _round: always("uniform"), Pace(rounds=4, deck=6))
    assert np.nanmean(ranking) > 0.7
    assert outcome(log, here, ranking).ranking == pytest.approx(np.nanmean(ranking))
    _, nobody = play_and_rank(here, lambda _viewer, _round: always("uniform"), Pace(rounds=4, deck=10))
    assert np.isnan(nobody).all()  # everybody was shown


def test_the_default_is_the_services() -> None:
    default, ours = next(arm for arm in market_policies() if arm.name == DEFAULT), Settings()
    assert (default.policy.slug, ours.policy_settings) == (ours.policy, {})
    assert default.shared.exposure_cap == ours.exposure_cap
    first = unfitted(ours.learner, ours.learner_settings, 3)
    assert service_learner() == learner_from(first.prior, first.learner, first.settings)


def test_the_papers_pipeline_learns_in_blocks_and_keeps_its_stability() -> None:
    here = town("paper", 0, SMALL)
    paper = next(arm for arm in market_policies() if arm.name == "paper")
    assert isinstance(paper.policy, PaperPolicy)
    assert paper.shared == MarketSettings(learner=paper.shared.learner, fusion="geometric")
    assert paper.shared.learner.slug == "block-nk"
    assert len(paper.play(here, SHORT)) == len(here) * SHORT.cards


def test_profiles_are_not_taken_for_a_population_that_is_made_up(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="for the population 'okcupid'"):
        town("archetypes", 0, Census(people=tmp_path / "people.csv"))
