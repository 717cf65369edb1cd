"""The recommender: filters, scores, draws and orders a deck. Every card has its propensity and its reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.state import State, StateRows
from kaczmatch.recommend.decks.dealing import Deal, WeightedPool, deal, first_stage, max_uniform_cards
from kaczmatch.recommend.decks.deck import Card, Deck, Reason, SimulatedDeck
from kaczmatch.recommend.decks.eligible import COOLDOWN, Answers, EligiblePeople
from kaczmatch.recommend.decks.empty_deck import explain_empty
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.policy import DeckPlan, Experience, MutualPolicy, Policy
from kaczmatch.recommend.decks.state_columns import StatesByNumber
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.membership import NO_BITS, Bits, PersonNumbers, bits_at, is_in, positions_in
from kaczmatch.recommend.index.view import CandidateRows, IndexView
from kaczmatch.recommend.samplers.contract import BeliefSampler, Pool, Retrieval, RowIndices, TwoStageSampler, descending
from kaczmatch.recommend.scoring import Viewer, default_fusion, fusion

_NOBODY: PersonNumbers = np.empty(0, np.int32)
_AGAIN: Final = "met before, the longest ago first: nobody new is left"
_EXPLORED: Final = "drawn at random, so that everybody is seen by somebody"


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recommender:
    """Makes decks from an index, a policy and everybody's states, which `states` looks up by identifier.

    With `repeats`, people passed before the cooldown come again when nobody new is left, the longest ago first.

    With `private_order`, a deck is ordered by the viewer's side alone. An order by both sides would let a viewer who changes
    tags again and again work out what others like.
    """

    index: CandidateIndex
    states: Callable[[Sequence[Hashable]], Sequence[State]]
    policy: Policy = field(default_factory=MutualPolicy)
    fusion: str = ""  # the learner's default where none is given
    cooldown: timedelta = COOLDOWN
    repeats: bool = False
    private_order: bool = True

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
        answers: Answers = Answers(),  # noqa: B008
        admirers: Collection[Hashable] = (),
        experience: Experience = Experience(),  # noqa: B008
        exposure: Exposure | None = None,
    ) -> Deck:
        """Up to `size` people for `viewer`.

        `blocked` people are never shown: those who blocked the viewer or were blocked, matched or reported. `admirers` have liked
        the viewer. As long as somebody is left whom the viewer has not answered, nobody else is shown, even if the deck is short.
        """
        self._check(viewer, size, blocked, admirers)
        plan = self._plan(experience)
        with ExitStack() as reading:
            view = reading.enter_context(self.index.reading())
            self._check_terms(viewer)
            eligible = EligiblePeople.of(view, viewer.profile, now, blocked, answers, self.cooldown)
            draft = _DeckInProgress(self, viewer, plan, size, self._over_cap(view, plan, exposure, now))
            draft.read_candidates(eligible, admirers, rng)
            if not draft.eligible and not len(draft.again):
                next_at = eligible.next_at(self.cooldown, repeats=self.repeats)
                code, why, hints = explain_empty(eligible)
                return Deck((), self.policy.slug, plan, 0, why, hints, next_at=next_at, empty_code=code)
            if draft.look_up_ids():
                reading.close()
            shown, dealt = draft.deal(rng)
            scores, own = draft.scores(shown)
            ids = draft.ids(shown)
        uniform = is_in(dealt.numbers, dealt.uniform).tolist()
        sampled, explored = (Reason.SAMPLED, plan.sampler.why), (Reason.EXPLORED, _EXPLORED)
        how = [explored if by_chance else sampled for by_chance in uniform] + [(again, _AGAIN) for again in draft.again_reasons]
        propensities, mutual = [*dealt.propensities.tolist(), *[1.0] * len(draft.again)], scores.tolist()
        cards = [
            Card(ids[i], how[i][0], how[i][1], propensities[i], mutual[i])
            for i in descending(own if self.private_order else scores, rng).tolist()
        ]
        traits = dict(zip(ids, shown.others, strict=True)) if isinstance(self.index.learner, ProbitTraits) else {}
        return Deck(tuple(cards), self.policy.slug, plan, draft.eligible, min_propensity=dealt.min_propensity, traits=traits)

    def simulate(
        self,
        viewer: Viewer,
        size: int,
        asked: Sequence[Hashable],
        *,
        now: datetime,
        rng: np.random.Generator,
        blocked: Collection[Hashable] = (),
        answers: Answers = Answers(),  # noqa: B008
        admirers: Collection[Hashable] = (),
        experience: Experience = Experience(),  # noqa: B008
        exposure: Exposure | None = None,
    ) -> SimulatedDeck:
        """A deck that `deck` could deal, and the propensities of the people in `asked`, dealt or not.

        Each call draws anew. The mean of the propensities over several calls is the propensity under the policy.
        """
        self._check(viewer, size, blocked, admirers)
        plan = self._plan(experience)
        with ExitStack() as reading:
            view = reading.enter_context(self.index.reading())
            self._check_terms(viewer)
            eligible = EligiblePeople.of(view, viewer.profile, now, blocked, answers, self.cooldown)
            draft = _DeckInProgress(self, viewer, plan, size, self._over_cap(view, plan, exposure, now))
            draft.read_candidates(eligible, admirers, rng)
            known = view.candidate_rows(eligible.eligible_among(asked))
            if draft.look_up_ids(known):
                reading.close()
            shown, dealt = draft.deal(rng)
            ids, again, among = (draft.ids(rows) for rows in (shown, draft.again, known))
        propensities = dict(zip(among, dealt.propensity_of(known.numbers).tolist(), strict=True)) | dict.fromkeys(again, 1.0)
        known = known.concatenate(draft.again)
        scores = viewer.forward(known.features, known.others).tolist() if len(known) else []
        forward = dict(zip([*among, *again], scores, strict=True))
        return SimulatedDeck(
            tuple(ids),
            viewer.forward(shown.features, shown.others) if len(shown) else np.empty(0),
            np.array([propensities.get(person, 0.0) for person in asked]),
            np.array([forward.get(person, 0.0) for person in asked]),
        )

    def _over_cap(self, view: IndexView, plan: DeckPlan, exposure: Exposure | None, now: datetime) -> Bits:
        """Who is over the exposure cap and therefore comes last."""
        return exposure.over_cap_bits(view.ids_and_numbers, now) if exposure is not None and plan.exposure_capped else NO_BITS

    def _plan(self, experience: Experience) -> DeckPlan:
        plan = self.policy.plan(experience)
        if isinstance(plan.sampler, BeliefSampler):
            plan.sampler.require_belief(self.index.learner)
        return plan

    def _check(self, viewer: Viewer, size: int, blocked: Collection[Hashable], admirers: Collection[Hashable]) -> None:
        check_integer("size", size, low=1, high=10_000)
        if viewer.learner != self.index.learner:
            raise InvalidInput("viewer", f"learns by {viewer.learner}, the index by {self.index.learner}")
        for name, ids in (("blocked", blocked), ("admirers", admirers)):
            if isinstance(ids, str):
                raise InvalidInput(name, f"must be a collection of identifiers, got the text {ids!r}")

    def _check_terms(self, viewer: Viewer) -> None:
        known, terms = viewer.state.dimensions, self.index.vocabulary.dimensions
        if known != terms:
            raise InvalidInput("viewer", f"has a state over {known} terms, the index has {terms}; grow profile and state")


@final
class _DeckInProgress:
    """One deck in the making: first candidates are read from the index, then the deck is dealt without it."""

    people: CandidateRows  # all of these:
    main: CandidateRows
    admirers: CandidateRows
    uniform: CandidateRows  # drawn uniformly from all eligible people
    again: CandidateRows  # shown although the viewer has met them
    again_reasons: list[Reason]  # of each of them
    entry_probability: Vector  # the probability with which each of `main` entered
    eligible: int

    def __init__(self, recommender: Recommender, viewer: Viewer, plan: DeckPlan, size: int, over: Bits) -> None:
        self.recommender, self.viewer, self.plan, self.size, self.over_cap = recommender, viewer, plan, size, over
        self._deal: Deal | None = None
        self._pool: Pool | None = None
        self._rows: RowIndices  # of `people`: who is shown
        self._ids: dict[int, Hashable] | None = None  # of all who were read, where states are looked up by them

    def read_candidates(self, eligible: EligiblePeople, admirers: Collection[Hashable], rng: np.random.Generator) -> None:
        """Read from the index all rows that the deck can need."""
        view, sampler, size = eligible.view, self.plan.sampler, self.size
        admiring = eligible.eligible_among(admirers) if self.plan.admirer_quota and admirers else _NOBODY
        uniform, everybody = _NOBODY, sampler.retrieval is Retrieval.EVERYBODY
        if everybody:
            main = eligible.everybody()
            self.eligible = len(main)
        else:
            ranked_by = "forward" if sampler.retrieval is Retrieval.BEST_FORWARD else self.recommender.fusion
            weights = self.recommender.index.viewer_weights(self.viewer, ranked_by)
            main, found = eligible.search(weights, max(sampler.shortlist, 4 * size, size + len(admiring)), self.over_cap, rng)
            self.eligible = eligible.count(found)
            if self.plan.uniform_floor and self.eligible > size:
                uniform = eligible.uniform_sample(found, max_uniform_cards(self.plan, size) + size, rng)
        self.entry_probability = np.ones(len(main))
        if self.eligible > size and isinstance(sampler, TwoStageSampler):
            main, self.entry_probability = first_stage(main, admiring, sampler.first_stage_size(size), rng)
            uniform = rng.permutation(main)
        elif self.eligible > size and everybody:  # such a sampler needs norms only: deal at once
            of_all, of_admirers = (self._pool_of_norms(numbers, view.squared_norms(numbers)) for numbers in (main, admiring))
            of_admirers = of_admirers.part(slice(None), admirers=True)
            parts = (
                WeightedPool(main, of_all, self.entry_probability),
                WeightedPool(admiring, of_admirers, np.ones(len(admiring))),
            )
            self._deal = deal(self.plan, size, self.eligible, *parts, rng.permutation(main), rng)
            main, admiring = self._deal.numbers, _NOBODY
        again = self._met_again(eligible)
        self.again_reasons = [Reason.REPEAT if old else Reason.RELAXED for old in is_in(again, eligible.repeats).tolist()]
        self._read(view, main, admiring, uniform, again)

    def _read(self, view: IndexView, *parts: PersonNumbers) -> None:
        """The rows of all, at once. Whoever is in two parts has two rows."""
        self.people, end = view.candidate_rows(np.concatenate(parts)), 0
        self._parts = [slice(end, end := end + len(part)) for part in parts]
        self.main, self.admirers, self.uniform, self.again = map(self.people.take, self._parts)

    def _met_again(self, eligible: EligiblePeople) -> PersonNumbers:
        """Whom the viewer has met, the longest ago first: in a deck of their own, or to fill one where the policy relaxes."""
        if self.plan.cooldown_relaxed:
            return np.concatenate([eligible.repeats, eligible.in_cooldown])[: max(self.size - self.eligible, 0)]
        return eligible.repeats[: self.size] if self.recommender.repeats and not self.eligible else _NOBODY

    def look_up_ids(self, *others: CandidateRows) -> bool:
        """Whether the index need not be read any longer: whoever looks states up by id may take long, or change it."""
        if isinstance(self.recommender.states, StatesByNumber):
            return False
        self._ids = {
            number: one for rows in (self.people, *others) for number, one in zip(rows.numbers.tolist(), rows.ids(), strict=True)
        }
        return True

    def ids(self, people: CandidateRows) -> list[Hashable]:
        return people.ids() if self._ids is None else [self._ids[number] for number in people.numbers.tolist()]

    def deal(self, rng: np.random.Generator) -> tuple[CandidateRows, Deal]:
        """The people of the deck, those met before last; and how all others were dealt."""
        dealt, (main, admirers, _, again) = self._deal, self._parts
        if self.eligible <= self.size:
            dealt = Deal(self.main.numbers, np.ones(len(self.main)), _NOBODY, 1.0, lambda asked: np.ones(len(asked)))
            self._rows = np.r_[main, again]
            return self.people.take(self._rows), dealt
        if dealt is None:
            self._pool = pool = self.pool(self.people)
            population = len(self.main) if isinstance(self.plan.sampler, TwoStageSampler) else self.eligible
            from_main = WeightedPool(self.main.numbers, pool.part(main), self.entry_probability)
            from_admirers = WeightedPool(self.admirers.numbers, pool.part(admirers, admirers=True), np.ones(len(self.admirers)))
            dealt = deal(self.plan, self.size, population, from_main, from_admirers, self.uniform.numbers, rng)
        self._rows = positions_in(self.people.numbers, dealt.numbers)
        return self.people.take(self._rows), dealt

    def scores(self, shown: CandidateRows) -> tuple[Vector, Vector]:
        """Mutual and forward scores, from the pool where it was scored both ways anyway. The pool is let go of: it asks for
        states here, and in such a circle all that was read would wait for the garbage collector."""
        pool, self._pool = self._pool, None
        if pool is not None and self.plan.sampler.retrieval is Retrieval.BEST_MUTUAL:
            return pool.mutual_and_forward(self._rows)
        pool = self.pool(shown)
        return pool.mutual, pool.forward

    def pool(self, people: CandidateRows) -> Pool:
        return Pool(
            self.viewer,
            fusion(self.recommender.fusion),
            squared_norms=people.squared_norms,
            features=lambda: (people.features, people.others),
            states=lambda: self._states_of(people),
            capped=bits_at(self.over_cap, people.numbers),
        )

    def _pool_of_norms(self, numbers: PersonNumbers, squared_norms: Vector) -> Pool:
        """A pool for samplers that need norms only: nothing else is read."""
        return self.pool(
            CandidateRows(numbers, self.recommender.index.ids_and_numbers, squared_norms, np.empty((0, 0)), np.empty(0))
        )

    def _states_of(self, people: CandidateRows) -> Sequence[State]:
        states = self.recommender.states
        found = states.at(people.numbers) if isinstance(states, StatesByNumber) else states(self.ids(people))
        if len(found) != len(people):
            raise InvalidInput("states", f"{len(found)} were found for {len(people)} identifiers; there must be one each")
        known = self.viewer.state.dimensions
        if any(state.dimensions != known for state in ([found.start] if isinstance(found, StateRows) else found)):
            raise InvalidInput("viewer", f"has a state over {known} terms, and the vocabulary has just grown")
        return found
