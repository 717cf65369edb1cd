"""What one process keeps in memory to deal decks from: the candidate index, states, exposure. It follows the store.

Everything here can be read again from the store at any time; a deck checks who may be shown in the store once more. No request
waits for it: a wider vocabulary is prepared beside and swapped in, and so is another model, a few people at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TypeVar, final

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.locks import CHANGES
from kaczmatch.service.domain.log_follower import LogFollower
from kaczmatch.service.domain.records import (
    ActiveVersions,
    Change,
    Event,
    LogRecord,
    Person,
    ServingProcess,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.store import Reader, StoreUnavailable, Transaction
from kaczmatch.service.meeting.others_said import others_said
from kaczmatch.service.meeting.presence import in_decks, newly_away, today
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.recent_exposure import recent_exposure

P = TypeVar("P")

_AT_ONCE = 1_000  # while nobody waits
_BESIDE = 100  # people at a time, while requests are served
_PER_TURN = 2_000  # people whom one turn brings to another model or vocabulary
_SIGN_OF_LIFE = timedelta(seconds=30)


@final
@dataclass(slots=True, eq=False)
class _Generation:
    """The people of the index as one model sees them. A second one is built beside the first when the model changes."""

    model: int
    people: IndexedStates
    recommender: Recommender
    loading: type[StoredState] | type[StoredTraits] = StoredState  # what is being loaded: states first, then traits
    reached: str = ""  # of whom it has been loaded, in the order of identifiers


@final
class ServingIndex:
    """Filled by `load`. Kept up to date by calling `follow` again and again."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._changes, self._events = LogFollower(Change), LogFollower(Event)
        self._following = threading.Lock()
        self._process = ServingProcess(id=context.new_id(), seen=context.clock(), changes_read=0, model=0)
        self._on_erasure: list[Callable[[], object]] = []
        self._day: date  # up to which people who are away were taken out
        self._model = 0  # that decks are dealt by, or will be once everybody is loaded
        self._outgrown: list[Hashable] = []  # whose states are still to be grown to the vocabulary
        self._generation: _Generation
        self._next: _Generation | None = None
        self.rebuilds = 0  # for another model or vocabulary, that were begun
        self.exposure: Exposure
        self.served: tuple[ActiveVersions, Recommender]  # together, since decks are dealt while they change

    @property
    def current(self) -> ActiveVersions:
        return self.served[0]

    @property
    def recommender(self) -> Recommender:
        return self.served[1]

    @property
    def rebuilding(self) -> bool:
        """Whether people are being brought to another model or vocabulary, beside the decks that are dealt."""
        return self._next is not None or bool(self._outgrown)

    def load(self) -> None:
        """Everybody, from the store."""
        with self._following:
            self._load()

    def follow(self) -> int:
        """Load what has changed in the store since the last call. Returns how many people that concerned."""
        with self._following:
            with self.context.store.read() as reader:
                now = self.context.clock()
                away = last_dropped_change(reader) >= self._changes.next  # for so long that changes were dropped unread
                changed = set() if away else {line.user for line in self._changes.new(reader, now)}
                events = [] if away else [line for line in self._events.new(reader, now) if isinstance(line, Event)]
                current = self.context.catalogue.current(reader)
                if not away:
                    self._adopt(reader, current)
                    self.remove(newly_away(reader, self.context, self._day))
                    self._day = today(self.context)
            if away:
                self._load()
                self.erased(())
                return len(self)
            swiped = {event.user for event in events} - changed
            judged = {event.candidate for event in events if event.candidate is not None} - changed
            self._update_people(sorted(changed))
            self._update(sorted(swiped), self._load_states)
            self._update(sorted(judged), self._set_appeal)
            self._grow_some()
            self._build_some()
            self._give_sign_of_life()
            return len(changed | swiped | judged)

    def unread_changes(self, reader: Reader) -> int:
        """How many changes the store has that this process has not read yet, as after an import."""
        newest = reader.find(Change, newest=True, limit=1)
        return max(0, newest[0].number - self._changes.read_to) if newest else 0

    def close(self) -> None:
        """Nothing is kept for this process any more."""
        self.context.store.write(lambda tx: tx.drop(ServingProcess, self._process.id), locks=[CHANGES]).result()

    def remove(self, people: Iterable[str]) -> None:
        """Take people out at once, without waiting for the next `follow`."""
        for user in people:
            for generation in self._generations():
                generation.people.forget(user)
            self.exposure.forget(user)

    def when_erased(self, act: Callable[[], object]) -> None:
        """Call something whenever this process sees that people were erased."""
        self._on_erasure.append(act)

    def erased(self, people: Iterable[str]) -> None:
        """Forget people who were erased, at once and wherever this process may mention them."""
        self.remove(people)
        for act in self._on_erasure:
            act()

    def traits_of(self, model: int, people: Iterable[str]) -> dict[Hashable, Vector]:
        """Traits and doubts of people as decks go by them; nothing where this process deals by another model, or has none."""
        return self._generation.people.traits_of(people) if self._generation.model == model else {}

    def __len__(self) -> int:
        return len(self.recommender.index)

    def _generations(self) -> list[_Generation]:
        return [self._generation, *([] if self._next is None else [self._next])]

    def _load(self) -> None:
        """Page by page, each as of its own moment: what changes meanwhile is in the logs, and is followed afterwards."""
        self._day = today(self.context)
        current, self._process, events_read = self.context.store.write(self._register, locks=[CHANGES]).result()
        for trail, read_to in ((self._changes, self._process.changes_read), (self._events, events_read)):
            trail.read_to, trail.missing = read_to, None
        self._model = current.model
        with self.context.store.read() as reader:
            fold = self.context.catalogue.fold(reader, current.model)
            vocabulary = self.context.catalogue.vocabulary(reader, current.vocabulary)
        people = IndexedStates.of(vocabulary, fold.learner, fold.prior, self.context.config.schema)
        new, last = self._generation_of(current.model, people), tuple[str, ...]()
        while True:
            with self.context.store.read() as reader:
                page = reader.find(Person, paused=False, after=last, limit=_AT_ONCE)
                self._add(reader, in_decks(reader, page, self.context), new)
            if not page:
                break
            last = (page[-1].id,)
            self._give_sign_of_life()
        self.exposure = recent_exposure(self.context, people.index)
        self._generation, self._next, self._outgrown, self.served = new, None, [], (current, new.recommender)

    def _register(self, transaction: Transaction) -> tuple[ActiveVersions, ServingProcess, int]:
        """From here on, changes are kept for this process. Returns the number to follow events from, too."""
        current = self.context.catalogue.current(transaction)
        dropped, last = last_dropped_change(transaction), []
        for trail in (self._changes, self._events):
            newest: list[LogRecord] = [*transaction.find(trail.kind, newest=True, limit=1)]
            last.append(max(0, newest[0].number - _AT_ONCE) if newest else 0)  # some before it may not be committed yet
        seen = replace(self._process, seen=self.context.clock(), changes_read=max(last[0], dropped), model=current.model)
        transaction.put(seen)
        return current, seen, last[1]

    def _give_sign_of_life(self) -> None:
        """Say how far this process has come. If the store cannot take it now, the next turn says it."""
        now, said = self.context.clock(), self._process
        if timedelta(0) <= now - said.seen < _SIGN_OF_LIFE and said.model == self._model:
            return
        process = replace(said, seen=now, changes_read=self._changes.next - 1, model=self._model)
        with suppress(StoreUnavailable):
            self.context.store.write(lambda tx: tx.put(process), locks=[CHANGES]).result()
            self._process = process

    def _adopt(self, reader: Reader, current: ActiveVersions) -> None:
        """Widen what is there for a new vocabulary. Begin another generation for a new model."""
        catalogue, served = self.context.catalogue, self.current
        if current.vocabulary != served.vocabulary:
            self.rebuilds += 1
            vocabulary = catalogue.vocabulary(reader, current.vocabulary)
            for generation in self._generations():
                generation.people.set_vocabulary(vocabulary)
            self.served = (replace(served, vocabulary=current.vocabulary), self.recommender)
            self._outgrown = self._generation.people.outgrown()
        if current.model == served.model:
            self._next = None
        elif self._next is None or self._next.model != current.model:
            self.rebuilds += 1
            fold = catalogue.fold(reader, current.model)
            self._next = self._generation_of(current.model, self._generation.people.relearned(fold.learner, fold.prior))

    def _generation_of(self, model: int, people: IndexedStates) -> _Generation:
        config = self.context.config
        return _Generation(model, people, people.recommender(config.policy, cooldown=config.cooldown, repeats=config.repeats))

    def _grow_some(self) -> None:
        """States over fewer terms than the vocabulary has: decks that need one grow it, and the others grow here."""
        some, self._outgrown = self._outgrown[:_PER_TURN], self._outgrown[_PER_TURN:]
        for part in _in_parts(some):
            self._generation.people.grow(part)
            self.context.rest()

    def _build_some(self) -> None:
        """Load the states of some more people under the next model. When all are there, decks are dealt by it."""
        new = self._next
        if new is None:
            return
        for _ in range(_PER_TURN // _BESIDE):
            with self.context.store.read() as reader:
                page = reader.find(new.loading, model=new.model, after=(new.model, new.reached), limit=_BESIDE)
                self._learn(reader, [one for one in page if isinstance(one, StoredState)], new)
                self._set_appeal(reader, [one.user for one in page if isinstance(one, StoredTraits)], new)
            if len(page) == _BESIDE:
                new.reached = page[-1].user
            elif new.loading is StoredState:
                new.loading, new.reached = StoredTraits, ""
            else:
                self._generation, self._next, self._model = new, None, new.model
                self.served = (replace(self.current, model=new.model), new.recommender)
                self._outgrown = new.people.outgrown()
                return
            self.context.rest()

    def _update_people(self, people: Sequence[str]) -> None:
        for some in _in_parts(people):
            with self.context.store.read() as reader:
                found = reader.many(Person, [(user,) for user in some])
                here = in_decks(reader, found.values(), self.context)
                self.remove(set(some) - {person.id for person in here})
                if len(found) < len(some):
                    self.erased(set(some) - {person.id for person in found.values()})
                for generation in self._generations():
                    self._add(reader, here, generation)
            self.context.rest()

    def _update(self, people: Sequence[str], load: Callable[[Reader, Sequence[str], _Generation], None]) -> None:
        for some in _in_parts(people):
            with self.context.store.read() as reader:
                for generation in self._generations():
                    load(reader, some, generation)
            self.context.rest()

    def _add(self, reader: Reader, new: Sequence[Person], generation: _Generation) -> None:
        index, schema, ids = generation.people.index, self.context.config.schema, [person.id for person in new]
        index.upsert(*(profile_of(person, index.vocabulary, schema) for person in new))
        self._load_states(reader, ids, generation)
        self._set_appeal(reader, ids, generation)

    def _load_states(self, reader: Reader, users: Sequence[str], generation: _Generation) -> None:
        self._learn(reader, reader.many(StoredState, [(generation.model, user) for user in users]).values(), generation)

    def _learn(self, reader: Reader, states: Collection[StoredState], generation: _Generation) -> None:
        fold, people = self.context.catalogue.fold(reader, generation.model), generation.people
        people.learn({one.user: fold.decode(one).state for one in states if one.user in people.index})

    def _set_appeal(self, reader: Reader, people: Sequence[str], generation: _Generation) -> None:
        fold, index = self.context.catalogue.fold(reader, generation.model), generation.people.index
        found = [one for one in reader.many(Person, [(user,) for user in people]).values() if one.id in index]
        said = others_said(reader, self.context, fold, index.vocabulary, found, self.context.clock())
        index.set_appeal({one.id: value for one, value in zip(found, said, strict=True)})


def grown_state(fold: ModelFold, state: State, vocabulary: Vocabulary) -> State:
    return state if state.dimensions == vocabulary.dimensions else fold.learner.grow(state, vocabulary.dimensions)


def _in_parts(people: Sequence[P]) -> Iterator[Sequence[P]]:
    return (people[first : first + _BESIDE] for first in range(0, len(people), _BESIDE))
