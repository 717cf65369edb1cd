"""Order people that the app brings from its own search, and say why somebody fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.recommend.decks.rank import RankedCandidates, rank
from kaczmatch.recommend.explanation import Explanation, explain
from kaczmatch.schemas.decks import MOST_RANKED
from kaczmatch.service.domain.capacity import without_full
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import swipes_learned_from
from kaczmatch.service.domain.feature_snapshots import seen_features
from kaczmatch.service.domain.folding import UNSEEN, ModelFold, said_of
from kaczmatch.service.domain.impressions import was_shown
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import Decision, Event, EventKind, LatestDecision, MatchSide, Person, StoredState
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.traits import with_seen
from kaczmatch.service.meeting.others_said import others_said
from kaczmatch.service.meeting.profiles import counters_of, profile_of
from kaczmatch.service.meeting.serving_index import grown_state
from kaczmatch.service.meeting.viewer_context import answers, load_viewer, load_viewer_state, matched_or_blocked_among

_SWIPES_EXPLAINED = 500
_EVENTS_LOOKED_AT = 1_000


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
            known = load_viewer_state(reader, self.context, user)
            viewer = load_viewer(reader, self.context, known, now)
            keys = [(other,) for other in dict.fromkeys(candidates)]
            hidden = matched_or_blocked_among(reader, user, [other for (other,) in keys])
            decided = reader.many(LatestDecision, [(user, other) for (other,) in keys]).values()
            found = reader.many(Person, keys)
            days, today = self.context.config.away_days, now.astimezone(UTC).date()
            away = {person.id for person in found.values() if person.away(days, today)} - hidden
            people = [person for person in found.values() if not person.paused and not person.away(days, today)]
            model = known.versions.model
            learned = reader.many(StoredState, [(model, person.id) for person in people])
            fold, vocabulary = known.fold, known.vocabulary
            profiles = [profile_of(person, vocabulary, self.context.config.schema) for person in people]
            others = others_said(reader, self.context, fold, vocabulary, people, now)
            free = {person.id for person in without_full(reader, people, self.context.config.schema)}
        states = [grown_state(fold, fold.decode(learned.get((model, person.id))).state, vocabulary) for person in people]
        ranking = rank(
            viewer,
            profiles,
            states,
            now=now,
            rng=self.fresh_rng(),
            others=others,
            blocked=hidden,
            answers=answers((one.candidate, one.decision, one.at) for one in decided),
            cooldown=self.context.config.cooldown,
        )
        # Blocked people look like people who never were.
        gone = {other for (other,) in keys} - {person.id for person in people} - away
        gone |= {str(other) for other, reasons in ranking.left_out if "blocked" in reasons}
        left_out = [(other, reasons) for other, reasons in ranking.left_out if other not in gone]
        left_out += [(other, ("away",)) for other in sorted(away)]
        left_out += [(other, ("capacity",)) for other, _ in ranking.ranked if other not in free]
        ranked = tuple((other, score) for other, score in ranking.ranked if other in free)
        return RankedCandidates(ranked, (*left_out, *((other, ("not found",)) for other in sorted(gone))))

    def why(self, user: str, other: str) -> ExplainedCandidate:
        """Which tags and which of one's own swipes speak for somebody one was shown, or matched with."""
        with self.context.store.read() as reader:
            known = load_viewer_state(reader, self.context, user)
            viewer = load_viewer(reader, self.context, known, self.context.clock())
            candidate = reader.get(Person, other)
            match = reader.get(MatchSide, user, other)
            matched = match is not None and match.ended is None
            hidden = not matched and other in matched_or_blocked_among(reader, user, [other])
            if candidate is None or hidden or not (matched or was_shown(reader, user, other)):
                raise nobody(other)
            swipes = [
                one for one in with_seen(reader, known.fold, self._taught(reader, known.fold, user)) if one.said is not UNSEEN
            ]
            gone = leaving(reader, (swipe.candidate for swipe in swipes))
        vocabulary = known.vocabulary
        features = profile_of(candidate, vocabulary, self.context.config.schema).features
        if not swipes:
            return ExplainedCandidate(explain(viewer, features, vocabulary), ())
        log = SwipeLog(
            user=np.zeros(len(swipes), np.int64),
            label=[1 if event.decision == Decision.LIKE else -1 for event in swipes],
            features=[unpacked(seen_features(event), vocabulary.dimensions) for event in swipes],
            others=np.array([said_of(event) for event in swipes]),
        )
        explanation = explain(viewer, features, vocabulary, log, prior=known.fold.prior.grown(vocabulary.dimensions))
        named = [(swipes[row], part) for row, part in explanation.swipes]
        return ExplainedCandidate(explanation, tuple((swipe, part) for swipe, part in named if swipe.candidate not in gone))

    def _taught(self, reader: Reader, fold: ModelFold, user: str) -> list[Event]:
        """The last swipes that taught something, out of the last events."""
        events = reader.find(Event, user=user, newest=True, limit=_EVENTS_LOOKED_AT)[::-1]
        swipes = swipes_learned_from(events, first_answers_only=fold.first_answers_only)
        if fold.first_answers_only and len(events) == _EVENTS_LOOKED_AT and all(one.kind != EventKind.RESET for one in events):
            # Some answer people again who were answered before those events. After a reset, the first answer since then teaches.
            pairs = reader.many(LatestDecision, [(user, one.candidate) for one in swipes])
            first = {pair.first_answer for pair in pairs.values()}
            swipes = [one for one in swipes if one.id in first] if not counters_of(reader, user).resets else swipes
        return swipes[-_SWIPES_EXPLAINED:]
