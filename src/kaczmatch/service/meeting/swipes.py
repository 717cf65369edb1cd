"""A swipe: event, new state, match and message in one commit; its undoing; the end of a session."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.filters import allowed
from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain.appeal import appeal_to, counted, told
from kaczmatch.service.domain.catalogue import Current
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import LIKE, PASS, SESSION_ENDED, SKIP, SWIPED
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.quotas import SWIPES, spend
from kaczmatch.service.domain.records import Block, Event, Fact, Impression, Learned, Match, Pair, Person, Standing
from kaczmatch.service.domain.refusals import Conflict, NotFound, Reused
from kaczmatch.service.domain.store import Unit, Wanted
from kaczmatch.service.meeting.profiles import HELD, checked_id, columns_of, present, profile_of, standing


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Swipe:
    """What a client sends: an id of its own choice makes it safe to send again."""

    user: str
    id: str
    candidate: str
    decision: str
    deck: str


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """What a swipe came to: its event, the match it made, and whether it had been received before."""

    event: Event
    repeated: bool

    @property
    def match(self) -> str | None:
        return self.event.match


@final
@dataclass(frozen=True, slots=True)
class Swiping:
    """The use cases of a swipe."""

    context: Context

    def swipe(self, swipe: Swipe) -> Future[Answer]:
        """Learn from a swipe on a card of a deck. It is done when it is on disk."""
        _check(swipe)
        return self.context.store.write(
            lambda unit: self._swipe(unit, swipe), people=(swipe.user, swipe.candidate), reads=self._reads(swipe)
        )

    def end_session(self, user: str, *, at: datetime | None = None) -> Future[bool]:
        """End the open session, if there is one: block rules learn then. With `at`, only if nothing came after that moment."""

        def work(unit: Unit) -> bool:
            present(unit, user)
            standing = unit.get(Standing, user)
            if standing is None or not standing.talking:
                return False
            if at is not None and standing.swiped > at:
                return False
            moment = self.context.clock() if at is None else standing.swiped + self.context.rules.session_silence
            self._ended(unit, standing, moment)
            unit.put(replace(standing, talking=False))
            return True

        return self.context.store.write(work, people=[user], reads=[(Person, (user,)), (Standing, (user,)), catalogue.WANTED])

    def imported(self, swipe: Swipe, at: datetime) -> Future[Answer]:
        """A swipe that was made elsewhere: no card is needed, and it is marked as imported."""
        _check(swipe)

        def work(unit: Unit) -> Answer:
            known = unit.get(Event, swipe.user, swipe.id)
            if known is not None:
                return _again(known, replace(swipe, deck=known.deck or ""))  # our own export names no decks
            present(unit, swipe.user)
            spent, them = standing(unit, swipe.user).spent, present(unit, swipe.candidate)
            return self._learn(unit, swipe, them, spent, min(at, self.context.clock()), imported=True)

        return self.context.store.write(work, people=(swipe.user, swipe.candidate), reads=self._reads(swipe))

    def _swipe(self, unit: Unit, swipe: Swipe) -> Answer:
        known = unit.get(Event, swipe.user, swipe.id)
        if known is not None:
            return _again(known, swipe)
        now, me = self.context.clock(), present(unit, swipe.user)
        card = unit.get(Impression, swipe.user, swipe.deck, swipe.candidate)
        them = unit.get(Person, swipe.candidate)
        if card is None or them is None or self._kept_apart(unit, swipe) or not self._compatible(unit, me, them, card, now):
            # One answer for all of these: a block, an erasure and a person who never was look alike.
            raise NotFound(f"there is no card of {swipe.candidate!r} in deck {swipe.deck!r}")
        if me.paused:
            raise Conflict("a paused person cannot swipe; resume first")
        if self._matched(unit, swipe):
            raise Conflict(f"{swipe.user!r} and {swipe.candidate!r} have matched")
        if card.answer is not None:
            raise Conflict(f"this card was answered by swipe {card.answer!r}; undo that first")
        spent = spend(standing(unit, swipe.user), SWIPES, self.context.rules.swipes, now)
        unit.put(card.answered(swipe.id, swipe.decision))
        return self._learn(unit, swipe, them, spent, now, imported=False)

    def _learn(self, unit: Unit, swipe: Swipe, them: Person, spent: bytes, now: datetime, *, imported: bool) -> Answer:
        """Append the event and bring everything that follows from it up to date."""
        rules = self.context.rules
        current = self.context.catalogue.current(unit)
        mine, theirs = standing(unit, swipe.user), standing(unit, swipe.candidate)
        pair = unit.get(Pair, swipe.user, swipe.candidate)
        if mine.talking and now - mine.swiped >= rules.session_silence:
            self._ended(unit, mine, mine.swiped + rules.session_silence)
            mine = replace(mine, talking=False)
        back = unit.get(Pair, swipe.candidate, swipe.user)
        known = pair if imported and pair is not None and pair.decided > now else None  # an import may be older than what stands
        mutual = known is None and swipe.decision == LIKE and back is not None and back.decision == LIKE
        new = mutual and not self._matched(unit, swipe) and not self._kept_apart(unit, swipe)
        event = Event(
            user=swipe.user,
            id=swipe.id,
            kind=SWIPED,
            at=now,
            candidate=swipe.candidate,
            decision=swipe.decision,
            features=them.features,
            appeal=appeal_to(theirs, pair, now, rules.appeal),
            vocabulary=current.vocabulary,
            model=current.model,
            deck=swipe.deck or None,
            match=self.context.new_id() if new else None,
            imported=imported,
        )
        unit.append(event)
        self._fold(unit, current, event)
        counts, liked = swipe.decision != SKIP, swipe.decision == LIKE
        own: tuple[float, float, datetime | None] = (pair.excess, pair.information, pair.weighed) if pair else (0.0, 0.0, None)
        if counts:
            said = told(mine, liked=liked)
            unit.put(theirs.weighed_anew(*counted(theirs, said, now, rules.appeal)))
            own = counted(pair, said, now, rules.appeal)
        latest = Pair(
            user=swipe.user,
            other=swipe.candidate,
            decision=swipe.decision if known is None else known.decision,
            decided=now if known is None else known.decided,
            swipe=swipe.id if known is None else known.swipe,
            excess=own[0],
            information=own[1],
            weighed=own[2],
        )
        unit.put(latest)
        session = mine.session if mine.talking else swipe.id
        unit.put(mine.after_swipe(now, session, spent, counts=counts, liked=liked))
        if event.match is not None:
            self._match(unit, event, event.match, now)
        return Answer(event, repeated=False)

    def _match(self, unit: Unit, event: Event, match: str, now: datetime) -> None:
        for user, other in ((event.user, event.candidate or ""), (event.candidate or "", event.user)):
            unit.put(Match(user=user, other=other, id=match, at=now))
            if not event.imported:  # whoever brings its history knows its matches
                body = {"match": match, "user": user, "other": other}
                announce(unit, self.context, "match.created", user, body, other=other)

    def _ended(self, unit: Unit, standing: Standing, at: datetime) -> None:
        current = self.context.catalogue.current(unit)
        event = Event(
            user=standing.user,
            id=f"~end:{self.context.new_id()}",  # no client can choose such an id
            kind=SESSION_ENDED,
            at=at,
            vocabulary=current.vocabulary,
            model=current.model,
        )
        unit.append(event)
        self._fold(unit, current, event)

    def _fold(self, unit: Unit, current: Current, event: Event) -> None:
        """One more step of the model in use, and of one that is being built if it has come to this person already."""
        for model in (current.model, current.building):
            if not model:
                continue
            learned = unit.get(Learned, model, event.user)
            if learned is None and model == current.building:
                continue
            fold = self.context.catalogue.fold(unit, model)
            unit.put(fold.written(event.user, fold.step(fold.read(learned), event)))

    def _matched(self, unit: Unit, swipe: Swipe) -> bool:
        """A match needs that each has decided on the other, and of most cards neither side has: those need no look-up."""
        user, other = swipe.user, swipe.candidate
        decided = unit.get(Pair, user, other) is not None and unit.get(Pair, other, user) is not None
        return decided and unit.get(Match, user, other) is not None

    def _kept_apart(self, unit: Unit, swipe: Swipe) -> bool:
        user, other = swipe.user, swipe.candidate
        return unit.get(Block, user, other) is not None or unit.get(Block, other, user) is not None

    def _compatible(self, unit: Unit, me: Person, them: Person, card: Impression, now: datetime) -> bool:
        """Whether the two still pass the filters; they did when the card was dealt, so only changes are looked at.

        Who has paused themselves may still be answered; whom an operator holds back not.
        """
        if them.paused and unit.get(Fact, HELD + them.id) is not None:
            return False
        if max(me.changed, them.changed) <= card.at and card.at.astimezone(UTC).date() == now.astimezone(UTC).date():
            return True
        version = self.context.catalogue.current(unit).vocabulary
        words, schema = self.context.catalogue.vocabulary(unit, version), self.context.rules.schema
        return bool(allowed(profile_of(me, words, schema), columns_of([them], schema), now.astimezone(UTC).date())[0])

    def _reads(self, swipe: Swipe) -> list[Wanted]:
        user, other = swipe.user, swipe.candidate
        last = self.context.catalogue.last
        models = [model for model in (last.model, last.building) if model] if last else []
        return [
            catalogue.WANTED,
            (Event, (user, swipe.id)),
            (Person, (user,)),
            (Person, (other,)),
            (Impression, (user, swipe.deck, other)),
            (Block, (user, other)),
            (Block, (other, user)),
            (Standing, (user,)),
            (Standing, (other,)),
            (Pair, (user, other)),
            (Pair, (other, user)),
            *((Learned, (model, user)) for model in models),
        ]


def _check(swipe: Swipe) -> None:
    checked_id(swipe.user), checked_id(swipe.id), checked_id(swipe.candidate)
    if swipe.decision not in (LIKE, PASS, SKIP):
        raise InvalidInput("decision", f"must be like, pass or skip, got {swipe.decision!r}")
    if swipe.candidate == swipe.user:
        raise InvalidInput("candidate", "nobody swipes on themselves")


def _again(known: Event, swipe: Swipe) -> Answer:
    """The same answer to the same swipe; another one under its id is a mistake."""
    said = (known.kind, known.candidate, known.decision, known.deck or "")
    if said != (SWIPED, swipe.candidate, swipe.decision, swipe.deck):
        raise Reused(f"the id {swipe.id!r} was used for another swipe")
    return Answer(known, repeated=True)
