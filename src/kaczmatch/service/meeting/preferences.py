"""What was learned about somebody, in words for that person alone; and their own history."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas.preferences import Preference, Weight
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import AnsweredPeople, ModelFold, without_undone
from kaczmatch.service.domain.leaving import leaving, listed
from kaczmatch.service.domain.quotas import HISTORIES
from kaczmatch.service.domain.records import Decision, Event, LatestDecision, Person
from kaczmatch.service.domain.refusals import NotFound, nobody
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.traits import with_seen
from kaczmatch.service.meeting.preference_sentences import CLEAR, SURE, sentences
from kaczmatch.service.meeting.profiles import charge_reading
from kaczmatch.service.meeting.serving_index import grown_state
from kaczmatch.service.meeting.viewer_context import load_viewer_state, matched_or_blocked_among, who_fits

R = TypeVar("R", LatestDecision, Event)

_LEARNED: Final = 0.25  # standard deviations of a decision: a taste for traits that is spoken of


@final
@dataclass(frozen=True, slots=True)
class Preferences:
    """The use cases of looking at what was learned."""

    context: Context

    def of(self, user: str, *, most: int = 10) -> Preference:
        with self.context.store.read() as reader:
            known = load_viewer_state(reader, self.context, user)
        start = grown_state(known.fold, known.fold.start().state, known.vocabulary)
        judged = _judged(known.person, known.vocabulary)
        return preference_in_words(known.fold, known.state, start, known.tracked.swipes, known.vocabulary, judged, most)

    def growth_version(self, user: str) -> Hashable:
        """Changes whenever `growth` can: the last event and how many there are (an erasure takes some out), under which model."""
        with self.context.store.read() as reader:
            if reader.get(Person, user) is None:
                raise nobody(user)
            current = self.context.catalogue.current(reader)
            return current.model, current.vocabulary, last_event(reader, user), reader.count(Event, user=user)

    def growth(self, user: str, *, most: int = 10, last: int = 200, by_user: bool = False) -> list[tuple[Event, Preference]]:
        """How the preference grew: after each of the last events that taught something, the oldest first."""
        if by_user:
            charge_reading(self.context, user, HISTORIES, self.context.config.histories)
        with self.context.store.read() as reader:
            person = reader.get(Person, user)
            if person is None:
                raise nobody(user)
            current = self.context.catalogue.current(reader)
            vocabulary = self.context.catalogue.vocabulary(reader, current.vocabulary)
            fold = self.context.catalogue.fold(reader, current.model)
            events = with_seen(reader, fold, without_undone(reader.find(Event, user=user)))
            gone = leaving(reader, (event.candidate for event in events[-last:]))
        tracked, answered, judged = fold.start(), AnsweredPeople(), _judged(person, vocabulary)
        start, steps = grown_state(fold, tracked.state, vocabulary), []
        for place, event in enumerate(events):
            tracked = fold.step(tracked, event, repeated=answered.repeats(event))
            if place >= len(events) - last and event.candidate not in gone:
                state = grown_state(fold, tracked.state, vocabulary)
                steps.append((event, preference_in_words(fold, state, start, tracked.swipes, vocabulary, judged, most)))
        return steps

    def likes(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> list[LatestDecision]:
        """Whom somebody likes, as of their last decision on each, the newest first."""
        return self._listed(LatestDecision, user, after, limit, decision=Decision.LIKE)

    def admirers(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> tuple[list[LatestDecision], list[str]]:
        """Whose like of the user is open, the newest first: a page of all likes, and who of them can be shown to the user."""
        if not self.context.config.admirers_listed:
            raise NotFound("nobody is told about a like before a match: the setting admirers_listed is off")
        with self.context.store.read() as reader:
            known, now = load_viewer_state(reader, self.context, user), self.context.clock()
            page = reader.find(LatestDecision, candidate=user, decision=Decision.LIKE, after=after, newest=True, limit=limit)
            hidden = matched_or_blocked_among(reader, user, [like.user for like in page])
            people = who_fits(reader, self.context, known, [like.user for like in page if like.user not in hidden], now)
        return page, [like.user for like in page if like.user in people]

    def history(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> list[Event]:
        """Everything somebody did, the newest first."""
        return self._listed(Event, user, after, limit)

    def _listed(self, kind: type[R], user: str, after: Sequence[object], limit: int, **equal: Any) -> list[R]:
        with self.context.store.read() as reader:
            if reader.get(Person, user) is None:
                raise nobody(user)
            return listed(reader, kind, ["candidate"], user=user, after=after, newest=True, limit=limit, **equal)


def last_event(reader: Reader, user: str) -> int:
    """The number of a user's last event."""
    return max((event.number for event in reader.find(Event, user=user, newest=True, limit=1)), default=0)


