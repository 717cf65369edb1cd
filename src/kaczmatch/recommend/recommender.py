"""A deck: filter, cool down, score both ways, draw, order; every card with its probability and its reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput, whole
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.cooldown import COOLDOWN
from kaczmatch.recommend.dealing import Deal, WeightedPool, deal, most_explored
from kaczmatch.recommend.deck import Card, Deck, Reason, SimulatedDeck
from kaczmatch.recommend.eligible import Eligible
from kaczmatch.recommend.empty_deck import explain_empty
from kaczmatch.recommend.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.membership import NO_BITS, Bits, Numbers, all_marked, among, places
from kaczmatch.recommend.index.view import CandidateRows, IndexView
from kaczmatch.recommend.policy import DeckPlan, Experience, MutualPolicy, Policy
from kaczmatch.recommend.samplers.contract import BeliefSampler, Pool, Reach, TwoStageSampler, in_order
from kaczmatch.recommend.scoring import fusion
from kaczmatch.recommend.viewer import Viewer, usual_fusion

_NOBODY: Numbers = np.empty(0, np.int32)


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
        object.__setattr__(self, "fusion", self.fusion or usual_fusion(self.index.learner))
        fusion(self.fusion)
        self._decided(Experience())
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
        decision = self._decided(experience)
        with self.index.reading() as view:
            who = Eligible.of(view, viewer.profile, now, blocked, recent or {}, self.cooldown)
            table = _DeckInProgress(self, viewer, decision, size, self._over(view, decision, exposure, now))
            table.lay(who, admirers, rng)
            if not table.eligible and not len(who.cooled):
                return Deck((), self.policy.slug, decision, 0, *explain_empty(who))
        # The index has been let go: nobody who wants to change it waits for the states to be looked up.
        shown, hand = table.dealt(rng)
        scores, own = table.scores(shown)
        explored, chances = (
            among(shown.numbers, hand.explored).tolist(),
            [*hand.propensities.tolist(), *[1.0] * len(table.cooled)],
        )
        listed, dealt = scores.tolist(), len(hand.numbers)
        cards = [
            _card(shown.ids[i], decision, chances[i], listed[i], explored[i], i >= dealt)
            for i in in_order(own if self.private_order else scores, rng).tolist()
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
        decision = self._decided(experience)
        with self.index.reading() as view:
            who = Eligible.of(view, viewer.profile, now, blocked, recent or {}, self.cooldown)
            table = _DeckInProgress(self, viewer, decision, size, self._over(view, decision, exposure, now))
            table.lay(who, admirers, rng)
            known = view.people(who.of_these(asked))
        shown, hand = table.dealt(rng)
        chances = dict(zip(known.ids, hand.propensity_of(known.numbers).tolist(), strict=True)) | dict.fromkeys(
            table.cooled.ids, 1.0
        )
        known = known.joined(table.cooled)
        likes = dict(zip(known.ids, viewer.forward(known.features, known.appeal).tolist(), strict=True)) if len(known) else {}
        return SimulatedDeck(
            tuple(shown.ids),
            viewer.forward(shown.features, shown.appeal) if len(shown) else np.empty(0),
            np.array([chances.get(one, 0.0) for one in asked]),
            np.array([likes.get(one, 0.0) for one in asked]),
        )

    def _over(self, view: IndexView, decision: DeckPlan, exposure: Exposure | None, now: datetime) -> Bits:
        """Who comes last, since they have had their share of exposure."""
        return view.over(exposure, now) if exposure is not None and decision.capped else NO_BITS

    def _decided(self, experience: Experience) -> DeckPlan:
        decision = self.policy.plan(experience)
        if isinstance(decision.sampler, BeliefSampler):
            decision.sampler.belief(self.index.learner)
        return decision

    def _check(self, viewer: Viewer, size: int, blocked: Collection[Hashable], admirers: Collection[Hashable]) -> None:
        whole("size", size, low=1, high=10_000)
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
    liked: CandidateRows
    spare: CandidateRows  # drawn uniformly from all who are eligible
    cooled: CandidateRows  # who comes by relaxing the cooldown
    entry: Vector  # the probability with which each of `main` came to lie here
    eligible: int

    def __init__(self, recommender: Recommender, viewer: Viewer, decision: DeckPlan, size: int, over: Bits) -> None:
        self.recommender, self.viewer, self.decision, self.size, self.over = recommender, viewer, decision, size, over
        self._hand: Deal | None = None
        self._pool: Pool | None = None
        self._states: dict[Hashable, State] = {}

    def lay(self, who: Eligible, admirers: Collection[Hashable], rng: np.random.Generator) -> None:
        """Read from the index all that the deck can need."""
        view, sampler, size = who.view, self.decision.sampler, self.size
        liked = who.of_these(admirers) if self.decision.admirers else _NOBODY
        spare, everybody = _NOBODY, sampler.reach is Reach.EVERYBODY
        if everybody:
            main = who.everybody()
            self.eligible = len(main)
        else:
            ranked_by = "forward" if sampler.reach is Reach.LIKED else self.recommender.fusion
            lens = self.recommender.index.lens(self.viewer, ranked_by)
            main, found = who.search(lens, max(sampler.shortlist, 4 * size, size + len(liked)), self.over, rng)
            self.eligible = who.count(found)
            if self.decision.floor and self.eligible > size:
                spare = who.at_random(found, most_explored(self.decision, size) + size, rng)
        self.entry = np.ones(len(main))
        if self.eligible > size and isinstance(sampler, TwoStageSampler):
            main, self.entry = _first_stage(main, liked, sampler.some(size), rng)
            spare = rng.permutation(main)
        elif self.eligible > size and everybody:  # such a sampler asks for nothing but norms: deal at once
            pools = [self._of_norms(some, view.squared_norms(some)) for some in (main, liked)]
            parts = WeightedPool(main, pools[0], self.entry), WeightedPool(liked, pools[1], np.ones(len(liked)))
            self._hand = deal(self.decision, size, self.eligible, *parts, rng.permutation(main), rng)
            main, liked = self._hand.numbers, _NOBODY
        cooled = who.cooled[: max(size - self.eligible, 0)]
        self.main, self.liked, self.spare, self.cooled = (view.people(some) for some in (main, liked, spare, cooled))

    def dealt(self, rng: np.random.Generator) -> tuple[CandidateRows, Deal]:
        """The people of the deck, whoever comes by relaxing the cooldown last; and the others' probabilities."""
        if self.eligible <= self.size:
            certain = Deal(self.main.numbers, np.ones(len(self.main)), _NOBODY, 1.0, lambda asked: np.ones(len(asked)))
            return self.main.joined(self.cooled), certain
        hand = self._hand
        if hand is None:
            self._pool = self.pool(self.main)
            main = WeightedPool(self.main.numbers, self._pool, self.entry)
            liked = WeightedPool(self.liked.numbers, self.pool(self.liked), np.ones(len(self.liked)))
            uniformly = len(self.main) if isinstance(self.decision.sampler, TwoStageSampler) else self.eligible
            hand = deal(self.decision, self.size, uniformly, main, liked, self.spare.numbers, rng)
        laid = self.main.joined(self.liked, self.spare)
        return laid.taken(places(laid.numbers, hand.numbers)), hand

    def scores(self, shown: CandidateRows) -> tuple[Vector, Vector]:
        """Both-way scores and the viewer's side of them, those of the pool where it was scored both ways anyway."""
        if self._pool is not None and self.decision.sampler.reach is Reach.BEST:
            rows = places(self.main.numbers, shown.numbers)
            if rows.min(initial=0) >= 0:
                return self._pool.sides(rows)
        pool = self.pool(shown)
        return pool.score, pool.forward

    def pool(self, people: CandidateRows) -> Pool:
        return Pool(
            self.viewer,
            fusion(self.recommender.fusion),
            squared_norms=people.squared_norms,
            features=lambda: (people.features, people.appeal),
            states=lambda: self._known(people.ids),
            capped=all_marked(self.over, people.numbers),
        )

    def _of_norms(self, numbers: Numbers, squared_norms: Vector) -> Pool:
        """A pool of so many people that nothing else is read of them."""
        nobody = CandidateRows(numbers, [], squared_norms, np.empty((0, 0)), np.empty(0))
        return self.pool(nobody)

    def _known(self, ids: list[Hashable]) -> list[State]:
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


def _first_stage(everybody: Numbers, liked: Numbers, some: int, rng: np.random.Generator) -> tuple[Numbers, Vector]:
    """Those who liked the viewer, and some of the others, each alike; with the probability of each to be here."""
    others = everybody[~among(everybody, liked)]
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
