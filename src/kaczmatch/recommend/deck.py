"""A deck: filter, cool down, score both ways, draw, order; every card with its probability and its reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, whole
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.both_ways import Viewer, usual_fusion
from kaczmatch.recommend.cooldown import COOLDOWN
from kaczmatch.recommend.dealing import Hand, Part, deal
from kaczmatch.recommend.eligible import Eligible
from kaczmatch.recommend.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.view import Numbers
from kaczmatch.recommend.policy import Decision, Experience, MutualPolicy, Policy
from kaczmatch.recommend.profile import OLDEST
from kaczmatch.recommend.samplers.contract import Pool, Reach, TwoStageSampler, in_order
from kaczmatch.recommend.scoring import fusion

_NOBODY: Numbers = np.empty(0, np.int32)


class Reason(StrEnum):
    """How somebody came into a deck."""

    SAMPLED = "sampled"  # chosen by the sampler
    EXPLORED = "explored"  # drawn uniformly, so that everybody is seen by somebody
    RELAXED = "relaxed"  # met within the cooldown, and nobody else was left


@final
@dataclass(frozen=True, slots=True)
class Card:
    """Somebody to show. `chance` is the probability they had of being in this deck; `score` is for operators, not for users:
    whoever sees a both-way score can read other people's taste off it."""

    id: Hashable
    reason: Reason
    why: str
    chance: float
    score: float = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class Opening:
    """How many people could be shown if the viewer's own side of a filter were opened."""

    filter: str
    people: int


