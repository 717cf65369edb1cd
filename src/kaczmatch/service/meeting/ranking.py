"""Order people that the app brings from its own search, and say why somebody fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.recommend.decks.rank import RankedCandidates, rank
from kaczmatch.recommend.explanation import Explanation, explain
from kaczmatch.service.domain.appeal import appeal_to
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import without_undone
from kaczmatch.service.domain.records import (
    Decision,
    Event,
    EventKind,
    Impression,
    MatchSide,
    Person,
    PersonCounters,
    StoredState,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.meeting.decks import excluded_people, load_viewer
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.serving_index import grown_state

MOST_RANKED = 1_000
_SWIPES_EXPLAINED = 500


@final
@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """An explanation with the ids of the swipes it names."""

    explanation: Explanation
    swipes: tuple[tuple[Event, float], ...]


@final
@dataclass(frozen=True, slots=True)
class CandidateRanking:
    """The use cases of judging given people."""

    context: Context
    fresh_rng: Callable[[], np.random.Generator]

    def rank(self, user: str, candidates: Sequence[str]) -> RankedCandidates:
        """Who of these may be shown to `user`, the best first, and why not the others. Scores are for operators and apps only."""
        if len(candidates) > MOST_RANKED:
            raise InvalidInput("candidates", f"at most {MOST_RANKED:,} at a time, got {len(candidates):,}")
        with self.context.store.read() as reader:
            now = self.context.clock()
            sight = load_viewer(reader, self.context, user, now)
            current = self.context.catalogue.current(reader)
            fold = self.context.catalogue.fold(reader, current.model)
            words = self.context.catalogue.vocabulary(reader, current.vocabulary)
            keys = [(other,) for other in dict.fromkeys(candidates)]
            found = reader.many(Person, keys)
            people = [person for person in found.values() if not person.paused]
            learned = reader.many(StoredState, [(current.model, person.id) for person in people])
            standings = reader.many(PersonCounters, [(person.id,) for person in people])
        states = [grown_state(fold, fold.decode(learned.get((current.model, person.id))).state, words) for person in people]
        nothing = PersonCounters(user="")
        appeals = [appeal_to(standings.get((person.id,), nothing), None, now, self.context.config.appeal) for person in people]
        ranking = rank(
            sight.viewer,
            [profile_of(person, words, self.context.config.schema) for person in people],
            states,
            now=now,
            rng=self.fresh_rng(),
            fused_by=self.context.config.fusion or None,
            appeal=appeals,
            blocked=sight.excluded,
            recent=sight.last_decided,
            cooldown=self.context.config.cooldown,
        )
        # Blocked people look like people who never were.
        gone = {other for (other,) in keys} - {person.id for person in people}
        gone |= {str(other) for other, reasons in ranking.left_out if "blocked" in reasons}
        left_out = [(other, reasons) for other, reasons in ranking.left_out if other not in gone]
        return RankedCandidates(ranking.ranked, (*left_out, *((other, ("not found",)) for other in sorted(gone))))

    def why(self, user: str, other: str) -> ExplainedCandidate:
        """Which tags and which of one's own swipes speak for somebody one was shown, or matched with."""
        with self.context.store.read() as reader:
            sight = load_viewer(reader, self.context, user, self.context.clock())
            them = reader.get(Person, other)
            cards = reader.find(Impression, user=user, candidate=other, limit=1)
            match = reader.get(MatchSide, user, other)
            matched = match is not None and match.ended is None
            apart = not matched and other in excluded_people(reader, user)
            if them is None or apart or not (cards or matched):
                raise nobody(other)
            current = self.context.catalogue.current(reader)
            fold = self.context.catalogue.fold(reader, current.model)
            words = self.context.catalogue.vocabulary(reader, current.vocabulary)
            swipes = taught_by(reader.find(Event, user=user))[-_SWIPES_EXPLAINED:]
        shown = profile_of(them, words, self.context.config.schema).features
        if not swipes:
            return ExplainedCandidate(explain(sight.viewer, shown, words), ())
        log = SwipeLog(
            user=np.zeros(len(swipes), np.int64),
            label=[1 if event.decision == Decision.LIKE else -1 for event in swipes],
            features=[unpacked(event.features or b"", words.dimensions) for event in swipes],
            appeal=[event.appeal for event in swipes],
        )
        told = explain(sight.viewer, shown, words, log, prior=fold.prior.grown(words.dimensions))
        return ExplainedCandidate(told, tuple((swipes[row], part) for row, part in told.swipes))


def taught_by(events: Sequence[Event]) -> list[Event]:
    """The swipes that the present taste was learned from."""
    known = without_undone(events)
    last = max((place for place, event in enumerate(known) if event.kind == EventKind.RESET), default=-1)
    return [event for event in known[last + 1 :] if event.kind == EventKind.SWIPED and event.decision != Decision.SKIP]
