"""Taking back the last swipe, and starting anew: both are events, and the state is folded again from what remains."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import final

from kaczmatch.service.domain.appeal import less, undecided
from kaczmatch.service.domain.catalogue import Current
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import decisions, recounted
from kaczmatch.service.domain.folding import LIKE, RESET, SESSION_ENDED, SKIP, SWIPED, UNDONE
from kaczmatch.service.domain.records import Change, Event, Impression, Learned, Match, Pair, Standing
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.store import Unit
from kaczmatch.service.meeting.profiles import present


@final
@dataclass(frozen=True, slots=True)
class Undoing:
    """The use cases of going back."""

    context: Context

    def undo(self, user: str, swipe: str) -> Future[Event]:
        """Take back the last swipe, exactly. Undoing it once more changes nothing; after a match it is refused."""

        def work(unit: Unit) -> Event:
            present(unit, user)
            done = unit.get(Event, user, f"~undo:{swipe}")
            if done is not None:
                return done
            event = unit.get(Event, user, swipe)
            if event is None or event.kind != SWIPED or event.candidate is None or event.candidate not in other:
                raise NotFound(f"there is no swipe {swipe!r}")
            events = unit.find(Event, user=user)
            last = next((one for one in reversed(events) if one.kind != SESSION_ENDED), None)
            if last is None or last.id != swipe:
                raise Conflict("only the last swipe can be undone")
            if unit.get(Match, user, event.candidate) is not None:
                raise Conflict("this swipe is part of a match; unmatch instead")
            current = self.context.catalogue.current(unit)
            undone = Event(
                user=user,
                id=f"~undo:{swipe}",
                kind=UNDONE,
                at=self.context.clock(),
                undoes=swipe,
                vocabulary=current.vocabulary,
                model=current.model,
            )
            unit.append(undone)
            self._undecide(unit, event, [*events, undone])
            refold(unit, self.context, current, user, [*events, undone])
            return undone

        with self.context.store.read() as reader:
            event = reader.get(Event, user, swipe)
        # Nobody else works on the candidate then. A swipe that comes after this look was not there when its undo was asked for.
        other = [event.candidate] if event is not None and event.candidate is not None else []
        return self.context.store.write(work, people=[user, *other])

    def reset(self, user: str) -> Future[None]:
        """Forget what was learned; decisions, matches and blocks stay."""

        def work(unit: Unit) -> None:
            present(unit, user)
            current, standing = self.context.catalogue.current(unit), unit.get(Standing, user)
            event = Event(
                user=user,
                id=f"~reset:{self.context.new_id()}",
                kind=RESET,
                at=self.context.clock(),
                vocabulary=current.vocabulary,
                model=current.model,
            )
            events = unit.find(Event, user=user)
            unit.append(event)
            if standing is not None:
                unit.put(replace(standing, talking=False))
            refold(unit, self.context, current, user, [*events, event])

        return self.context.store.write(work, people=[user])

    def _undecide(self, unit: Unit, event: Event, events: list[Event]) -> None:
        """Everything that followed from the swipe, as it was before it."""
        user, other = event.user, event.candidate or ""
        earlier = decisions(events).get(other)
        pair, mine, theirs = unit.get(Pair, user, other), unit.get(Standing, user), unit.get(Standing, other)
        if pair is not None and mine is not None and theirs is not None and event.decision != SKIP:
            how = self.context.rules.appeal
            if earlier is None and pair.weighed is not None:  # all that they ever said of the other
                theirs = less(theirs, pair.excess, pair.information, pair.weighed, how)
            else:
                theirs, pair = undecided(mine, theirs, pair, event.at, liked=event.decision == LIKE, how=how)
            unit.put(theirs)
            unit.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))  # processes remember their appeal
        if mine is not None:
            unit.put(recounted(mine, events))
        if earlier is None or pair is None:
            unit.drop(Pair, user, other)
        else:
            unit.put(replace(pair, decision=earlier.decision or SKIP, decided=earlier.at, swipe=earlier.id))
        card = unit.get(Impression, user, event.deck or "", other)
        if card is not None:
            unit.put(replace(card, answer=None, decision=None))


def refold(unit: Unit, context: Context, current: Current, user: str, events: list[Event]) -> None:
    """The states of a person anew from their events: of the model in use, and of one being built that has come to them."""
    for model in (current.model, current.building):
        if model == current.model or (model and unit.get(Learned, model, user) is not None):
            fold = context.catalogue.fold(unit, model)
            unit.put(fold.written(user, fold.of(events)))
