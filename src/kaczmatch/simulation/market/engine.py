"""A market played through: a deck for everybody each round, dealt, swiped, learned from and matched as in the service."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import whole
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.population.appeal import Appeal
from kaczmatch.learners.registry import learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.policy import Experience, Policy
from kaczmatch.recommend.recommender import Recommender
from kaczmatch.recommend.viewer import Viewer
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.folding import LIKE, PASS, SESSION_ENDED, SWIPED, EventFold
from kaczmatch.service.domain.records import Event
from kaczmatch.service.domain.sparse_features import packed
from kaczmatch.simulation.market.town import START, Town

# Which policy deals somebody's deck in a round: by (place in the town, round), both from 0.
PolicyOf = Callable[[int, int], Policy]


def service_learner() -> Learner:
    """What a new store of the service learns by."""
    return learner("probit-diag", appeal=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Everybody gets a deck a round and swipes on all of it, in an order drawn anew each round."""

    rounds: int = 6
    deck: int = 10
    between: timedelta = timedelta(days=1)

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, low=1, high=10_000)
        whole("deck", self.deck, low=1, high=10_000)

    @property
    def cards(self) -> int:
        return self.rounds * self.deck


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What is one for the whole market, whatever policy deals: how people are learned, and the rules of the service."""

    learner: Learner = field(default_factory=service_learner)
    fusion: str = ""  # the usual one of the learner
    exposure_cap: float = field(default_factory=lambda: ServiceConfig().exposure_cap)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Every card in the order of time, a value each."""

    round: NDArray[np.int32]
    viewer: NDArray[np.int32]
    candidate: NDArray[np.int32]
    liked: NDArray[np.bool_]  # as was said
    matched: NDArray[np.bool_]  # whether this swipe made a match
    chance: NDArray[np.float64]  # that the deck had for the card

    def __len__(self) -> int:
        return len(self.viewer)


def play(town: Town, policy_of: PolicyOf, pace: Pace = Pace(), shared: Shared | None = None) -> Log:  # noqa: B008
    """The log of a market. The same town, policies and pace give the same log."""
    market = _Market(town, pace, shared or Shared())
    order = np.random.default_rng([town.seed, 1])
    for number in range(pace.rounds):
        for viewer in order.permutation(len(town)).tolist():
            market.turn(viewer, number, policy_of(viewer, number))
    return market.log()


@final
class _Market:
    """Where everybody stands."""

    def __init__(self, town: Town, pace: Pace, shared: Shared) -> None:
        self.town, self.pace, self.shared = town, pace, shared
        dimensions = town.vocabulary.dimensions
        self.fold = EventFold(1, shared.learner, neutral_prior(shared.learner, dimensions), lambda _: dimensions)
        self.index = CandidateIndex(town.vocabulary, shared.learner, prior=self.fold.prior, schema=town.profiles[0].schema)
        self.index.put(*town.profiles)
        self.exposure = Exposure(cap=shared.exposure_cap)
        self.appeal = Appeal().ledger()
        self.features = [packed(profile.features) for profile in town.profiles]
        self.tastes = [self.fold.start()] * len(town)
        self.states: dict[Hashable, State] = {place: taste.state for place, taste in enumerate(self.tastes)}
        self.met: list[dict[Hashable, datetime]] = [{} for _ in town.profiles]
        self.admirers: list[set[Hashable]] = [set() for _ in town.profiles]
        self.matches: list[set[Hashable]] = [set() for _ in town.profiles]
        self._recommenders: dict[Policy, Recommender] = {}
        self._turns = 0
        self._cards: list[tuple[int, int, int, bool, bool, float]] = []

    def turn(self, viewer: int, number: int, policy: Policy) -> None:
        """A deck for somebody, who swipes on every card; then all they decided counts."""
        town, now = self.town, START + number * self.pace.between + timedelta(seconds=self._turns)
        self._turns += 1
        taste, appeal = self.tastes[viewer], self.appeal.of(viewer, None, now)
        deck = self._dealing(policy).deck(
            Viewer(town.profiles[viewer], self.shared.learner, taste.state, appeal),
            self.pace.deck,
            now=now,
            rng=np.random.default_rng([town.seed, 2, number, viewer]),
            blocked=self.matches[viewer],
            recent=self.met[viewer],
            admirers=self.admirers[viewer],
            experience=Experience(taste.swipes, taste.stability),
            exposure=self.exposure,
        )
        shown = [cast(int, card.id) for card in deck.cards]
        for card, candidate in zip(deck.cards, shown, strict=True):
            liked = bool(town.says[viewer, candidate])
            taste = self.fold.step(taste, self._swiped(viewer, candidate, now, liked=liked))
            matched = self._decided(viewer, candidate, now, liked=liked)
            self._cards.append((number, viewer, candidate, liked, matched, card.propensity))
        self.tastes[viewer] = self.fold.step(taste, _event(viewer, now, SESSION_ENDED))
        self.states[viewer] = self.tastes[viewer].state
        self.exposure.shown(shown, now)
        self.index.prefer({viewer: self.states[viewer]})
        self.index.set_appeal({candidate: self.appeal.of(candidate, None, now) for candidate in shown})

    def log(self) -> Log:
        columns = zip(*self._cards, strict=True) if self._cards else [()] * 6
        kinds = np.int32, np.int32, np.int32, np.bool_, np.bool_, np.float64
        return Log(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))

    def _dealing(self, policy: Policy) -> Recommender:
        """One index deals for all policies."""
        if policy not in self._recommenders:
            self._recommenders[policy] = Recommender(
                index=self.index,
                states=lambda ids: [self.states[one] for one in ids],
                policy=policy,
                fusion=self.shared.fusion,
                private_order=True,
            )
        return self._recommenders[policy]

    def _swiped(self, viewer: int, candidate: int, at: datetime, *, liked: bool) -> Event:
        appeal = self.appeal.of(candidate, viewer, at)
        return _event(viewer, at, SWIPED, decision=LIKE if liked else PASS, features=self.features[candidate], appeal=appeal)

    def _decided(self, viewer: int, candidate: int, at: datetime, *, liked: bool) -> bool:
        """Whether the decision made a match."""
        self.met[viewer][candidate] = at
        self.appeal.swiped(viewer, candidate, 1 if liked else -1, at)
        if not liked:
            return False
        self.admirers[candidate].add(viewer)
        matched = candidate in self.admirers[viewer] and candidate not in self.matches[viewer]
        if matched:
            self.matches[viewer].add(candidate)
            self.matches[candidate].add(viewer)
        return matched


def _event(viewer: int, at: datetime, kind: str, **more: Any) -> Event:
    return Event(user=str(viewer), id="", kind=kind, at=at, vocabulary=1, model=1, **more)
