"""A model with traits is built by one pass through everybody's events, in the order in which they came.

What a swipe says of its candidate depends on what its user had liked until then, and the next user sees it. So nobody can be
learned anew alone. The pass goes beside the model in use, a page of events per commit. It does not learn along: it comes to new
events by itself. The last few are taken in the commit that puts the model in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final, final

from kaczmatch.learners.population.traits import Sites
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import with_features
from kaczmatch.service.domain.folding import UNSEEN, AnsweredPeople, undo_of, without_undone
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    Decision,
    Event,
    EventKind,
    LatestDecision,
    PersonCounters,
    StoredState,
    StoredTraits,
    TraitProgress,
)
from kaczmatch.service.domain.store import Reader, RecordKey, Transaction
from kaczmatch.service.domain.traits import learn_event, put_fitted_site

Key = tuple[str, ...]  # of an event
LookedAt = tuple[set[Key], set[Key]]  # events, and those of them that answer somebody again
FittedSite = tuple[str, str, Sites]  # of a user, on a candidate

_AT_ONCE: Final = 25  # events: decks and swipes wait for the commit that has them
FEW: Final = 50  # events that may be left for the commit that ends the pass


@final
@dataclass(frozen=True, slots=True)
class TraitPass:
    """The pass of one model."""

    context: Context
    model: int

    def begin(self, sites: Sequence[FittedSite]) -> None:
        """Write what the fit found that people say of each other's traits, some at a time."""
        with self.context.store.read() as reader:
            self.context.catalogue.fold(reader, self.model)
        for first in range(0, len(sites), _AT_ONCE):
            some = sites[first : first + _AT_ONCE]
            people = {user for user, _, _ in some} | {candidate for _, candidate, _ in some}
            pairs = [(user, candidate) for user, candidate, _ in some]
            reads: list[RecordKey] = [(LatestDecision, pair) for pair in pairs]
            reads += [(StoredTraits, (self.model, candidate)) for _, candidate in pairs]
            self.context.store.write(partial(self._put_fitted, some), locks=sorted(people), prefetch=reads).result()
            self.context.rest()

    def _put_fitted(self, sites: Sequence[FittedSite], transaction: Transaction) -> None:
        fold = self.context.catalogue.fold(transaction, self.model)
        gone = leaving(transaction, chain.from_iterable((user, candidate) for user, candidate, _ in sites))
        for user, candidate, site in sites:
            if not gone & {user, candidate}:
                put_fitted_site(transaction, fold, user, candidate, site)

    def last_event(self, go_on: Callable[[], bool]) -> int | None:
        """The newest event, once none with a lower number can turn up behind the pass. None: not to `go_on` until then."""
        with self.context.store.read() as reader:
            _, cursor = reader.became_visible(Event, None)
        newest = cursor.newest
        while cursor.settled < newest:  # a commit that began before it is under way; nobody else has to wait for that
            if not go_on():
                return None
            self.context.rest()
            with self.context.store.read() as reader:
                _, cursor = reader.became_visible(Event, cursor)
        return newest

    def step(self, last: int) -> int:
        """Learn from some more events, up to one. Returns how far the pass has come by then."""
        with self.context.store.read() as reader:
            self.context.catalogue.current(reader)  # events were made under every vocabulary there was
            self.context.catalogue.fold(reader, self.model)
            reached = self.reached(reader)
            page = [event for event in reader.find(Event, after=(reached,), limit=_AT_ONCE) if event.number <= last]
            again = self._answered_again(reader, page)
        if not page:
            return last
        people = {event.user for event in page} | {event.candidate for event in page if event.candidate is not None}
        work = partial(self.learn, page, again, page[-1].number)
        self.context.store.write(work, locks=sorted(people), prefetch=self._reads(page)).result()
        return page[-1].number

    def look_ahead(self) -> LookedAt:
        """Which of the events that are left answer somebody again, for `learn_rest`, which reads nobody's log."""
        with self.context.store.read() as reader:
            page = reader.find(Event, after=(self.reached(reader),), limit=FEW)
            return {event.identity() for event in page}, self._answered_again(reader, page)

    def learn_rest(self, transaction: Transaction, looked_at: LookedAt) -> bool:
        """Learn from what is left; False: that is too much for one commit. No other work may be under way."""
        left, (seen, again) = transaction.find(Event, after=(self.reached(transaction),), limit=FEW + 1), looked_at
        repeated, unsure = _repeats(transaction, left)
        if len(left) > FEW or unsure - seen:
            return False
        if left:
            self.learn(left, repeated | again & unsure, left[-1].number, transaction)
        return True

    def reached(self, reader: Reader) -> int:
        progress = reader.get(TraitProgress, SINGLE_ROW)
        return progress.event if progress is not None and progress.model == self.model else 0

    def learn(self, page: Sequence[Event], again: set[Key], reached: int, transaction: Transaction) -> None:
        """Learn from a page of events: from those that are still there, and were not undone meanwhile."""
        if self.reached(transaction) >= reached:
            return  # another process was at it too
        fold = self.context.catalogue.fold(transaction, self.model)
        there = transaction.many(Event, [event.identity() for event in page])
        undone = transaction.many(Event, [undo_of(event) for event in page])
        gone = leaving(transaction, chain.from_iterable((event.user, event.candidate) for event in page))
        pairs = transaction.many(LatestDecision, [(event.user, event.candidate) for event in page if event.candidate is not None])
        for event in with_features(transaction, sorted(there.values(), key=lambda one: one.number)):
            if event.user in gone:
                continue  # they have no state any more
            if event.kind == EventKind.UNDONE or undo_of(event) in undone:
                if transaction.get(StoredState, self.model, event.user) is None:  # whoever has events has a state
                    transaction.put(fold.encode(event.user, fold.start()))
                continue
            pair = pairs.get((event.user, event.candidate))
            first = None if pair is None or pair.first_answer == event.id else pair.first_answer
            before, repeated = fold.decode(transaction.get(StoredState, self.model, event.user)), event.identity() in again
            if event.candidate in gone:  # nothing new is written about them
                object.__setattr__(event, "said", UNSEEN)
                after = fold.step(before, event, repeated=repeated)
            else:
                after = learn_event(transaction, fold, event, before, repeated=repeated, first_answer=first)
            transaction.put(fold.encode(event.user, after))
        transaction.put(TraitProgress(model=self.model, event=reached))

    def _answered_again(self, reader: Reader, page: Sequence[Event]) -> set[Key]:
        """Swipes that answer somebody again, since the user's last reset: they teach nothing."""
        again, unsure = _repeats(reader, page)
        for user in {user for user, _ in unsure}:
            answered = AnsweredPeople()
            log = without_undone(reader.find(Event, user=user))
            again |= unsure & {event.identity() for event in log if answered.repeats(event)}
        return again

    def _reads(self, page: Sequence[Event]) -> list[RecordKey]:
        users = {event.user for event in page}
        pairs = {(event.user, event.candidate) for event in page if event.candidate is not None}
        return [
            *((Event, event.identity()) for event in page),
            *((StoredState, (self.model, user)) for user in users),
            *((StoredTraits, (self.model, candidate)) for _, candidate in pairs),
            *((LatestDecision, pair) for pair in pairs),
        ]


def _repeats(reader: Reader, page: Sequence[Event]) -> tuple[set[Key], set[Key]]:
    """Swipes that answer somebody again, and those where the user's log has to say whether there was a reset in between."""
    answers = [one for one in page if one.kind == EventKind.SWIPED and one.decision != Decision.SKIP and one.candidate]
    pairs = reader.many(LatestDecision, [(one.user, one.candidate) for one in answers])
    counters = reader.many(PersonCounters, [(one.user,) for one in answers])
    later = [
        one for one in answers if (one.user, one.candidate) in pairs and pairs[one.user, one.candidate].first_answer != one.id
    ]
    unsure = {one.identity() for one in later if (one.user,) in counters and counters[one.user,].resets}
    return {one.identity() for one in later} - unsure, unsure
