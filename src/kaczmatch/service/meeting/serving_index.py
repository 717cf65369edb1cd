"""What one process keeps in memory to deal decks from: the candidate index, states, exposure. It follows the store.

Everything here can be read again from the store at any time; a deck checks who may be shown in the store once more. No request
waits for it: a wider vocabulary is prepared beside and swapped in, and so is another model, a few people at a time. Where there
are many people, a process begins with a snapshot that all processes of its machine share (`index_snapshot`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, final

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.locks import CHANGES
from kaczmatch.service.domain.records import (
    ActiveVersions,
    Change,
    Event,
    Person,
    ServingProcess,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.generation import Generation, generation_of
from kaczmatch.service.meeting.index_loading import AT_ONCE, IndexLoading
from kaczmatch.service.meeting.others_said import others_said, said_as_appeal
from kaczmatch.service.meeting.presence import in_decks, newly_away, today
from kaczmatch.service.meeting.profiles import profile_of

P = TypeVar("P")

_BESIDE = 100  # people at a time, while requests are served
_PER_TURN = 2_000  # people whom one turn brings to another model or vocabulary


@final
class ServingIndex(IndexLoading):
    """Filled by `load`. Kept up to date by calling `follow` again and again."""

    @property
    def recommender(self) -> Recommender:
        return self.served[1]

    def load(self) -> None:
        """Everybody, from the snapshot or from the store."""
        with self._following:
            self._load()

    def follow(self) -> int:
        """Load what has changed in the store since the last call. Returns how many people that concerned."""
        with self._following:
            self._go_over_to_new_snapshot()
            concerned = self._read_logs()
            if concerned is None:
                self._load()
                self.erased(())
                return len(self)
            self._grow_some()
            self._build_some()
            self._keep_snapshot()
            self._give_sign_of_life()
            return concerned

    def _read_logs(self) -> int | None:
        """None: the process was away for so long that changes were dropped unread."""
        with self.context.store.read() as reader:
            if last_dropped_change(reader) > self._changes.settled:
                return None
            changes, changes_read = reader.became_visible(Change, self._changes)
            events, events_read = reader.became_visible(Event, self._events)
            changed = {line.user for line in changes}
            self._adopt(reader, self.context.catalogue.current(reader))
            self.remove(newly_away(reader, self.context, self._day))
            self._day = today(self.context)
        swiped = {event.user for event in events} - changed
        judged = {event.candidate for event in events if event.candidate is not None} - changed
        self._update_people(sorted(changed))
        self._update(sorted(swiped), self._load_states)
        self._update(sorted(judged), self._set_others)
        self._changes, self._events = changes_read, events_read  # not before: after an outage all of it is applied again
        return len(changed | swiped | judged)

    def unread_changes(self, reader: Reader) -> int:
        """How many changes the store has that this process has not read yet, as after an import."""
        newest = reader.find(Change, newest=True, limit=1)
        return max(0, newest[0].number - self._changes.newest) if newest else 0

    def close(self) -> None:
        """Nothing is kept for this process any more."""
        if self.context.snapshot is not None:
            self.context.snapshot.let_go()
        self.context.store.write(lambda tx: tx.drop(ServingProcess, self._process.id), locks=[CHANGES]).result()

    def remove(self, people: Iterable[str]) -> None:
        """Take people out at once, without waiting for the next `follow`."""
        for user in people:
            self.exposure.forget(user)  # first: it goes by the numbers of the index
            for generation in self._generations():
                generation.people.forget(user)

    def when_erased(self, act: Callable[[], object]) -> None:
        """Call something whenever this process sees that people were erased."""
        self._on_erasure.append(act)

    def erased(self, people: Iterable[str]) -> None:
        """Forget people who were erased, at once and wherever this process, or its machine's snapshot, may mention them."""
        gone = list(people)
        self.remove(gone)
        if self.context.snapshot is not None:
            for user in gone:
                self.context.snapshot.overwrite(user)
        for act in self._on_erasure:
            act()

    def traits_of(self, model: int, people: Iterable[str]) -> dict[Hashable, Vector]:
        """Traits and doubts of people as decks go by them; nothing where this process deals by another model, or has none."""
        return self._generation.people.traits_of(people) if self._generation.model == model else {}

    def __len__(self) -> int:
        return len(self.recommender.index)

    def _generations(self) -> list[Generation]:
        return [self._generation, *([] if self._next is None else [self._next])]

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
            self._next = generation_of(self.context, current.model, self._generation.people.relearned(fold.learner, fold.prior))

    def _grow_some(self) -> None:
        """States over fewer terms than the vocabulary has: decks that need one grow it, and the others grow here."""
        some, self._outgrown = self._outgrown[:_PER_TURN], self._outgrown[_PER_TURN:]
        for part in self._in_parts(some):
            self._generation.people.grow(part)

    def _build_some(self) -> None:
        """Load the states of some more people under the next model. When all are there, decks are dealt by it."""
        new = self._next
        if new is None:
            return
        for _ in range(_PER_TURN // _BESIDE):
            with self.context.store.read() as reader:
                page = reader.find(new.loading, model=new.model, after=(new.model, new.reached), limit=_BESIDE)
                self._learn(reader, [one for one in page if isinstance(one, StoredState)], new)
                self._set_others(reader, [one.user for one in page if isinstance(one, StoredTraits)], new)
            if len(page) == _BESIDE:
                new.reached = page[-1].user
            elif new.loading is StoredState:
                new.loading, new.reached = StoredTraits, ""
            else:
                self.exposure = self.exposure.moved_to(new.people.index.ids_and_numbers)
                self._generation, self._next, self._model = new, None, new.model
                self.served = (replace(self.current, model=new.model), new.recommender)
                self._outgrown = new.people.outgrown()
                return
            self.context.rest()

    def _update_people(self, people: Sequence[str]) -> None:
        for some in self._in_parts(people):
            with self.context.store.read() as reader:
                found = reader.many(Person, [(user,) for user in some])
                here = in_decks(reader, found.values(), self.context)
                self.remove(set(some) - {person.id for person in here})
                if len(found) < len(some):
                    self.erased(set(some) - {person.id for person in found.values()})
                for generation in self._generations():
                    self._add(reader, here, generation)

    def _update(self, people: Sequence[str], load: Callable[[Reader, Sequence[str], Generation], None]) -> None:
        for some in self._in_parts(people):
            with self.context.store.read() as reader:
                for generation in self._generations():
                    load(reader, some, generation)

    def _in_parts(self, people: Sequence[P]) -> Iterator[Sequence[P]]:
        """A few at a time, with a rest after each, while requests are served."""
        size = AT_ONCE if self._at_once else _BESIDE
        for first in range(0, len(people), size):
            yield people[first : first + size]
            if not self._at_once:
                self.context.rest()

    def _add(self, reader: Reader, new: Sequence[Person], generation: Generation) -> None:
        index, schema, ids = generation.people.index, self.context.config.schema, [person.id for person in new]
        index.upsert(*(profile_of(person, index.vocabulary, schema) for person in new))
        self._load_states(reader, ids, generation)
        self._set_others(reader, ids, generation)

    def _load_states_of(self, users: Sequence[str]) -> None:
        self._update(users, self._load_states)

    def _load_states(self, reader: Reader, users: Sequence[str], generation: Generation) -> None:
        self._learn(reader, reader.many(StoredState, [(generation.model, user) for user in users]).values(), generation)

    def _learn(self, reader: Reader, states: Collection[StoredState], generation: Generation) -> None:
        fold, people = self.context.catalogue.fold(reader, generation.model), generation.people
        here = self._here([one.user for one in states], generation)
        people.learn({one.user: fold.decode(one).state for one in states if one.user in here})

    def _set_others(self, reader: Reader, people: Sequence[str], generation: Generation) -> None:
        fold, index, here = self.context.catalogue.fold(reader, generation.model), generation.people.index, [*people]
        if fold.traits is None:
            said = said_as_appeal(reader, self.context, here, self.context.clock())
        else:  # what tags lead to expect is a part of them
            known = self._here(people, generation)
            found = [*reader.many(Person, [(user,) for user in people if user in known]).values()]
            here = [one.id for one in found]
            said = others_said(reader, self.context, fold, index.vocabulary, found, self.context.clock())
        index.set_others(dict(zip(here, said, strict=True)))

    def _here(self, people: Sequence[str], generation: Generation) -> set[str]:
        """Those who are in the index."""
        numbers = generation.people.index.numbers_of(people).tolist()
        return {user for user, number in zip(people, numbers, strict=True) if number >= 0}


def grown_state(fold: ModelFold, state: State, vocabulary: Vocabulary) -> State:
    return state if state.dimensions == vocabulary.dimensions else fold.learner.grow(state, vocabulary.dimensions)
