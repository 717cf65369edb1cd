"""Taking back the last swipe, and starting anew: both are events, and the state is folded again from what remains."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import final

from kaczmatch.service.domain.appeal import without_evidence
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import recounted, resets_at_last_answers, standing_decisions
from kaczmatch.service.domain.folding import models_that_learn, without_undone
from kaczmatch.service.domain.quotas import CHANGES, SWIPES, UNDOS, charge, give_back, spend
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Change,
    Decision,
    Event,
    EventKind,
    LatestDecision,
    MatchSide,
    PersonCounters,
    SeenTraits,
    StoredState,
    TraitProgress,
)
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.domain.traits import with_seen, withdraw
from kaczmatch.service.meeting.profiles import require_person


@final
@dataclass(frozen=True, slots=True)
class Undo:
    """The use cases of going back."""

    context: Context

    def undo(self, user: str, swipe: str) -> Future[Event]:
        """Take back the last swipe, exactly. Undoing it once more changes nothing; after a match it is refused."""

        def work(transaction: Transaction) -> Event:
            require_person(transaction, user)
            done = transaction.get(Event, user, f"~undo:{swipe}")
            if done is not None:
                return done
            event = transaction.get(Event, user, swipe)
            if event is None or event.kind != EventKind.SWIPED or event.candidate is None or event.candidate not in candidates:
                raise NotFound(f"there is no swipe {swipe!r}")
            match = transaction.get(MatchSide, user, event.candidate)
            if match is not None:
                instead = "end the match instead" if match.ended is None else "it has ended, and the two do not meet again"
                raise Conflict(f"the two have matched, so this swipe cannot be undone; {instead}", "matched")
            events = transaction.find(Event, user=user)
            last = next((one for one in reversed(events) if one.kind != EventKind.SESSION_ENDED), None)
            if last is None or last.id != swipe:
                raise Conflict("only the last swipe can be undone", "not-last")
            current = self.context.catalogue.current(transaction)
            undone = Event(
                user=user,
                id=f"~undo:{swipe}",
                kind=EventKind.UNDONE,
                at=self.context.clock(),
                undoes=swipe,
                vocabulary=current.vocabulary,
                model=current.model,
            )
            transaction.append(undone)
            self._undecide(transaction, event, [*events, undone])
            for model in {current.model, current.previous, current.building}:
                seen = transaction.get(SeenTraits, model, user, swipe)
                if seen is not None:
                    withdraw(transaction, seen)
            refold(transaction, self.context, current, user, [*events, undone])
            return undone

        with self.context.store.read() as reader:
            event = reader.get(Event, user, swipe)
        # Nobody else works on the candidate then. A swipe that comes after this look was not there when its undo was asked for.
        candidates = [event.candidate] if event is not None and event.candidate is not None else []
        return self.context.store.write(work, locks=[user, *candidates])

    def reset(self, user: str, *, by_user: bool = False) -> Future[None]:
        """Forget what was learned; decisions, matches and blocks stay."""

        def work(transaction: Transaction) -> None:
            require_person(transaction, user)
            current, now = self.context.catalogue.current(transaction), self.context.clock()
            event = Event(
                user=user,
                id=f"~reset:{self.context.new_id()}",
                kind=EventKind.RESET,
                at=now,
                vocabulary=current.vocabulary,
                model=current.model,
            )
            events = transaction.find(Event, user=user)
            if by_user:
                charge(transaction, user, CHANGES, self.context.config.changes, now)
            transaction.append(event)
            counters = transaction.get(PersonCounters, user)
            if counters is not None:
                transaction.put(replace(counters, in_session=False, resets=counters.resets + 1))
            refold(transaction, self.context, current, user, [*events, event])

        return self.context.store.write(work, locks=[user])

    def _undecide(self, transaction: Transaction, event: Event, events: list[Event]) -> None:
        """Everything that followed from the swipe, as it was before it."""
        user, other = event.user, event.candidate or ""
        earlier, answered = standing_decisions(events).get(other), resets_at_last_answers(events).get(other)
        pair, mine, theirs = (
            transaction.get(LatestDecision, user, other),
            transaction.get(PersonCounters, user),
            transaction.get(PersonCounters, other),
        )
        if pair is not None and theirs is not None and answered is None and pair.appeal_as_of is not None:
            # It was the first answer, the one that counts.
            how = self.context.config.appeal
            transaction.put(without_evidence(theirs, pair.excess, pair.information, pair.appeal_as_of, how))
            pair = replace(pair, excess=0.0, information=0.0, appeal_as_of=None, first_answer=None)
            # Processes remember their appeal.
            transaction.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))
        if mine is not None:
            # An undone swipe costs no quota. Undoing has a quota of its own, or the log could grow without end.
            swipes = self.context.config.swipes
            if not event.imported:
                mine = replace(mine, quota_use=give_back(mine, SWIPES, swipes, event.at))
            mine = replace(mine, quota_use=spend(mine, UNDOS, swipes, events[-1].at))
            transaction.put(recounted(mine, events))
        if earlier is None or pair is None:
            transaction.drop(LatestDecision, user, other)
        else:
            decision = earlier.decision or Decision.SKIP
            transaction.put(replace(pair, decision=decision, at=earlier.at, swipe=earlier.id, answered_after_resets=answered))


def refold(transaction: Transaction, context: Context, current: ActiveVersions, user: str, events: list[Event]) -> None:
    """The states of a person anew from their events, of every model that learns."""
    for model in models_that_learn(transaction, current, user):
        fold = context.catalogue.fold(transaction, model)
        transaction.put(fold.encode(user, fold.replay(with_seen(transaction, fold, events))))
    if current.building_traits and transaction.get(StoredState, current.building, user) is not None:
        # The pass has come to an event of theirs, which may be gone by now. So the progress is that of this model.
        fold, progress = context.catalogue.fold(transaction, current.building), transaction.get(TraitProgress, SINGLE_ROW)
        last = 0 if progress is None else progress.event
        passed = [event for event in without_undone(events) if 0 < event.number <= last]
        transaction.put(fold.encode(user, fold.replay(with_seen(transaction, fold, passed))))