@final
@dataclass(frozen=True, slots=True)
class Deck:
    """Cards in the order to show them. `eligible` people could have been shown. Where there is nobody, `empty` says why, and
    `openings` what to widen, the most helpful first."""

    cards: tuple[Card, ...]
    decision: Decision
    eligible: int
    empty: str = ""
    openings: tuple[Opening, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recommender:
    """Makes decks from an index, a policy and everybody's states, which `states` looks up by identifier.

    `states` is called while the index is read: it must not change the index.
    """

    index: CandidateIndex
    states: Callable[[Sequence[Hashable]], Sequence[State]]
    policy: Policy = field(default_factory=MutualPolicy)
    fusion: str = ""  # the usual one of the learner where none is named
    cooldown: timedelta = COOLDOWN

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", self.fusion or usual_fusion(self.index.learner))
        fusion(self.fusion)

    def deck(
        self,
        viewer: Viewer,
        size: int,
        *,
        now: datetime,
        rng: np.random.Generator,
        blocked: Collection[Hashable] = (),
        recent: Mapping[Hashable, datetime] | None = None,
        admirers: Collection[Hashable] = (),
        experience: Experience = Experience(),  # noqa: B008
        exposure: Exposure | None = None,
    ) -> Deck:
        """Up to `size` people for `viewer`.

        `blocked` are never shown: who blocked or was blocked by the viewer, matched, was reported. `recent` says when the
        viewer last met somebody, `admirers` who has liked the viewer.
        """
        whole("size", size, low=1, high=10_000)
        if viewer.learner != self.index.learner:
            raise InvalidInput("viewer", f"learns by {viewer.learner}, the index by {self.index.learner}")
        decision = self.policy.decide(experience)
        with self.index.reading() as view:
            who = Eligible.of(view, viewer.profile, now, blocked, recent or {}, self.cooldown)
            table = _Table(self, viewer, decision, who, exposure.over(len(view), now) if exposure and decision.capped else ())
            hand, relaxed, eligible = table.hand(size, admirers, rng)
            numbers = np.concatenate([hand.numbers, relaxed])
            if not len(numbers):
                return Deck((), decision, 0, *table.excuse())
            ids, scores = view.ids(numbers), table.pool(numbers).score
            explored = np.isin(numbers, hand.explored)
            chances = np.concatenate([hand.chances, np.ones(len(relaxed))])
        cards = [
            _card(ids[i], decision, float(chances[i]), float(scores[i]), bool(explored[i]), i >= len(hand.numbers))
            for i in in_order(scores, rng).tolist()
        ]
        return Deck(tuple(cards), decision, eligible)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One deck in the making."""

    recommender: Recommender
    viewer: Viewer
    decision: Decision
    who: Eligible
    over: Collection[Hashable]

    def hand(self, size: int, admirers: Collection[Hashable], rng: np.random.Generator) -> tuple[Hand, Numbers, int]:
        """Who is dealt, who comes by relaxing the cooldown, and how many could have been dealt."""
        who, sampler = self.who, self.decision.sampler
        liked = who.of_these(admirers) if self.decision.admirers else _NOBODY
        if sampler.reach is Reach.EVERYBODY:
            main = who.everybody()
            eligible = len(main)
        else:
            ranked_by = "forward" if sampler.reach is Reach.LIKED else self.recommender.fusion
            want = max(sampler.shortlist, 4 * size, size + len(liked))
            main, found = who.search(self.recommender.index.lens(self.viewer, ranked_by), want, rng)
            eligible = who.count(found)
        if eligible <= size:
            return Hand(main, np.ones(len(main)), _NOBODY), who.cooled[: size - eligible], eligible
        if isinstance(sampler, TwoStageSampler):
            main, entry = _first_stage(main, liked, sampler.some(size), rng)
        else:
            entry = np.ones(len(main))

        def at_random(count: int, without: Numbers) -> Numbers:
            if sampler.reach is not Reach.EVERYBODY:
                return who.at_random(found, count, without, rng)
            return np.asarray(rng.choice(main[~np.isin(main, without)], count, replace=False), np.int32)

        uniformly = len(main) if sampler.reach is Reach.EVERYBODY else eligible
        parts = Part(main, self.pool(main), entry), Part(liked, self.pool(liked), np.ones(len(liked)))
        return deal(self.decision, size, uniformly, *parts, at_random, rng), _NOBODY, eligible

    def pool(self, numbers: Numbers) -> Pool:
        view = self.who.view
        return Pool(
            self.viewer,
            fusion(self.recommender.fusion),
            squared_norms=view.squared_norms(numbers),
            features=lambda: (view.features(numbers), view.appeal(numbers)),
            states=lambda: self.recommender.states(view.ids(numbers)),
            capped=np.isin(numbers, view.numbers(self.over)),
        )

    def excuse(self) -> tuple[str, tuple[Opening, ...]]:
        """Why nobody can be shown, and what each of the viewer's own filters costs; all of them together if none alone helps."""
        profile = self.who.profile
        if not profile.old_enough(self.who.day):
            return f"one must be {profile.schema.minimum_age} to take part", ()
        wider: dict[str, dict[str, Any]] = {
            "looks for": {"i_look_for": frozenset(profile.schema.kinds)},
            "age": {"ages": (0, OLDEST)},
            "distance": {"within_km": math.inf},
        }
        single = [Opening(name, self._with(change)) for name, change in wider.items()]
        helpful = sorted((one for one in single if one.people), key=lambda one: -one.people)
        if helpful:
            return f"nobody passes the filters; widening {helpful[0].filter!r} would help most", tuple(helpful)
        together = self._with({name: value for change in wider.values() for name, value in change.items()})
        if together:
            return "nobody passes the filters; only widening several of them would help", (Opening("several", together),)
        return "nobody who is here now looks for somebody like you", ()

    def _with(self, change: dict[str, Any]) -> int:
        """How many there would be with another profile."""
        return len(replace(self.who, profile=replace(self.who.profile, **change)).everybody())


def _first_stage(everybody: Numbers, liked: Numbers, some: int, rng: np.random.Generator) -> tuple[Numbers, Vector]:
    """Those who liked the viewer, and some of the others, each alike; with the probability of each to be here."""
    others = everybody[~np.isin(everybody, liked)]
    if some >= len(others):
        return everybody, np.ones(len(everybody))
    drawn = rng.choice(others, some, replace=False, shuffle=False)
    return np.concatenate([liked, drawn]), np.append(np.ones(len(liked)), np.full(some, some / len(others)))


def _card(identifier: Hashable, decision: Decision, chance: float, score: float, explored: bool, relaxed: bool) -> Card:
    if relaxed:
        return Card(identifier, Reason.RELAXED, "met before, the longest ago first: nobody new is left", chance, score)
    if explored:
        return Card(identifier, Reason.EXPLORED, "drawn at random, so that everybody is seen by somebody", chance, score)
    return Card(identifier, Reason.SAMPLED, decision.sampler.why, chance, score)
