"""Taking back the last swipe, and starting anew: both are events. After an undo, the log is folded again without the swipe."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, final

from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain.appeal import without_evidence
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import models_that_learn
from kaczmatch.service.domain.quotas import CHANGES, SWIPES, UNDOS, charge, give_back, spend
from kaczmatch.service.domain.records import (
    Change,
    Decision,
    Event,
    EventKind,
    LatestDecision,
    MatchSide,
    Person,
    PersonCounters,
    SeenTraits,
)
from kaczmatch.service.domain.refolding import FoldedLog, refolding
from kaczmatch.service.domain.refusals import Conflict, NotFound, Refusal
from kaczmatch.service.domain.store import RecordKey, Transaction
from kaczmatch.service.domain.traits import withdraw
from kaczmatch.service.domain.turns import Turns
from kaczmatch.service.meeting.profiles import counters_of, require_person

# Ends of sessions that an undo reaches over. After a swipe comes one, and more only where swipes in between were erased.
_SESSIONS: Final = 7


@final
@dataclass(frozen=True, slots=True)
class Undo:
    """The use cases of going back."""

    context: Context
    _turns: Turns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_turns", Turns(self.context.rest))

    def undo(self, user: str, swipe: str) -> Future[Event]:
        """Take back the last swipe, exactly. Undoing it once more changes nothing; after a match it is refused.

        A look at the newest events comes first, and counts towards the quota whatever comes of it. The log is folded beside
        the commit thread then.
        """
        done: Future[Event] = Future()

        def hand_on(found: Future[Event]) -> None:
            error = found.exception()
            done.set_result(found.result()) if error is None else done.set_exception(error)

        def begin(looked: Future[Event | Refusal]) -> None:
            try:
                found = looked.result()
                if isinstance(found, Refusal):
                    raise found
                if found.kind == EventKind.UNDONE:
                    done.set_result(found)
                else:
                    self._fold_without(found).add_done_callback(hand_on)
            except BaseException as error:
                done.set_exception(error)

        reads: list[RecordKey] = [
            (Person, (user,)),
            (PersonCounters, (user,)),
            (Event, (user, swipe)),
            (Event, (user, _undo_of(swipe))),
        ]
        self.context.store.write(partial(self._look, user, swipe), locks=[user], prefetch=reads).add_done_callback(begin)
        return done

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
            if by_user:
                charge(transaction, user, CHANGES, self.context.config.changes, now)
            counters, models = counters_of(transaction, user), models_that_learn(transaction, current, user)
            transaction.append(event)
            transaction.put(replace(counters, in_session=False, resets=counters.resets + 1))
            for model in models:
                fold = self.context.catalogue.fold(transaction, model)
                transaction.put(fold.encode(user, fold.step(fold.start(), event, repeated=False)))

        reads: list[RecordKey] = [(Person, (user,)), (PersonCounters, (user,)), catalogue.ACTIVE_VERSIONS]
        return self.context.store.write(work, locks=[user], prefetch=reads)

    def _look(self, user: str, swipe: str, transaction: Transaction) -> Event | Refusal:
        """The swipe, if it can be undone; the undo, if it was. It costs one undo, also where it is refused."""
        require_person(transaction, user)
        done = transaction.get(Event, user, _undo_of(swipe))
        if done is not None:
            return done
        counters = counters_of(transaction, user)
        spent = spend(counters, UNDOS, self.context.config.swipes, self.context.clock())
        found: Event | Refusal
        try:
            found = self._last_swipe(transaction, user, swipe)
        except Refusal as refusal:
            found = refusal
        transaction.put(replace(counters, quota_use=spent))
        return found

    def _last_swipe(self, transaction: Transaction, user: str, swipe: str) -> Event:
        event = transaction.get(Event, user, swipe)
        if event is None or event.kind != EventKind.SWIPED or event.candidate is None:
            raise NotFound(f"there is no swipe {swipe!r}")
        match = transaction.get(MatchSide, user, event.candidate)
        if match is not None:
            instead = "end the match instead" if match.ended is None else "it has ended, and the two do not meet again"
            raise Conflict(f"the two have matched, so this swipe cannot be undone; {instead}", "matched")
        newest = transaction.find(Event, user=user, newest=True, limit=_SESSIONS + 1)
        last = next((one for one in newest if one.kind != EventKind.SESSION_ENDED), None)
        if last is None or last.id != swipe:
            raise Conflict("only the last swipe can be undone", "not-last")
        return event

    def _fold_without(self, event: Event) -> Future[Event]:
        user, candidate = event.user, event.candidate or ""
        commit = partial(self._undo, user, event.id)
        steps = refolding(self.context, user, lambda one: one.id == event.id, commit, locks=[candidate], about=candidate)
        return self._turns.add(user, event.id, steps)

    def _undo(self, user: str, swipe: str, transaction: Transaction, log: FoldedLog) -> Event:
        require_person(transaction, user)
        done = transaction.get(Event, user, _undo_of(swipe))
        if done is not None:
            return done
        event, current = self._last_swipe(transaction, user, swipe), self.context.catalogue.current(transaction)
        undone = Event(
            user=user,
            id=_undo_of(swipe),
            kind=EventKind.UNDONE,
            at=self.context.clock(),
            undoes=swipe,
            vocabulary=current.vocabulary,
            model=current.model,
        )
        transaction.append(undone)
        self._undecide(transaction, event, log)
        for model in {current.model, current.previous, current.building}:
            seen = transaction.get(SeenTraits, model, user, swipe)
            if seen is not None:
                withdraw(transaction, seen)
        return undone

    def _undecide(self, transaction: Transaction, event: Event, log: FoldedLog) -> None:
        """Everything that followed from the swipe, as it was before it."""
        user, other = event.user, event.candidate or ""
        earlier, answered = log.counts.standing, log.counts.answered_after_resets
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
            if not event.imported:
                mine = replace(mine, quota_use=give_back(mine, SWIPES, self.context.config.swipes, event.at))
            transaction.put(log.recounted(mine))
        if earlier is None or pair is None:
            transaction.drop(LatestDecision, user, other)
        else:
            decision = earlier.decision or Decision.SKIP
            transaction.put(replace(pair, decision=decision, at=earlier.at, swipe=earlier.id, answered_after_resets=answered))


def _undo_of(swipe: str) -> str:
    """The id of the event that undoes a swipe."""
    return f"~undo:{swipe}"
