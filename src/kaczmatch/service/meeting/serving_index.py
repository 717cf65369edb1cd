"""What one process keeps in memory to deal decks from: the candidate index, states, exposure. It follows the store.

Everything here can be read again from the store at any time; a deck checks who may be shown in the store once more. No request
waits for it: a wider vocabulary is prepared beside and swapped in, and so is another model, a few people at a time. Where there
are many people, a process begins with a snapshot that all processes of its machine share (`index_snapshot`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TypeVar, final

import numpy as np

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
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Reader, StoreUnavailable, Transaction
from kaczmatch.service.meeting.index_snapshot import (
    LONGEST_LIFE,
    RENEWED_BEFORE,
    IndexSnapshot,
    fits,
    open_snapshot,
    write_snapshot,
)
from kaczmatch.service.meeting.others_said import others_said
from kaczmatch.service.meeting.presence import in_decks, newly_away, today
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.recent_exposure import UNDER_WAY, count_decks, recent_exposure
from kaczmatch.service.meeting.snapshot_keeping import SnapshotKeeping

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
        self._at_once = False  # nobody waits: everybody is being loaded
        self._built: datetime  # when everybody was last loaded from the store
        self._counted_until: datetime  # decks up to then were in the exposure when it was loaded
        self._mapped: tuple[int, int] | None = None  # the version of the snapshot that this process has mapped
        self._keeping: SnapshotKeeping | None = None
        self._renewing = False  # another snapshot is being written, and changes are kept for it
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
            now = self.context.clock()
            if last_dropped_change(reader) >= self._changes.next:
                return None
            changed = {line.user for line in self._changes.new(reader, now)}
            events = [line for line in self._events.new(reader, now) if isinstance(line, Event)]
            self._adopt(reader, self.context.catalogue.current(reader))
            self.remove(newly_away(reader, self.context, self._day))
            self._day = today(self.context)
        swiped = {event.user for event in events} - changed
        judged = {event.candidate for event in events if event.candidate is not None} - changed
        self._update_people(sorted(changed))
        self._update(sorted(swiped), self._load_states)
        self._update(sorted(judged), self._set_appeal)
        return len(changed | swiped | judged)

    def unread_changes(self, reader: Reader) -> int:
        """How many changes the store has that this process has not read yet, as after an import."""
        newest = reader.find(Change, newest=True, limit=1)
        return max(0, newest[0].number - self._changes.read_to) if newest else 0

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

    def _generations(self) -> list[_Generation]:
        return [self._generation, *([] if self._next is None else [self._next])]

    def renew_snapshot(self, write: Callable[[], object]) -> bool:
        """Have a process `write` another snapshot (see `write_snapshot`) if much has changed. Whether it did."""
        files, keeping = self.context.snapshot, self._keeping
        if files is None or keeping is None or self.rebuilding:
            return False
        too_old = self.context.clock() - self._built > LONGEST_LIFE - RENEWED_BEFORE
        if not (too_old or keeping.is_due(self.current, self._events.read_to, len(self))):
            return False
        self._renewing = True
        try:
            write()
            with self._following:
                self._put_in_place(files)
        finally:
            self._renewing = False
        return True

    def write_snapshot(self) -> None:
        """Load everybody into a process that does nothing else, and write a snapshot beside the one that is there."""
        files = self.context.snapshot
        if files is None:
            raise RuntimeError("there is no folder for a snapshot")
        with self._following, files.building():
            if not self._open(files, serving=False):
                self._build(serving=False)
            self._write(files)

    def _load(self) -> None:
        files = self.context.snapshot
        self._at_once = True
        try:
            if files is not None:
                files.tidy()
            if files is None:
                self._build()
            elif not self._open(files):
                with files.building():  # several processes start at once: the others wait, and open what the first has built
                    if not self._open(files):
                        self._build()
                        if len(self._generation.people.index) >= files.least_people:
                            self._write(files)
                            self._put_in_place(files)
                            self._open(files)
            count_decks(self.context, self.exposure, self._counted_until)
        finally:
            self._at_once = False

    def _go_over_to_new_snapshot(self) -> None:
        """What this process has changed of the old one need not stay in its memory."""
        files = self.context.snapshot
        if files is not None and self._mapped is not None and files.version() not in (self._mapped, None):
            self._mapped = self._keeping = None
            if self._open(files):
                count_decks(self.context, self.exposure, self._counted_until)

    def _build(self, *, serving: bool = True) -> None:
        """Page by page, each as of its own moment: what changes meanwhile is in the logs, and is followed afterwards."""
        self._day, self._built = today(self.context), self.context.clock()
        current, changes_read, events_read = self._begin(serving=serving)
        for trail, read_to in ((self._changes, changes_read), (self._events, events_read)):
            trail.read_to, trail.missing = read_to, None
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
            if serving:
                self._give_sign_of_life()
        self.exposure, self._counted_until = recent_exposure(self.context, people.index)
        self._mapped, self._keeping = None, None
        self._deal_by(new, current)

    def _open(self, files: SnapshotFiles, *, serving: bool = True) -> bool:
        """Map the snapshot, and apply what has changed since. False: there is none, or it does not fit."""
        life = LONGEST_LIFE if serving else LONGEST_LIFE - RENEWED_BEFORE
        version, found = files.version(), open_snapshot(files, self.context, self.context.clock() - life)
        if found is None:
            return False
        if serving:
            registered = self.context.store.write(partial(self._register, snapshot=found), locks=[CHANGES]).result()
            if registered is None:
                return False
            self._process = registered
        else:
            with self.context.store.read() as reader:
                if not fits(found, reader):
                    return False
        self._day, self._built = found.day, found.built
        self._changes.read_to, self._changes.missing = found.changes, None
        self._events.read_to, self._events.missing = found.events, None
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            vocabulary = self.context.catalogue.vocabulary(reader, current.vocabulary)
            changed = sorted(reader.people_with(found.stale.tolist()).values())
        found.people.set_vocabulary(vocabulary)
        found.people.grow(found.people.outgrown())
        self.exposure, self._counted_until = found.exposure, self.context.clock() - UNDER_WAY
        count_decks(self.context, self.exposure, found.counted_until, self._counted_until)
        self._mapped, self._keeping = version, None
        self._deal_by(
            self._generation_of(found.versions.model, found.people), replace(found.versions, vocabulary=current.vocabulary)
        )
        self._update_people(changed)
        self._update(found.odd, self._load_states)
        while read := self._read_logs():
            pass
        return read is not None

    def _deal_by(self, new: _Generation, versions: ActiveVersions) -> None:
        self._model = versions.model
        self._generation, self._next, self._outgrown, self.served = new, None, [], (versions, new.recommender)

    def _begin(self, *, serving: bool) -> tuple[ActiveVersions, int, int]:
        """The versions in use, and the numbers to follow changes and events from."""
        if serving:
            registered = self.context.store.write(self._register, locks=[CHANGES]).result()
            self._process = registered or self._process
        with self.context.store.read() as reader:
            changes, events = self._recent(reader)
            current = self.context.catalogue.current(reader)
        return current, self._process.changes_read if serving else changes, events

    def _recent(self, reader: Reader) -> tuple[int, int]:
        """Numbers of a change and an event before the newest: some before those may not be committed yet."""
        last = []
        for kind in (Change, Event):
            newest: list[LogRecord] = [*reader.find(kind, newest=True, limit=1)]
            last.append(max(0, newest[0].number - _AT_ONCE) if newest else 0)
        return max(last[0], last_dropped_change(reader)), last[1]

    def _register(self, transaction: Transaction, snapshot: IndexSnapshot | None = None) -> ServingProcess | None:
        """From here on, changes are kept for this process. None: the store does not know the snapshot, or has dropped changes."""
        if snapshot is not None and not fits(snapshot, transaction):
            return None
        model, now = self.context.catalogue.current(transaction).model, self.context.clock()
        read_to = self._recent(transaction)[0] if snapshot is None else snapshot.changes
        process = replace(self._process, seen=now, changes_read=read_to, model=model)
        transaction.put(process)
        if snapshot is not None:
            transaction.put(replace(process, id=snapshot.id))
        return process

    def _write(self, files: SnapshotFiles) -> None:
        versions, people = self.current, self._generation.people
        made = IndexSnapshot(
            id=self.context.new_id(),
            built=self._built,
            people=people,
            exposure=self.exposure,
            counted_until=self._counted_until,
            versions=versions,
            changes=self._changes.next - 1,
            events=self._events.next - 1,
            day=self._day,
            stale=np.empty(0, np.int64),
            odd=[],
        )
        write_snapshot(files, self.context, made)

    def _put_in_place(self, files: SnapshotFiles) -> None:
        """From here on changes are kept for the snapshot that was written, and no longer for the one before."""
        new, old, now = files.about(files.next), files.about(), self.context.clock()
        if new is None:
            raise RuntimeError(f"{files.next}: the snapshot that was written there cannot be read")

        def work(transaction: Transaction) -> None:
            transaction.put(ServingProcess(id=new["id"], seen=now, changes_read=new["changes"], model=new["model"]))
            if old is not None:
                transaction.drop(ServingProcess, old["id"])

        self.context.store.write(work, locks=[CHANGES]).result()
        files.swap()
        self._keeping = None

    def _keep_snapshot(self) -> None:
        """One process per machine writes down, by number, who has changed since the snapshot: changes are dropped some day."""
        files = self.context.snapshot
        if files is None or self._mapped is None or self._renewing or files.version() != self._mapped or not files.is_keeper():
            return
        self._keeping = self._keeping or SnapshotKeeping.of(files)
        if self._keeping is None or not self._keeping.note_changes(files, self._mapped, self.context):
            self._mapped, self._keeping = None, None  # it cannot be brought up to date any more

    def _give_sign_of_life(self) -> None:
        """Say how far this process has come. If the store cannot take it now, the next turn says it."""
        now, said = self.context.clock(), self._process
        if timedelta(0) <= now - said.seen < _SIGN_OF_LIFE and said.model == self._model:
            return
        process = replace(said, seen=now, changes_read=self._changes.next - 1, model=self._model)
        told = [process]
        if self._keeping is not None:
            told.append(replace(process, id=self._keeping.snapshot, changes_read=self._keeping.changes.next - 1))

        def work(transaction: Transaction) -> None:
            for one in told:
                transaction.put(one)

        with suppress(StoreUnavailable):
            self.context.store.write(work, locks=[CHANGES]).result()
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
                self._set_appeal(reader, [one.user for one in page if isinstance(one, StoredTraits)], new)
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

    def _update(self, people: Sequence[str], load: Callable[[Reader, Sequence[str], _Generation], None]) -> None:
        for some in self._in_parts(people):
            with self.context.store.read() as reader:
                for generation in self._generations():
                    load(reader, some, generation)

    def _in_parts(self, people: Sequence[P]) -> Iterator[Sequence[P]]:
        """A few at a time, with a rest after each, while requests are served."""
        size = _AT_ONCE if self._at_once else _BESIDE
        for first in range(0, len(people), size):
            yield people[first : first + size]
            if not self._at_once:
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
