"""Decks: nobody who must not be shown, in any corner; probabilities that come true; honest reasons."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.recommend.decks.eligible import COOLDOWN, Answers, in_cooldown
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.policy import Always, DeckPlan, Experience, MutualPolicy, PaperPolicy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING, MENTORING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.registry import SAMPLERS, sampler
from kaczmatch.recommend.scoring import Viewer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
POLICIES = {
    "paper": PaperPolicy(),
    "mutual": MutualPolicy(),
    **{
        slug: Always(
            deck_plan=DeckPlan(sampler=sampler(slug), reason="test", uniform_floor=0.1, admirer_quota=0.4, exposure_capped=True)
        )
        for slug in SAMPLERS
    },
}


@pytest.fixture(scope="module")
def people(crowd: Callable[..., Any]) -> Any:
    return crowd(300)


def allowed_ids(people: Any, viewer: Any, blocked: Any = frozenset()) -> set[Any]:
    others = list(people.profiles.values())
    ok = passes_all_filters(people.profiles[viewer], FilterColumns.from_profiles(others, DATING), NOW.date(), blocked)
    return {other.id for other, passes in zip(others, ok, strict=True) if passes}


def test_a_deck_leaves_nothing_for_the_garbage_collector(people: Any) -> None:
    """Which would keep all that was read for it until then, and stop everybody to look through it."""
    recommender = people.recommender(policy=POLICIES["mutual"], private_order=False)

    def deck() -> None:
        assert recommender.deck(people.viewer(1), 6, now=NOW, rng=np.random.default_rng(1), exposure=Exposure()).cards

    deck()  # compiles
    gc.collect()
    gc.disable()
    try:
        deck()
        assert not gc.collect()
    finally:
        gc.enable()


@pytest.mark.parametrize("policy", list(POLICIES))
@given(data=st.data())
@settings(max_examples=25)
def test_nobody_is_shown_who_must_not_be(people: Any, policy: str, data: Any) -> None:
    """Against the brute-force filters, whatever is blocked, answered or admired, relaxed or not, repeated or not."""
    viewer = data.draw(st.integers(0, 299))
    blocked = data.draw(st.sets(st.integers(0, 299), max_size=150))
    most = data.draw(st.sampled_from([20, 150, 300]))
    met = data.draw(st.dictionaries(st.integers(0, 299), st.tuples(st.sampled_from("lps"), st.integers(0, 40)), max_size=most))
    when = {identifier: NOW - timedelta(days=days) for identifier, (_, days) in met.items()}
    liked, passed, skipped = ({i for i, (said, _) in met.items() if said == kind} for kind in "lps")
    answers = Answers(liked=liked, passed={i: when[i] for i in passed}, skipped={i: when[i] for i in skipped})
    admirers = data.draw(st.sets(st.integers(0, 350), max_size=60))
    size, repeats = data.draw(st.integers(1, 40)), data.draw(st.booleans())
    deck = people.recommender(policy=POLICIES[policy], private_order=False, repeats=repeats).deck(
        people.viewer(viewer),
        size,
        now=NOW,
        rng=np.random.default_rng(data.draw(st.integers(0, 99))),
        blocked=blocked,
        answers=answers,
        admirers=admirers,
        exposure=Exposure(),
    )
    passes = allowed_ids(people, viewer, blocked) - liked
    cool = {identifier for identifier, (said, days) in met.items() if said != "l" and days < 14}
    new, old = passes - passed - cool, (passes & passed) - cool
    shown = {card.id: card.reason for card in deck.cards}
    assert len(shown) == len(deck.cards) <= size
    assert deck.eligible == len(new)
    again = [i for i, reason in shown.items() if reason in (Reason.REPEAT, Reason.RELAXED)]
    assert set(shown) - set(again) <= new
    assert len(shown) - len(again) == min(size, len(new))
    relaxed = policy == "paper"
    waiting = sorted(old, key=when.__getitem__) + (sorted(passes & cool, key=when.__getitem__) if relaxed else [])
    room = size - len(new) if relaxed else size if repeats and not new else 0
    expected = waiting[: max(room, 0)]
    assert sorted(when[i] for i in again) == sorted(when[i] for i in expected)  # of the same moment, either will do
    assert all(shown[i] is (Reason.REPEAT if i in old else Reason.RELAXED) for i in again)
    if not shown:
        ends = [when[i] + COOLDOWN for i in passes & cool if i in skipped or repeats]
        assert deck.next_at == min(ends, default=None)
    assert all(0.0 < card.propensity <= 1.0 for card in deck.cards)
    scores = [card.score for card in deck.cards]
    assert scores == sorted(scores, reverse=True)
    assert bool(deck.empty) == (not shown)
    assert all(opening.people > 0 for opening in deck.hints)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_a_deck_does_not_depend_on_the_order_in_which_admirers_are_named(people: Any, policy: str) -> None:
    """A set of strings has another order in every process, and the same seed has to give the same deck."""
    recommender, allowed = people.recommender(policy=POLICIES[policy]), sorted(allowed_ids(people, 1))
    admirers = max(([one for one in allowed if one % 8 == rest] for rest in range(8)), key=len)[:4]  # they collide in a set

    def decks(named: list[int]) -> list[Any]:
        rng = np.random.default_rng(5)
        return [recommender.deck(people.viewer(1), 6, now=NOW, rng=rng, admirers=named).cards for _ in range(5)]

    assert len(admirers) == 4
    assert decks(admirers) == decks(admirers[::-1])


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["uniform", "row-norm", "cosine", "greedy", "thompson", "mutual"])
def test_the_stated_probability_of_a_card_comes_true(crowd: Callable[..., Any], slug: str) -> None:
    """Floor, admirer quota and cap are in it: frequencies over many decks against the mean stated probability."""
    small = crowd(40, seed=3)
    viewer = max(small.profiles, key=lambda identifier: len(allowed_ids(small, identifier)))
    pool = sorted(allowed_ids(small, viewer))
    assert len(pool) > 15
    decision = DeckPlan(sampler=sampler(slug), reason="test", uniform_floor=0.25, admirer_quota=0.3, exposure_capped=True)
    recommender = small.recommender(policy=Always(deck_plan=decision))
    exposure = Exposure(cap=1.0)
    exposure.record(pool[:3] * 9, NOW)
    rng = np.random.default_rng(8)
    rounds, size = 1200, 6
    counts, weighed = dict.fromkeys(pool, 0), dict.fromkeys(pool, 0.0)
    for _ in range(rounds):
        deck = recommender.deck(
            small.viewer(viewer),
            size,
            now=NOW,
            rng=rng,
            admirers=pool[2:6],
            exposure=exposure,
            answers=Answers(passed={pool[-1]: NOW}),
        )
        assert len(deck.cards) == size
        for card in deck.cards:
            counts[card.id] += 1
            weighed[card.id] += 1.0 / card.propensity
    assert counts.pop(pool[-1]) == 0
    del weighed[pool[-1]]
    # Every inverse probability has expectation 1; rare ones are noisy, so each is held against its own spread.
    for identifier, total in weighed.items():
        share = max(counts[identifier] / rounds, 0.02)
        assert total / rounds == pytest.approx(1.0, abs=4.5 / np.sqrt(rounds * share) + 0.08), identifier
    assert np.mean(list(weighed.values())) / rounds == pytest.approx(1.0, abs=0.05)
    assert min(counts.values()) > 0  # the floor reaches everybody


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["uniform", "row-norm", "cosine", "greedy", "thompson", "mutual"])
def test_probabilities_of_people_who_were_not_dealt_come_true_too(crowd: Callable[..., Any], slug: str) -> None:
    """Asked about everybody before every deal: the mean answer is how often each is dealt, and 0 where one may not be."""
    small = crowd(40, seed=3)
    viewer = max(small.profiles, key=lambda identifier: len(allowed_ids(small, identifier)))
    pool = sorted(allowed_ids(small, viewer))
    decision = DeckPlan(sampler=sampler(slug), reason="test", uniform_floor=0.25, admirer_quota=0.3, exposure_capped=True)
    recommender, rng = small.recommender(policy=Always(deck_plan=decision)), np.random.default_rng(2)
    exposure, everybody, rounds = Exposure(cap=1.0), [*small.profiles, "nobody"], 250
    exposure.record(pool[:3] * 9, NOW)
    told, dealt = np.zeros(len(everybody)), np.zeros(len(everybody))
    arguments: dict[str, Any] = {"now": NOW, "rng": rng, "admirers": pool[2:6], "exposure": exposure}
    arguments["answers"] = Answers(passed={pool[-1]: NOW})
    for _ in range(rounds):
        seen = recommender.simulate(small.viewer(viewer), 6, everybody, **arguments)
        told += seen.propensities
        dealt[[everybody.index(identifier) for identifier in seen.shown]] += 1
    assert {everybody[i] for i in np.flatnonzero(told)} == set(pool[:-1])
    assert np.abs(told - dealt).max() / rounds < 4.0 * 0.5 / np.sqrt(rounds)
    assert told.sum() / rounds == pytest.approx(6.0, abs=0.1)
    least = recommender.deck(small.viewer(viewer), 6, **arguments).min_propensity
    assert 0.0 < least <= told[told > 0.0].min() / rounds + 0.03
    bare = small.recommender(policy=Always(deck_plan=DeckPlan(sampler=sampler(slug), reason="test")))
    least = bare.deck(small.viewer(viewer), 6, **arguments).min_propensity
    if slug in ("uniform", "greedy"):
        assert least == pytest.approx(6 / (len(pool) - 1) if slug == "uniform" else 0.0)


@pytest.mark.slow
def test_uniform_frequencies_pass_a_chi_square(crowd: Callable[..., Any]) -> None:
    small = crowd(40, seed=3)
    viewer = max(small.profiles, key=lambda identifier: len(allowed_ids(small, identifier)))
    recommender = small.recommender(policy=Always(deck_plan=DeckPlan(sampler=sampler("uniform"), reason="test")))
    rng = np.random.default_rng(1)
    counts: dict[Any, int] = dict.fromkeys(allowed_ids(small, viewer), 0)
    rounds = 2000
    for _ in range(rounds):
        for card in recommender.deck(small.viewer(viewer), 5, now=NOW, rng=rng).cards:
            counts[card.id] += 1
            assert card.propensity == pytest.approx(5 / len(counts))
    p = 5 / len(counts)
    statistic = sum((count - rounds * p) ** 2 for count in counts.values()) / (rounds * p * (1 - p))
    assert statistic < chi2.ppf(0.999, len(counts))


def test_the_same_seed_deals_the_same_deck(people: Any) -> None:
    decks = [
        people.recommender().deck(people.viewer(4), 12, now=NOW, rng=np.random.default_rng(5), admirers=[1, 2, 3]) for _ in "ab"
    ]
    assert decks[0] == decks[1]


def test_admirers_are_there_and_unmarked(people: Any) -> None:
    viewer = max(range(50), key=lambda i: len(allowed_ids(people, i)))
    fans = sorted(allowed_ids(people, viewer))[:20]
    decision = DeckPlan(sampler=sampler("uniform"), reason="test", admirer_quota=0.5)
    recommender = people.recommender(policy=Always(deck_plan=decision))
    shown = [
        recommender.deck(people.viewer(viewer), 10, now=NOW, rng=np.random.default_rng(seed), admirers=fans) for seed in range(30)
    ]
    assert all(sum(card.id in fans for card in deck.cards) >= 5 for deck in shown)
    assert {(card.reason, card.why) for deck in shown for card in deck.cards} == {(Reason.SAMPLED, "drawn at random")}


@pytest.mark.parametrize("slug", ["greedy", "mutual"])
def test_of_many_admirers_those_come_whom_the_viewer_likes(people: Any, slug: str) -> None:
    """They have liked the viewer: what their states think of the viewer matters no more, nor how often they were shown."""
    viewer = max(range(50), key=lambda i: len(allowed_ids(people, i)))
    fans = sorted(allowed_ids(people, viewer))[:20]
    forward = {one: people.viewer(viewer).forward(people.profiles[one].features[None], people.others[one])[0] for one in fans}
    best, exposure = sorted(fans, key=forward.__getitem__)[-5:], Exposure(cap=1.0)
    exposure.record([*best] * 50, NOW)
    chosen = sampler(slug, temper=0.0) if slug == "mutual" else sampler(slug)
    plan = DeckPlan(sampler=chosen, reason="test", admirer_quota=0.5, exposure_capped=True)
    deck = people.recommender(policy=Always(deck_plan=plan)).deck(
        people.viewer(viewer), 10, now=NOW, rng=np.random.default_rng(0), admirers=fans, exposure=exposure
    )
    assert {card.id for card in deck.cards} >= {*best}


@pytest.mark.slow
def test_a_capped_profile_is_hardly_shown_and_a_bare_one_is(crowd: Callable[..., Any]) -> None:
    """Tag stuffing buys what the cap allows; no tags at all are still shown, by the floor."""
    people = crowd(200, seed=6, reals=0)
    full = replace(people.profiles[0], id="full", features=np.ones(11), i_am=DATING.kinds, i_look_for=DATING.kinds)
    bare = replace(full, id="bare", features=np.zeros(11))
    for profile in (full, bare):
        wide = replace(profile, ages=(0, 150), born=date(1990, 1, 1), within_km=np.inf)
        people.profiles[wide.id] = wide
        people.states[wide.id], people.others[wide.id] = people.states[0], np.zeros(2)
        people.index.upsert(wide)
    recommender = people.recommender(policy=MutualPolicy(uniform_floor=0.1))
    rng, exposure = np.random.default_rng(0), Exposure(cap=2.0)
    counts = dict.fromkeys(people.profiles, 0)
    for viewer in rng.integers(0, 200, 1500).tolist():
        deck = recommender.deck(people.viewer(viewer), 6, now=NOW, rng=rng, exposure=exposure)
        exposure.record([card.id for card in deck.cards], NOW)
        for card in deck.cards:
            counts[card.id] += 1
    average = sum(counts.values()) / len(counts)
    assert counts["full"] <= 2.0 * (average + 1.0) + 1.0 + 0.35 * average  # the floor shows the capped too
    assert counts["bare"] > 0


@pytest.mark.slow
def test_the_cap_holds_where_the_whole_shortlist_is_popular() -> None:
    """More people have what everybody likes than a shortlist holds: still nobody gets far beyond the cap."""
    rng = np.random.default_rng(0)
    rule, n = learner("probit-diag"), 1500
    taste = rule.start(np.array([4.0, 0.0, 0.0]))
    index = CandidateIndex(Vocabulary.of(["loved", "a", "b"]), rule)
    tags = np.column_stack([np.arange(n) < 600, rng.random((n, 2)) < 0.5]).astype(float)
    about: dict[str, Any] = {"i_am": {"woman"}, "i_look_for": {"woman"}, "born": date(1990, 1, 1)}
    profiles = [Profile(id=i, features=tags[i], **about) for i in range(n)]
    index.upsert(*profiles)
    index.set_states(dict.fromkeys(range(n), taste))
    recommender = Recommender(index=index, states=lambda ids: [taste] * len(ids))
    exposure = Exposure(cap=3.0)
    for viewer in rng.integers(0, n, 900).tolist():
        deck = recommender.deck(Viewer(profiles[viewer], rule, taste), 10, now=NOW, rng=rng, exposure=exposure)
        exposure.record([card.id for card in deck.cards], NOW)
    counts = np.array([exposure.cards_of(i, NOW) for i in range(n)])
    assert counts.max() <= 3.0 * (1.0 + counts.mean()) + 1.0 + 4.0  # and a few by the floor


def test_a_deck_for_mentors() -> None:
    rule = learner("probit-diag")
    index = CandidateIndex(Vocabulary.of(["python", "law"]), rule, schema=MENTORING)
    start = rule.start(np.zeros(2))

    def one(name: str, kind: str, other: str, **more: Any) -> Profile:
        about: dict[str, Any] = {"born": date(1990, 1, 1), "features": np.array([1.0, 0.0]), "schema": MENTORING} | more
        return Profile(id=name, i_am={kind}, i_look_for={other}, **about)

    mentee = one("mentee", "mentee", "mentor", born=date(2009, 1, 1))
    index.upsert(mentee, one("mentor", "mentor", "mentee"), one("strict", "mentor", "mentee", ages=(30, 60)))
    index.upsert(one("other", "mentee", "mentor"))
    recommender = Recommender(index=index, states=lambda ids: [start] * len(ids))
    deck = recommender.deck(Viewer(mentee, rule, start), 5, now=NOW, rng=np.random.default_rng(0))
    assert [card.id for card in deck.cards] == ["mentor"]


def test_states_may_be_looked_up_by_somebody_who_changes_the_index(people: Any) -> None:
    """The lookup runs after the index was let go."""

    def states(ids: Any) -> Any:
        people.index.upsert(people.profiles[250])
        return people.states_of(ids)

    arguments: dict[str, Any] = {"now": NOW, "rng": np.random.default_rng(0)}
    assert Recommender(index=people.index, states=states).deck(people.viewer(3), 5, **arguments).cards
    too_few = Recommender(index=people.index, states=lambda ids: people.states_of(ids[:1]))
    with pytest.raises(InvalidInput, match="1 were found for"):
        too_few.deck(people.viewer(3), 5, **arguments)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["greedy", "uniform", "row-norm", "cosine"])
@pytest.mark.parametrize(("people_in_pool", "size"), [(4, 3), (7, 2), (12, 5)])
def test_small_pools_with_quota_and_floor_state_true_probabilities(slug: str, people_in_pool: int, size: int) -> None:
    rng = np.random.default_rng(5)
    rule = learner("tk")
    index = CandidateIndex(Vocabulary.of(["a", "b", "c", "d"]), rule)
    about: dict[str, Any] = {"i_am": {"man"}, "i_look_for": {"man"}, "born": date(1990, 1, 1)}
    tags = (rng.random((people_in_pool + 1, 4)) < 0.6).astype(float)
    profiles = [Profile(id=i, features=tags[i], **about) for i in range(people_in_pool + 1)]
    index.upsert(*profiles)
    states = {i: rule.start(rng.random(4) + 0.2) for i in range(people_in_pool + 1)}
    index.set_states(states)
    decision = DeckPlan(sampler=sampler(slug), reason="test", uniform_floor=0.25, admirer_quota=0.5)
    recommender = Recommender(index=index, states=lambda ids: [states[i] for i in ids], policy=Always(deck_plan=decision))
    viewer, rounds = Viewer(profiles[0], rule, states[0]), 1500
    shown, weighed = np.zeros(people_in_pool + 1), np.zeros(people_in_pool + 1)
    for _ in range(rounds):
        for card in recommender.deck(viewer, size, now=NOW, rng=rng, admirers=[1, 2]).cards:
            shown[card.id] += 1
            weighed[card.id] += 1.0 / card.propensity
    noise = 1.0 / np.sqrt(np.maximum(shown[1:], 1.0))
    assert np.all(np.abs(weighed[1:] / rounds - 1.0) < 4.0 * noise + 0.12)
    assert weighed[1:].mean() / rounds == pytest.approx(1.0, abs=0.06)


def test_an_empty_deck_says_what_would_open_it(people: Any) -> None:
    viewer = next(i for i in range(300) if people.profiles[i].location and len(allowed_ids(people, i)) > 20)
    narrow = replace(people.profiles[viewer], ages=(149, 150))
    deck = people.recommender().deck(replace(people.viewer(viewer), profile=narrow), 5, now=NOW, rng=np.random.default_rng(0))
    assert deck.cards == ()
    assert [opening.filter for opening in deck.hints] == ["age"]
    wide = replace(narrow, ages=(0, 150))
    others = [other for other in people.profiles.values() if other.id != viewer]
    assert deck.hints[0].people == passes_all_filters(wide, FilterColumns.from_profiles(others, DATING), NOW.date()).sum()


def test_somebody_too_young_sees_nobody(people: Any) -> None:
    young = replace(people.profiles[0], born=date(2010, 1, 1))
    deck = people.recommender().deck(replace(people.viewer(0), profile=young), 5, now=NOW, rng=np.random.default_rng(0))
    assert deck.cards == deck.hints == ()
    assert deck.empty == "one must be 18 to take part"


def test_where_no_filter_alone_helps_the_deck_says_so(crowd: Callable[..., Any]) -> None:
    people = crowd(2, seed=1)
    she = replace(
        people.profiles[0], i_am={"woman"}, i_look_for={"woman"}, ages=(90, 99), within_km=np.inf, born=date(1990, 1, 1)
    )
    he = replace(people.profiles[1], i_am={"man"}, i_look_for={"woman"}, ages=(18, 99), within_km=np.inf, born=date(1990, 1, 1))
    people.index.upsert(she, he)
    arguments: dict[str, Any] = {"now": NOW, "rng": np.random.default_rng(0)}
    deck = people.recommender().deck(replace(people.viewer(0), profile=she), 5, **arguments)
    assert [(one.filter, one.people) for one in deck.hints] == [("several", 1)]
    assert "several" in deck.empty
    people.index.upsert(replace(he, i_look_for={"man"}))
    deck = people.recommender().deck(replace(people.viewer(0), profile=she), 5, **arguments)
    assert (deck.hints, deck.empty) == ((), "nobody is left who fits and looks for somebody like you")


def test_fourteen_days_are_enough_and_a_second_less_is_not() -> None:
    recent = {"a": NOW - COOLDOWN, "b": NOW - COOLDOWN + timedelta(microseconds=1), "c": NOW + timedelta(days=3), "d": NOW}
    assert in_cooldown(recent, NOW) == ["b", "d", "c"]
    assert in_cooldown(recent, NOW, timedelta(0)) == ["c"]
    with pytest.raises(InvalidInput, match="its zone"):
        in_cooldown(recent, NOW.replace(tzinfo=None))
    with pytest.raises(InvalidInput, match="'a': must be a time"):
        in_cooldown({"a": NOW.replace(tzinfo=None)}, NOW)


def test_a_viewer_of_another_learner_is_refused(people: Any) -> None:
    other = learner("tk")
    viewer = replace(people.viewer(0), learner=other, state=other.start(np.ones(13)))
    tk = CandidateIndex(people.index.vocabulary, other)
    with pytest.raises(InvalidInput, match="'mutual' needs a learner"):
        Recommender(index=tk, states=people.states_of)
    with pytest.raises(InvalidInput, match="learns by"):
        people.recommender().deck(viewer, 5, now=NOW, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="grow it"):
        replace(people.viewer(0), state=people.learner.start(np.ones(3)))
    with pytest.raises(InvalidInput, match="size"):
        people.recommender().deck(people.viewer(0), 0, now=NOW, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="blocked: must be a collection"):
        people.recommender().deck(people.viewer(0), 5, now=NOW, rng=np.random.default_rng(0), blocked="bob")
    with pytest.raises(InvalidInput, match="answers: 4: must be a time"):
        people.recommender().deck(
            people.viewer(0), 5, now=NOW, rng=np.random.default_rng(0), answers=Answers(passed={4: NOW.date()})
        )  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="liked: must be a collection"):
        Answers(liked="bob")
    with pytest.raises(InvalidInput, match="cooldown"):
        people.recommender(cooldown=14)
    with pytest.raises(InvalidInput, match="did you mean 'harmonic'"):
        people.recommender(fusion="harmonics")
    with pytest.raises(InvalidInput, match="now: must be a time"):
        people.recommender().deck(people.viewer(0), 5, now=NOW.replace(tzinfo=None), rng=np.random.default_rng(0))


def test_the_papers_policy() -> None:
    decide = PaperPolicy().plan
    assert decide(Experience()).sampler.slug == "row-norm"
    assert decide(Experience(199)).reason == "199 swipes so far, fewer than 200"
    assert decide(Experience(200)).sampler.slug == "cosine"
    assert decide(Experience(500, (0.6,))).sampler.slug == "cosine"
    assert decide(Experience(500, (0.6, 0.9))).sampler.slug == "cosine"
    assert decide(Experience(500, (0.9, 0.69, 0.6))).sampler.slug == "row-norm"
    assert "0.69 and 0.60" in decide(Experience(500, (0.9, 0.69, 0.6))).reason
    assert decide(Experience(500, (0.6, 0.7))).sampler.slug == "cosine"


def test_our_policy() -> None:
    decision = MutualPolicy().plan(Experience())
    assert (decision.sampler.slug, decision.exposure_capped) == ("mutual", True)
    assert decision.uniform_floor > 0.0
    assert decision.admirer_quota > 0.0
    assert MutualPolicy(introduction_swipes=10).plan(Experience(9)).sampler.slug == "information"
    assert MutualPolicy(introduction_swipes=10).plan(Experience(10)).sampler.slug == "mutual"
    for bad in ({"uniform_floor": -0.1}, {"admirer_quota": 2.0}, {"introduction_swipes": -1}):
        with pytest.raises(InvalidInput):
            MutualPolicy(**bad)  # type: ignore[arg-type]
