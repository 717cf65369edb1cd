"""A deck: filter, cool down, score both ways, draw, order; every card with its probability and its reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.dealing import Deal, WeightedPool, deal, max_uniform_cards
from kaczmatch.recommend.decks.deck import Card, Deck, Reason, SimulatedDeck
from kaczmatch.recommend.decks.eligible import COOLDOWN, EligiblePeople
from kaczmatch.recommend.decks.empty_deck import explain_empty
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.policy import DeckPlan, Experience, MutualPolicy, Policy
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.membership import NO_BITS, Bits, PersonNumbers, bits_at, is_in, positions_in
from kaczmatch.recommend.index.view import CandidateRows, IndexView
from kaczmatch.recommend.samplers.contract import BeliefSampler, Pool, Retrieval, TwoStageSampler, descending
from kaczmatch.recommend.scoring import Viewer, default_fusion, fusion

_NOBODY: PersonNumbers = np.empty(0, np.int32)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recommender:
    """Makes decks from an index, a policy and everybody's states, which `states` looks up by identifier.

    With `discreet`, the order of a deck is the viewer's side alone: an order by both sides would let a viewer who changes tags
    again and again work out what others like.
    """

    index: CandidateIndex
    states: Callable[[Sequence[Hashable]], Sequence[State]]
    policy: Policy = field(default_factory=MutualPolicy)
    fusion: str = ""  # the usual one of the learner where none is named
    cooldown: timedelta = COOLDOWN
    private_order: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", self.fusion or default_fusion(self.index.learner))
        fusion(self.fusion)
        self._plan(Experience())
        if not isinstance(self.cooldown, timedelta) or self.cooldown < timedelta(0):
            raise InvalidInput("cooldown", f"must be a timedelta of at least 0, got {self.cooldown!r}")

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
        self._check(viewer, size, blocked, admirers)
        decision = self._plan(experience)
        with self.index.reading() as view:
            who = EligiblePeople.of(view, viewer.profile, now, blocked, recent or {}, self.cooldown)
            table = _DeckInProgress(self, viewer, decision, size, self._over_cap(view, decision, exposure, now))
            table.read_candidates(who, admirers, rng)
            if not table.eligible and not len(who.in_cooldown):
                return Deck((), self.policy.slug, decision, 0, *explain_empty(who))
        # The index has been let go: nobody who wants to change it waits for the states to be looked up.
        shown, hand = table.deal(rng)
        scores, own = table.scores(shown)
        explored, chances = (
            is_in(shown.numbers, hand.uniform).tolist(),
            [*hand.propensities.tolist(), *[1.0] * len(table.in_cooldown)],
        )
        listed, dealt = scores.tolist(), len(hand.numbers)
        cards = [
            _card(shown.ids[i], decision, chances[i], listed[i], explored[i], i >= dealt)
            for i in descending(own if self.private_order else scores, rng).tolist()
        ]
        return Deck(tuple(cards), self.policy.slug, decision, table.eligible, min_propensity=hand.min_propensity)

    def simulate(
        self,
        viewer: Viewer,
        size: int,
        asked: Sequence[Hashable],
        *,
        now: datetime,
        rng: np.random.Generator,
        blocked: Collection[Hashable] = (),
        recent: Mapping[Hashable, datetime] | None = None,
        admirers: Collection[Hashable] = (),
        experience: Experience = Experience(),  # noqa: B008
        exposure: Exposure | None = None,
    ) -> SimulatedDeck:
        """A deck that `deck` could deal, and how likely some people, dealt or not, were to be in it.

        The mean of those probabilities over several calls is that of the policy: what chance decides is drawn anew each time.
        """
        self._check(viewer, size, blocked, admirers)
        decision = self._plan(experience)
        with self.index.reading() as view:
            who = EligiblePeople.of(view, viewer.profile, now, blocked, recent or {}, self.cooldown)
            table = _DeckInProgress(self, viewer, decision, size, self._over_cap(view, decision, exposure, now))
            table.read_candidates(who, admirers, rng)
            known = view.candidate_rows(who.eligible_among(asked))
        shown, hand = table.deal(rng)
        chances = dict(zip(known.ids, hand.propensity_of(known.numbers).tolist(), strict=True)) | dict.fromkeys(
            table.in_cooldown.ids, 1.0
        )
        known = known.concatenate(table.in_cooldown)
        likes = dict(zip(known.ids, viewer.forward(known.features, known.appeal).tolist(), strict=True)) if len(known) else {}
        return SimulatedDeck(
            tuple(shown.ids),
            viewer.forward(shown.features, shown.appeal) if len(shown) else np.empty(0),
            np.array([chances.get(one, 0.0) for one in asked]),
            np.array([likes.get(one, 0.0) for one in asked]),
        )

    def _over_cap(self, view: IndexView, decision: DeckPlan, exposure: Exposure | None, now: datetime) -> Bits:
        """Who comes last, since they have had their share of exposure."""
        return exposure.over_cap_bits(view.ids_and_numbers, now) if exposure is not None and decision.exposure_capped else NO_BITS

    def _plan(self, experience: Experience) -> DeckPlan:
        decision = self.policy.plan(experience)
        if isinstance(decision.sampler, BeliefSampler):
            decision.sampler.require_belief(self.index.learner)
        return decision

    def _check(self, viewer: Viewer, size: int, blocked: Collection[Hashable], admirers: Collection[Hashable]) -> None:
        check_integer("size", size, low=1, high=10_000)
        if viewer.learner != self.index.learner:
            raise InvalidInput("viewer", f"learns by {viewer.learner}, the index by {self.index.learner}")
        known, names = viewer.state.dimensions, self.index.vocabulary.dimensions
        if known != names:
            raise InvalidInput("viewer", f"knows {known} names, the index {names}; grow profile and state")
        for name, ids in (("blocked", blocked), ("admirers", admirers)):
            if isinstance(ids, str):
                raise InvalidInput(name, f"must be a collection of identifiers, got the text {ids!r}")


@final
class _DeckInProgress:
    """One deck in the making: who could be dealt is laid out from the index, then dealt from without it."""

    main: CandidateRows
    admirers: CandidateRows
    uniform: CandidateRows  # drawn uniformly from all who are eligible
    in_cooldown: CandidateRows  # who comes by relaxing the cooldown
    entry_probability: Vector  # the probability with which each of `main` came to lie here
    eligible: int

    def __init__(self, recommender: Recommender, viewer: Viewer, decision: DeckPlan, size: int, over: Bits) -> None:
        self.recommender, self.viewer, self.plan, self.size, self.over_cap = recommender, viewer, decision, size, over
        self._deal: Deal | None = None
        self._pool: Pool | None = None
        self._states: dict[Hashable, State] = {}

    def read_candidates(self, who: EligiblePeople, admirers: Collection[Hashable], rng: np.random.Generator) -> None:
        """Read from the index all that the deck can need."""
        view, sampler, size = who.view, self.plan.sampler, self.size
        liked = who.eligible_among(admirers) if self.plan.admirer_quota else _NOBODY
        spare, everybody = _NOBODY, sampler.retrieval is Retrieval.EVERYBODY
        if everybody:
            main = who.everybody()
            self.eligible = len(main)
        else:
            ranked_by = "forward" if sampler.retrieval is Retrieval.BEST_FORWARD else self.recommender.fusion
            lens = self.recommender.index.viewer_weights(self.viewer, ranked_by)
            main, found = who.search(lens, max(sampler.shortlist, 4 * size, size + len(liked)), self.over_cap, rng)
            self.eligible = who.count(found)
            if self.plan.uniform_floor and self.eligible > size:
                spare = who.uniform_sample(found, max_uniform_cards(self.plan, size) + size, rng)
        self.entry_probability = np.ones(len(main))
        if self.eligible > size and isinstance(sampler, TwoStageSampler):
            main, self.entry_probability = _first_stage(main, liked, sampler.first_stage_size(size), rng)
            spare = rng.permutation(main)
        elif self.eligible > size and everybody:  # such a sampler asks for nothing but norms: deal at once
            pools = [self._pool_of_norms(some, view.squared_norms(some)) for some in (main, liked)]
            parts = WeightedPool(main, pools[0], self.entry_probability), WeightedPool(liked, pools[1], np.ones(len(liked)))
            self._deal = deal(self.plan, size, self.eligible, *parts, rng.permutation(main), rng)
            main, liked = self._deal.numbers, _NOBODY
        cooled = who.in_cooldown[: max(size - self.eligible, 0)]
        self.main, self.admirers, self.uniform, self.in_cooldown = (
            view.candidate_rows(some) for some in (main, liked, spare, cooled)
        )

    def deal(self, rng: np.random.Generator) -> tuple[CandidateRows, Deal]:
        """The people of the deck, whoever comes by relaxing the cooldown last; and the others' probabilities."""
        if self.eligible <= self.size:
            certain = Deal(self.main.numbers, np.ones(len(self.main)), _NOBODY, 1.0, lambda asked: np.ones(len(asked)))
            return self.main.concatenate(self.in_cooldown), certain
        hand = self._deal
        if hand is None:
            self._pool = self.pool(self.main)
            main = WeightedPool(self.main.numbers, self._pool, self.entry_probability)
            liked = WeightedPool(self.admirers.numbers, self.pool(self.admirers), np.ones(len(self.admirers)))
            uniformly = len(self.main) if isinstance(self.plan.sampler, TwoStageSampler) else self.eligible
            hand = deal(self.plan, self.size, uniformly, main, liked, self.uniform.numbers, rng)
        laid = self.main.concatenate(self.admirers, self.uniform)
        return laid.take(positions_in(laid.numbers, hand.numbers)), hand

    def scores(self, shown: CandidateRows) -> tuple[Vector, Vector]:
        """Both-way scores and the viewer's side of them, those of the pool where it was scored both ways anyway."""
        if self._pool is not None and self.plan.sampler.retrieval is Retrieval.BEST_MUTUAL:
            rows = positions_in(self.main.numbers, shown.numbers)
            if rows.min(initial=0) >= 0:
                return self._pool.mutual_and_forward(rows)
        pool = self.pool(shown)
        return pool.mutual, pool.forward

    def pool(self, people: CandidateRows) -> Pool:
        return Pool(
            self.viewer,
            fusion(self.recommender.fusion),
            squared_norms=people.squared_norms,
            features=lambda: (people.features, people.appeal),
            states=lambda: self._states_of(people.ids),
            capped=bits_at(self.over_cap, people.numbers),
        )

    def _pool_of_norms(self, numbers: PersonNumbers, squared_norms: Vector) -> Pool:
        """A pool of so many people that nothing else is read of them."""
        nobody = CandidateRows(numbers, [], squared_norms, np.empty((0, 0)), np.empty(0))
        return self.pool(nobody)

    def _states_of(self, ids: list[Hashable]) -> list[State]:
        """The states of some people, each looked up once."""
        new = [identifier for identifier in ids if identifier not in self._states] if self._states else ids
        if new:
            found = self.recommender.states(new)
            if len(found) != len(new):
                raise InvalidInput("states", f"{len(found)} were found for {len(new)} identifiers; there must be one each")
            self._states.update(zip(new, found, strict=True))
            if new is ids:
                return list(found)
        return [self._states[identifier] for identifier in ids]


def _first_stage(
    everybody: PersonNumbers, liked: PersonNumbers, some: int, rng: np.random.Generator
) -> tuple[PersonNumbers, Vector]:
    """Those who liked the viewer, and some of the others, each alike; with the probability of each to be here."""
    others = everybody[~is_in(everybody, liked)]
    if some >= len(others):
        return everybody, np.ones(len(everybody))
    drawn = rng.choice(others, some, replace=False, shuffle=False)
    return np.concatenate([liked, drawn]), np.append(np.ones(len(liked)), np.full(some, some / len(others)))


def _card(identifier: Hashable, decision: DeckPlan, chance: float, score: float, explored: bool, relaxed: bool) -> Card:
    if relaxed:
        return Card(identifier, Reason.RELAXED, "met before, the longest ago first: nobody new is left", chance, score)
    if explored:
        return Card(identifier, Reason.EXPLORED, "drawn at random, so that everybody is seen by somebody", chance, score)
    return Card(identifier, Reason.SAMPLED, decision.sampler.why, chance, score)
