"""A market played through: a deck for everybody each round, dealt, swiped, learned from and matched as in the service."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Protocol, cast, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import check_integer
from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.swipes import ShownCandidate, SwipeLog, appeal_row, appeal_rows
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import EventFold, TrackedState
from kaczmatch.learners.population.appeal import AppealModel, AppealTracker
from kaczmatch.learners.population.population_fit import fit_population
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.traits import CandidateTraits, Sites, TraitModel
from kaczmatch.learners.registry import learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.assignments.contract import PickAssignment
from kaczmatch.recommend.assignments.picks import picks
from kaczmatch.recommend.decks.eligible import Answers
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.policy import Experience, Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.runner.local import LocalRunner
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.simulation.market.town import START, Town, compatible

# Which policy deals somebody's deck in a round: by (place in the town, round), both from 0.
PolicyOf = Callable[[int, int], Policy]


def service_learner() -> Learner:
    """What a new store of the service learns by, until the first fit."""
    return learner("probit-diag", appeal=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Everybody gets a deck a round and swipes on all of it, in an order drawn anew each round."""

    rounds: int = 6
    deck: int = 10
    between: timedelta = timedelta(days=1)

    def __post_init__(self) -> None:
        check_integer("rounds", self.rounds, low=1, high=10_000)
        check_integer("deck", self.deck, low=1, high=10_000)

    @property
    def cards(self) -> int:
        return self.rounds * self.deck


@final
@dataclass(frozen=True, slots=True)
class Refits:
    """Whether a refit has traits (None: where they pay), and whether covariances of tags are kept."""

    traits: bool | None = None
    full: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketSettings:
    """What is one for the whole market, whatever policy deals: how people are learned, and the rules of the service."""

    learner: Learner = field(default_factory=service_learner)
    fusion: str = ""  # the usual one of the learner
    picks: PickAssignment | None = None  # of everybody, each round; half of a deck are picks then, as far as there are any
    exposure_cap: float = field(default_factory=lambda: ServiceConfig().exposure_cap)
    refits: Refits | None = None  # after each round, or never


@final
@dataclass(frozen=True, slots=True, eq=False)
class MarketLog:
    """Every card in the order of time, a value each."""

    round: NDArray[np.int32]
    viewer: NDArray[np.int32]
    candidate: NDArray[np.int32]
    liked: NDArray[np.bool_]  # as was said
    matched: NDArray[np.bool_]  # whether this swipe made a match
    propensity: NDArray[np.float64]  # that the deck had for the card; NaN: it was a pick, which is not drawn

    def __len__(self) -> int:
        return len(self.viewer)


def play(town: Town, policy_of: PolicyOf, pace: Pace = Pace(), shared: MarketSettings | None = None) -> MarketLog:  # noqa: B008
    """The log of a market. The same town, policies and pace give the same log."""
    return play_and_rank(town, policy_of, pace, shared)[0]


def play_and_rank(town: Town, policy_of: PolicyOf, pace: Pace, shared: MarketSettings | None = None) -> tuple[MarketLog, Vector]:
    """And how well everybody's state ranks, at the end, those whom they could have met and were not shown: an AUC each."""
    market = _Market(town, pace, shared or MarketSettings())
    order = np.random.default_rng([town.seed, 1])
    for number in range(pace.rounds):
        market.pick(number)
        for viewer in order.permutation(len(town)).tolist():
            market.turn(viewer, number, policy_of(viewer, number))
        if market.shared.refits is not None and number + 1 < pace.rounds:
            market.refit(market.shared.refits)
    return market.log(), market.ranking()