def preference_in_words(
    fold: ModelFold,
    state: State,
    start: State,
    swipes: int,
    vocabulary: Vocabulary,
    judged: NDArray[np.bool_],
    most: int,
) -> Preference:
    """The weights of the terms that the people whom one looks for can have; no other is ever judged."""
    learner = fold.learner
    weights = learner.weights(state.cells, state.dimensions)
    spreads = _spreads(learner, state)
    all_of_them = [
        _weight(term.name, weight, None if spreads is None else float(spreads[place]))
        for place, (term, weight) in enumerate(zip(vocabulary.terms, weights.tolist(), strict=True))
        if judged[place] and not term.retired and weight != 0.0
    ]
    by_weight = sorted(all_of_them, key=lambda one: -abs(one.weight) * (2.0 * (one.confidence or 1.0) - 1.0))
    first, certainty = _spreads(learner, start), None
    if spreads is not None and first is not None and judged.any():
        certainty = float(1.0 - np.mean(spreads[judged] ** 2) / np.mean(first[judged] ** 2))
    liked, disliked = (tuple(one for one in by_weight if one.weight * sign > 0.0) for sign in (1, -1))
    terms = [term.name for place, term in enumerate(vocabulary.terms) if judged[place] and not term.retired]
    return Preference(
        liked=liked[:most],
        disliked=disliked[:most],
        sentences=sentences(liked, disliked, terms, swipes),
        clear=sum((one.confidence or 0.0) >= CLEAR for one in all_of_them),
        terms=len(terms),
        model=fold.model,
        swipes=swipes,
        certainty=None if certainty is None else min(max(certainty, 0.0), 1.0),
        beyond_tags=_beyond_tags(learner, state, start, swipes),
    )


def _beyond_tags(learner: Learner, state: State, start: State, swipes: int) -> str:
    """What somebody's likes have in common beyond tags, in one line; empty where nothing is known of it."""
    if not isinstance(learner, ProbitTraits) or not swipes:
        return ""
    weights, first = (learner.mean(one)[-learner.traits :] for one in (state, start))
    if float(np.linalg.norm(weights - first)) < _LEARNED:
        return "what many people like, as far as one can tell yet" if float(np.linalg.norm(weights)) >= _LEARNED else ""
    agrees = float(weights @ first) >= 0.0
    return "people with a taste like yours like them" if agrees else "they are not those whom most people like"


def certainty_after(fold: ModelFold, events: Iterable[Event], vocabulary: Vocabulary, person: Person) -> float | None:
    """How sure a model is of somebody's taste after these events; None where it has no belief."""
    start, tracked = grown_state(fold, fold.start().state, vocabulary), fold.replay(events)
    state, judged = grown_state(fold, tracked.state, vocabulary), _judged(person, vocabulary)
    return preference_in_words(fold, state, start, tracked.swipes, vocabulary, judged, 0).certainty


def _judged(person: Person, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    return np.array([term.is_for(person.i_look_for) for term in vocabulary.terms], np.bool_)


def sure_weights(learner: Learner, state: State) -> Vector:
    """The weights of which somebody may be told, for or against; 0 where the sign is half a guess."""
    weights, spreads = learner.weights(state.cells, state.dimensions), _spreads(learner, state)
    return np.asarray(weights if spreads is None else np.where(ndtr(np.abs(weights) / spreads) >= SURE, weights, 0.0))


def _spreads(learner: Learner, state: State) -> Vector | None:
    """The standard deviation of each weight, where a learner has a belief."""
    return learner.standard_deviations(state) if isinstance(learner, BeliefLearner) else None


def _weight(term: str, weight: float, spread: float | None) -> Weight:
    confidence = None if spread is None else float(ndtr(abs(weight) / spread))
    return Weight(term=term, weight=weight, spread=spread, confidence=confidence)
