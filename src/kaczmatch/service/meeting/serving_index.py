"""What one process keeps in memory to deal decks from: the candidate index, states, exposure. It follows the store.

Everything here can be read again from the store at any time; a deck checks who may be shown in the store once more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import final

from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.appeal import appeal_to
from kaczmatch.service.domain.capacity import without_full
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.records import (
    ActiveVersions,
    Change,
    Event,
    Impression,
    LogRecord,
    Person,
    PersonCounters,
    StoredState,
)
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.profiles import profile_of

_AT_ONCE = 1_000
_FURTHEST = 50_000  # lines at a time; what is missing further back is not waited for: a restored log goes on a million later
_GIVEN_UP = timedelta(seconds=10)  # a number that has not come by then belongs to a commit that never was


@final
@dataclass(slots=True)
class _LogFollower:
    """How far a log has been read. Numbers are given before commits, so one may turn up after a later one: it is waited for."""

    kind: type[Change] | type[Event]
    read_to: int = 0
    missing: dict[int, datetime] | None = None

    @property
    def next(self) -> int:
        """The first number that has not come."""
        return min(self.missing or (), default=self.read_to + 1)

    def new(self, reader: Reader, now: datetime) -> list[Change | Event]:
        missing = self.missing or {}
        lines: list[Change | Event] = [*reader.find(self.kind, after=(self.next - 1,), limit=_FURTHEST)]
        fresh = [line for line in lines if line.number > self.read_to or line.number in missing]
        seen = {line.number for line in lines}
        highest = max((line.number for line in fresh), default=self.read_to)
        since = dict.fromkeys(range(max(self.read_to, highest - _FURTHEST) + 1, highest + 1), now) | missing
        self.missing = {number: at for number, at in since.items() if number not in seen and now - at < _GIVEN_UP}
        self.read_to = max(highest, self.read_to)
        return fresh


@final
class ServingIndex:
    """Filled by `load`. Kept up to date by calling `follow` again and again."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._changes, self._events = _LogFollower(Change), _LogFollower(Event)
        self._following = threading.Lock()
        self._on_erasure: list[Callable[[], object]] = []
        self._people: IndexedStates
        self.exposure: Exposure
        self._served: tuple[ActiveVersions, Recommender]  # together, since decks are dealt while they change

    @property
    def current(self) -> ActiveVersions:
        return self._served[0]

    @property
    def recommender(self) -> Recommender:
        return self._served[1]

    def load(self) -> None:
        """Everybody, from the store."""
        with self._following, self.context.store.read() as reader:
            self._load(reader)

    def _load(self, reader: Reader) -> None:
        for trail in (self._changes, self._events):
            last: list[LogRecord] = [*reader.find(trail.kind, newest=True, limit=1)]
            trail.read_to = max(0, last[0].number - _AT_ONCE) if last else 0  # some before it may not be committed yet
            trail.missing = None
        self._changes.read_to = max(self._changes.read_to, last_dropped_change(reader))
        self.exposure = Exposure(cap=self.context.config.exposure_cap)
        self._rebuild(reader)
        self._load_exposure(reader)

    def follow(self) -> int:
        """Load what has changed in the store since the last call. Returns how many people that concerned."""
        with self._following, self.context.store.read() as reader:
            now = self.context.clock()
            if last_dropped_change(reader) >= self._changes.next:  # before they were read: this process was away for too long
                self._load(reader)
                self.erased(())
                return len(self)
            changed = {line.user for line in self._changes.new(reader, now)}
            events = [line for line in self._events.new(reader, now) if isinstance(line, Event)]
            swiped = {event.user for event in events} - changed
            judged = {event.candidate for event in events if event.candidate is not None} - changed
            if not self._serves(self.context.catalogue.current(reader)):
                self._rebuild(reader)
                self.erased([user for user in changed if user not in self.recommender.index])
            else:
                self._update_people(reader, sorted(changed))
                fold = self.context.catalogue.fold(reader, self.current.model)
                self._update_states(reader, sorted(swiped), fold, self._people)
                self._update_appeal(reader, sorted(judged), self.recommender.index)
            return len(changed | swiped | judged)

    def unread_changes(self, reader: Reader) -> int:
        """How many changes the store has that this process has not read yet, as after an import."""
        newest = reader.find(Change, newest=True, limit=1)
        return max(0, newest[0].number - self._changes.read_to) if newest else 0

    def serving(self, current: ActiveVersions) -> Recommender | None:
        """The recommender for these versions. It follows first if they are new; None: they are out of date already."""
        if not self._serves(current):
            self.follow()
        served, recommender = self._served
        return recommender if _same_versions(served, current) else None

    def remove(self, people: Iterable[str]) -> None:
        """Take people out at once, without waiting for the next `follow`."""
        for user in people:
            self._people.forget(user)
            self.exposure.forget(user)

    def when_erased(self, act: Callable[[], object]) -> None:
        """Call something whenever this process sees that people were erased."""
        self._on_erasure.append(act)

    def erased(self, people: Iterable[str]) -> None:
        """Forget people who were erased, at once and wherever this process may mention them."""
        self.remove(people)
        for act in self._on_erasure:
            act()

    def _serves(self, current: ActiveVersions) -> bool:
        return _same_versions(self.current, current)

    def __len__(self) -> int:
        return len(self.recommender.index)

    def _rebuild(self, reader: Reader) -> None:
        """A new index for another model or vocabulary; when it is complete it takes the place of the old one."""
        context, rules = self.context, self.context.config
        current = context.catalogue.current(reader)
        fold = context.catalogue.fold(reader, current.model)
        vocabulary = context.catalogue.vocabulary(reader, current.vocabulary)
        people = IndexedStates(vocabulary, fold.learner, fold.prior, rules.schema)
        recommender = people.recommender(rules.policy, cooldown=rules.cooldown, repeats=rules.repeats)
        last: tuple[str, ...] = ()
        while page := reader.find(Person, paused=False, after=last, limit=_AT_ONCE):
            self._add(reader, without_full(reader, page, rules.schema), fold, people)
            last = (page[-1].id,)
        self._served, self._people = (current, recommender), people

    def _update_people(self, reader: Reader, people: Sequence[str]) -> None:
        fold = self.context.catalogue.fold(reader, self.current.model)
        for some in _in_parts(people):
            found = reader.many(Person, [(user,) for user in some])
            unpaused = [person for person in found.values() if not person.paused]
            here = without_full(reader, unpaused, self.context.config.schema)
            self.remove(set(some) - {person.id for person in here})
            if len(found) < len(some):
                self.erased(set(some) - {person.id for person in found.values()})
            self._add(reader, here, fold, self._people)

    def _add(self, reader: Reader, new: Sequence[Person], fold: ModelFold, people: IndexedStates) -> None:
        index, schema, ids = people.index, self.context.config.schema, [person.id for person in new]
        index.upsert(*(profile_of(person, index.vocabulary, schema) for person in new))
        self._update_states(reader, ids, fold, people)
        self._update_appeal(reader, ids, index)

    def _update_states(self, reader: Reader, users: Sequence[str], fold: ModelFold, people: IndexedStates) -> None:
        """Load the states of people again."""
        for some in _in_parts(users):
            stored = reader.many(StoredState, [(fold.model, user) for user in some])
            people.learn({user: fold.decode(one).state for (_, user), one in stored.items() if user in people.index})

    def _update_appeal(self, reader: Reader, people: Sequence[str], index: CandidateIndex) -> None:
        """Load the appeal of people again."""
        now, how = self.context.clock(), self.context.config.appeal
        for some in _in_parts(people):
            counters = reader.many(PersonCounters, [(user,) for user in some])
            index.set_appeal({user: appeal_to(one, None, now, how) for (user,), one in counters.items()})

    def _load_exposure(self, reader: Reader) -> None:
        """How often people were shown of late; a process counts the decks it deals, which are a fair sample of all."""
        since = self.context.clock() - timedelta(days=14)
        after: tuple[object, ...] = (since,)
        while page := reader.find(Impression, after=after, limit=_AT_ONCE):
            for card in page:
                if card.candidate in self.recommender.index:
                    self.exposure.record([card.candidate], card.at)
            after = tuple(getattr(page[-1], name) for name in Impression.listed_by())


def _same_versions(one: ActiveVersions, other: ActiveVersions) -> bool:
    return (one.model, one.vocabulary) == (other.model, other.vocabulary)


def grown_state(fold: ModelFold, state: State, vocabulary: Vocabulary) -> State:
    return state if state.dimensions == vocabulary.dimensions else fold.learner.grow(state, vocabulary.dimensions)


def _in_parts(people: Sequence[str]) -> Iterator[Sequence[str]]:
    return (people[first : first + _AT_ONCE] for first in range(0, len(people), _AT_ONCE))