@final
class _Market:
    """Where everybody stands."""

    def __init__(self, town: Town, pace: Pace, shared: MarketSettings) -> None:
        self.town, self.pace, self.shared = town, pace, shared
        self.fold = EventFold(shared.learner, neutral_prior(shared.learner, town.vocabulary.dimensions))
        self.people = IndexedStates.of(town.vocabulary, shared.learner, self.fold.prior, town.profiles[0].schema)
        self.people.index.upsert(*town.profiles)
        self.exposure = Exposure(cap=shared.exposure_cap)
        self.heard: Heard = HeardAppeal()
        self.tracked = [self.fold.start] * len(town)
        self.likes: list[set[Hashable]] = [set() for _ in town.profiles]
        self.passes: list[dict[Hashable, datetime]] = [{} for _ in town.profiles]
        self.admirers: list[set[Hashable]] = [set() for _ in town.profiles]
        self.matches: list[set[Hashable]] = [set() for _ in town.profiles]
        self._recommenders: dict[Policy, Recommender] = {}
        self._picks: list[list[int]] = [[] for _ in town.profiles]
        self._turns = 0
        self._cards: list[tuple[int, int, int, bool, bool, float]] = []
        self._decisions: list[MarketDecision] = []

    def pick(self, round_number: int) -> None:
        """Everybody's picks for a round, from what is known before it. Nobody is given whom one of the two has answered."""
        town, rule, most = self.town, self.shared.picks, self.pace.deck // 2
        if rule is None or not most:
            return
        now = START + round_number * self.pace.between + timedelta(seconds=self._turns)
        columns = PickColumns.of(
            FilterColumns.from_profiles(town.profiles, town.profiles[0].schema),
            [profile.features for profile in town.profiles],
            self.fold.learner,
            [tracked.state for tracked in self.tracked],
            town.vocabulary,
            now.date(),
            others=np.array([self.heard.of(person, None, now) for person in range(len(town))]),
            excluded=[(me, other) for me in range(len(town)) for other in (*self.likes[me], *self.passes[me])],
        )
        _, assigned = picks(columns, most, rule, runner=LocalRunner(1))
        self._picks = [[] for _ in town.profiles]
        for row, given in enumerate(assigned.given):
            self._picks[cast(int, columns.ids[row])] = [cast(int, columns.ids[other]) for other in given[given >= 0]]

    def turn(self, viewer: int, round_number: int, policy: Policy) -> None:
        """A deck for somebody, who swipes on every card; then all they decided counts."""
        town, now = self.town, START + round_number * self.pace.between + timedelta(seconds=self._turns)
        self._turns += 1
        tracked, heard = self.tracked[viewer], self.heard.of(viewer, None, now)
        picked = self._picks[viewer]
        deck = self._recommender(policy).deck(
            Viewer(town.profiles[viewer], self.fold.learner, tracked.state, heard),
            self.pace.deck - len(picked),
            now=now,
            rng=np.random.default_rng([town.seed, 2, round_number, viewer]),
            blocked=self.matches[viewer] | set(picked),
            answers=Answers(liked=self.likes[viewer], passed=self.passes[viewer]),
            admirers=self.admirers[viewer],
            experience=Experience(tracked.swipes, tracked.stability),
            exposure=self.exposure,
        )
        cards = [(other, np.nan) for other in picked] + [(cast(int, card.id), card.propensity) for card in deck.cards]
        shown = [candidate for candidate, _ in cards]
        for candidate, propensity in cards:
            liked = bool(town.says[viewer, candidate])
            decision = MarketDecision(viewer, candidate, 1 if liked else -1, now)
            seen = ShownCandidate(town.profiles[candidate].features, self.heard.of(candidate, viewer, now))
            self.heard.record(tracked.state, viewer, candidate, decision.label, now)
            tracked = self.fold.swipe(tracked, seen, decision.label, now)
            self._decisions.append(decision)
            matched = self._decided(viewer, candidate, now, liked=liked)
            self._cards.append((round_number, viewer, candidate, liked, matched, propensity))
        self.tracked[viewer] = self.fold.end_session(tracked, now, town.vocabulary.dimensions)
        self.exposure.record(shown, now)
        self.people.learn({viewer: self.tracked[viewer].state})
        self.people.index.set_others({candidate: self.heard.of(candidate, None, now) for candidate in shown})

    def refit(self, refits: Refits) -> None:
        """Fit the population to all that was decided, and fold everybody again under it, as the service would."""
        features, now = np.array([profile.features for profile in self.town.profiles]), self._decisions[-1].at
        found = refit(self._decisions, features, refits, self.town.seed)
        self.fold, self.heard = found.fold, found.heard
        self.tracked = [found.tracked.get(place, self.fold.start) for place in range(len(self.town))]
        self.people = self.people.relearned(self.fold.learner, self.fold.prior)
        self.people.learn({place: tracked.state for place, tracked in found.tracked.items()})
        self.people.index.set_others({place: self.heard.of(place, None, now) for place in range(len(self.town))})
        self._recommenders = {}

    def log(self) -> MarketLog:
        columns = zip(*self._cards, strict=True) if self._cards else [()] * 6
        kinds = np.int32, np.int32, np.int32, np.bool_, np.bool_, np.float64
        return MarketLog(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))

    def ranking(self) -> Vector:
        """NaN where nobody is left, or all of them are liked alike."""
        town, now = self.town, START + self.pace.rounds * self.pace.between
        features = np.array([profile.features for profile in town.profiles])
        heard = np.array([self.heard.of(place, None, now) for place in range(len(town))])
        left = compatible(town.profiles)
        for _, viewer, candidate, *_ in self._cards:
            left[viewer, candidate] = False
        found = np.full(len(town), np.nan)
        for viewer in np.flatnonzero(left.any(axis=1)).tolist():
            others, state = left[viewer], self.tracked[viewer].state
            found[viewer] = auc(self.fold.learner.score(state, features[others], heard[others]), town.likes[viewer, others])
        return found

    def _recommender(self, policy: Policy) -> Recommender:
        """One index deals for all policies."""
        if policy not in self._recommenders:
            self._recommenders[policy] = self.people.recommender(policy, fusion=self.shared.fusion)
        return self._recommenders[policy]

    def _decided(self, viewer: int, candidate: int, at: datetime, *, liked: bool) -> bool:
        """Whether the decision made a match."""
        if not liked:
            self.passes[viewer][candidate] = at
            return False
        self.likes[viewer].add(candidate)
        self.admirers[candidate].add(viewer)
        matched = candidate in self.admirers[viewer] and candidate not in self.matches[viewer]
        if matched:
            self.matches[viewer].add(candidate)
            self.matches[candidate].add(viewer)
        return matched


class Heard(Protocol):
    """What others have said of everybody so far."""

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        """As the viewer hears it: without the viewer's own words."""
        ...

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:
        """A decision by a viewer who had this state before it."""
        ...


@final
@dataclass(frozen=True, slots=True)
class MarketDecision:
    """One card as it was decided."""

    viewer: int
    candidate: int
    label: int
    at: datetime


@final
class HeardAppeal:
    """Appeal, whatever the population."""

    def __init__(self, decided: Sequence[MarketDecision] = ()) -> None:
        self._tracker: AppealTracker = AppealModel().tracker()
        for each in decided:
            self._tracker.record(each.viewer, each.candidate, each.label, each.at)

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        return appeal_row(self._tracker.appeal_of(candidate, viewer, now))

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:  # noqa: ARG002
        self._tracker.record(viewer, candidate, label, now)


@final
class HeardTraits:
    """Traits under one fit: its sites, then those of every decision since."""

    def __init__(self, model: TraitModel, features: Matrix, sites: SiteLog) -> None:
        self._model, self._features = model, features
        self._traits = [CandidateTraits.unknown(model.learner.traits) for _ in features]
        self._own: dict[tuple[int, int], Sites] = {}
        for rater, candidate, site in zip(sites.rater.tolist(), sites.candidate.tolist(), sites.sites, strict=True):
            self._replace(rater, candidate, site)

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        own = None if viewer is None else self._own.get((viewer, candidate))
        return self._model.shown(self._features[candidate], self._traits[candidate], now, own=own)

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:
        self._replace(viewer, candidate, self._model.site(state, self._features[candidate], label, now))

    def _replace(self, rater: int, candidate: int, site: Sites) -> None:
        traits, before = self._traits[candidate], self._own.get((rater, candidate))
        self._traits[candidate] = (traits if before is None else traits.minus(before)).plus(site)
        self._own[rater, candidate] = site


@final
@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """A population after a refit: everybody's decisions folded again under it."""

    fold: EventFold
    heard: Heard
    tracked: dict[int, TrackedState]  # of those who have decided anything


def refit(decided: Sequence[MarketDecision], features: Matrix, refits: Refits, seed: int) -> Refitted:
    """The population of all decisions so far, given in the order of time. Without traits, appeal is heard."""
    moments = np.array([each.at.replace(tzinfo=None) for each in decided], "datetime64[us]")
    log = SwipeLog(
        user=[each.viewer for each in decided],
        candidate=[each.candidate for each in decided],
        candidates=features,
        label=[each.label for each in decided],
        at=moments,
    )
    population = fit_population(log, learner=ProbitTraits(full=refits.full), traits=refits.traits, seed=seed)
    heard: Heard
    said: Matrix
    if isinstance(population.learner, ProbitTraits) and population.sites is not None:
        viewer: Integers = np.asarray(log.user).astype(np.int64)
        numbers: Integers = np.array(population.names, np.int64)
        sites = population.sites
        sites = SiteLog(numbers[sites.rater], sites.candidate, sites.at, sites.sites)
        now = np.full(len(log), int(np.asarray(log.at).max()) + 1)
        model = TraitModel(learner=population.learner, prior=population.prior, reference=int(now[0]))
        heard = HeardTraits(model, features, sites)
        candidate = np.asarray(log.candidate_row)
        said = sites.traits_at(model, model.expected(features), viewer=viewer, candidate=candidate, at=now)
    else:
        heard = HeardAppeal(decided)  # anew: a refit before this one may have had traits
        said = appeal_rows(AppealModel().before_swipes(log))
    fold = EventFold(population.learner, population.prior)
    tracked: dict[int, TrackedState] = {}
    places = zip(decided, said, strict=True)
    for (who, at), turn in groupby(places, key=lambda one: (one[0].viewer, one[0].at)):
        state = tracked.get(who, fold.start)
        for each, of_candidate in turn:
            state = fold.swipe(state, ShownCandidate(features[each.candidate], of_candidate), each.label, at)
        tracked[who] = fold.end_session(state, at, features.shape[1])
    return Refitted(fold, heard, tracked)
