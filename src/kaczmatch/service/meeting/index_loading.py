"""How a process comes to the people it deals decks from: from the store, or from a snapshot that its machine shares.

It also has the snapshot renewed, and keeps it up to date (`index_snapshot`).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import CHANGES
from kaczmatch.service.domain.records import ActiveVersions, Change, Event, Person, ServingProcess
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Cursor, Reader, StoreUnavailable, Transaction
from kaczmatch.service.meeting.generation import Generation, generation_of
from kaczmatch.service.meeting.index_snapshot import (
    LONGEST_LIFE,
    RENEWED_BEFORE,
    IndexSnapshot,
    fits,
    open_snapshot,
    write_snapshot,
)
from kaczmatch.service.meeting.presence import in_decks, today
from kaczmatch.service.meeting.recent_exposure import UNDER_WAY, count_decks, recent_exposure
from kaczmatch.service.meeting.snapshot_keeping import SnapshotKeeping

AT_ONCE = 1_000  # people, while nobody waits
_SIGN_OF_LIFE = timedelta(seconds=30)


class IndexLoading(ABC):
    """What a process has in memory, and how it gets it. `ServingIndex` keeps it up to date."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._changes = self._events = Cursor()  # how far the logs have been applied
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
        self._generation: Generation
        self._next: Generation | None = None
        self.snapshot_problem = ""  # why this process shares none
        self.rebuilds = 0  # for another model or vocabulary, that were begun
        self.exposure: Exposure
        self.served: tuple[ActiveVersions, Recommender]  # together, since decks are dealt while they change

    @property
    def current(self) -> ActiveVersions:
        return self.served[0]

    @property
    def rebuilding(self) -> bool:
        """Whether people are being brought to another model or vocabulary, beside the decks that are dealt."""
        return self._next is not None or bool(self._outgrown)

    @abstractmethod
    def _read_logs(self) -> int | None:
        """Apply what is new in the logs. Returns how many people it concerned; None: changes were dropped unread."""

    @abstractmethod
    def _add(self, reader: Reader, new: Sequence[Person], generation: Generation) -> None: ...

    @abstractmethod
    def _update_people(self, people: Sequence[str]) -> None: ...

    @abstractmethod
    def _load_states_of(self, users: Sequence[str]) -> None: ...

    def renew_snapshot(self, write: Callable[[], object]) -> bool:
        """Have a process `write` another snapshot (see `write_snapshot`) if much has changed. Whether it did."""
        files, keeping = self.context.snapshot, self._keeping
        if files is None or keeping is None or self.rebuilding:
            return False
        too_old = self.context.clock() - self._built > LONGEST_LIFE - RENEWED_BEFORE
        if too_old or keeping.is_due(self.current, self._events.newest, len(self._generation.people.index)):
            with files.renewing() as mine:
                if mine:
                    write()
                    with files.building(), self._following:
                        self._put_in_place(files)
                return mine
        return False

    def write_snapshot(self) -> None:
        """Load everybody into a process that does nothing else, and write a snapshot beside the one that is there.

        It has the id of this process: where everybody is read from the store, changes are kept for it from the beginning.
        """
        files = self.context.snapshot
        if files is None:
            raise RuntimeError("there is no folder for a snapshot")
        with self._following, files.building():
            if not self._open(files, serving=False):
                self._build(serving=False)
            self._write(files, self._process.id)

    def _load(self) -> None:
        files, self._at_once = self.context.snapshot, True
        try:
            if files is None:
                self._build()
            else:
                self._load_shared(files)
            count_decks(self.context, self.exposure, self._counted_until)
        finally:
            self._at_once = False

    def _load_shared(self, files: SnapshotFiles) -> None:
        """Where the files cannot be written or read, this process has everybody for itself."""
        built = False
        try:
            files.tidy()
            if not self._open(files):
                with files.building():  # several processes start at once: the others wait, and open what the first has built
                    if not self._open(files):
                        self._build()
                        built = True
                        if len(self._generation.people.index) >= files.least_people:
                            self._write(files, self.context.new_id())
                            self._put_in_place(files)
                            self._open(files)
        except (OSError, InvalidInput) as error:
            self.snapshot_problem = f"{files.folder}: {getattr(error, 'strerror', None) or error}"
            if not built:
                self._build()

    def _go_over_to_new_snapshot(self) -> None:
        """What this process has changed of the old one need not stay in its memory."""
        files = self.context.snapshot
        if files is not None and self._mapped is not None and files.version() not in (self._mapped, None):
            if self._open(files):
                count_decks(self.context, self.exposure, self._counted_until)
            else:
                self._let_go(files)

    def _build(self, *, serving: bool = True) -> None:
        """Page by page, each as of its own moment: what changes meanwhile is in the logs, and is followed afterwards."""
        self._day, self._built = today(self.context), self.context.clock()
        current = self._begin()
        with self.context.store.read() as reader:
            fold = self.context.catalogue.fold(reader, current.model)
            vocabulary = self.context.catalogue.vocabulary(reader, current.vocabulary)
        people = IndexedStates.of(vocabulary, fold.learner, fold.prior, self.context.config.schema)
        new, last = generation_of(self.context, current.model, people), tuple[str, ...]()
        while True:
            with self.context.store.read() as reader:
                page = reader.find(Person, paused=False, after=last, limit=AT_ONCE)
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
        self._changes, self._events = found.changes, found.events
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            vocabulary = self.context.catalogue.vocabulary(reader, current.vocabulary)
            changed = sorted(reader.people_with(found.stale.tolist()).values())
        found.people.set_vocabulary(vocabulary)
        found.people.grow(found.people.outgrown())
        self.exposure, self._counted_until = found.exposure, self.context.clock() - UNDER_WAY
        count_decks(self.context, self.exposure, found.counted_until, self._counted_until)
        self._mapped, self._keeping = version, None
        opened = generation_of(self.context, found.versions.model, found.people)
        self._deal_by(opened, replace(found.versions, vocabulary=current.vocabulary))
        self._update_people(changed)
        self._load_states_of(found.odd)
        while read := self._read_logs():
            pass
        return read is not None

    def _deal_by(self, new: Generation, versions: ActiveVersions) -> None:
        self._model = versions.model
        self._generation, self._next, self._outgrown, self.served = new, None, [], (versions, new.recommender)

    def _begin(self) -> ActiveVersions:
        """The versions in use. From here on, the logs are followed."""
        self._process = self.context.store.write(self._register, locks=[CHANGES]).result() or self._process
        with self.context.store.read() as reader:
            (_, changes), (_, self._events) = reader.became_visible(Change, None), reader.became_visible(Event, None)
            self._changes = replace(changes, settled=max(changes.settled, last_dropped_change(reader)))
            return self.context.catalogue.current(reader)

    def _register(self, transaction: Transaction, snapshot: IndexSnapshot | None = None) -> ServingProcess | None:
        """From here on, changes are kept for this process. None: the store does not know the snapshot, or has dropped changes."""
        if snapshot is not None and not fits(snapshot, transaction):
            return None
        model, now = self.context.catalogue.current(transaction).model, self.context.clock()
        read_to = last_dropped_change(transaction) if snapshot is None else snapshot.changes.settled
        process = replace(self._process, seen=now, changes_read=read_to, model=model)
        transaction.put(process)
        if snapshot is not None:
            transaction.put(replace(process, id=snapshot.id))
        return process

    def _write(self, files: SnapshotFiles, snapshot: str) -> None:
        made = IndexSnapshot(
            id=snapshot,
            built=self._built,
            people=self._generation.people,
            exposure=self.exposure,
            counted_until=self._counted_until,
            versions=self.current,
            changes=self._changes,
            events=self._events,
            day=self._day,
        )
        write_snapshot(files, self.context, made)

    def _put_in_place(self, files: SnapshotFiles) -> None:
        """From here on changes are kept for the snapshot that was written, and no longer for the one before."""
        new, old, now = files.about(files.next), files.about(), self.context.clock()
        if new is None:
            raise RuntimeError(f"{files.next}: the snapshot that was written there cannot be read")

        def work(transaction: Transaction) -> None:
            transaction.put(ServingProcess(id=new["id"], seen=now, changes_read=new["changes"][0], model=new["model"]))
            if old is not None:
                transaction.drop(ServingProcess, old["id"])

        self.context.store.write(work, locks=[CHANGES]).result()
        files.swap()
        self._keeping = None

    def _keep_snapshot(self) -> None:
        """One process per machine writes down, by number, who has changed since the snapshot: changes are dropped some day."""
        files = self.context.snapshot
        if files is None or self._mapped is None or files.is_renewed or files.version() != self._mapped or not files.is_keeper():
            return
        self._keeping = self._keeping or SnapshotKeeping.of(files)
        if self._keeping is None or not self._keeping.note_changes(files, self._mapped, self.context):
            self._let_go(files)

    def _let_go(self, files: SnapshotFiles) -> None:
        """The snapshot cannot be followed any more: another process may keep its list, or have it renewed."""
        self._mapped = self._keeping = None
        files.let_go()

    def _give_sign_of_life(self) -> None:
        """Say how far this process has come. If the store cannot take it now, the next turn says it."""
        now, said = self.context.clock(), self._process
        if timedelta(0) <= now - said.seen < _SIGN_OF_LIFE and said.model == self._model:
            return
        process = replace(said, seen=now, changes_read=self._changes.settled, model=self._model)
        kept = self._keeping
        told = [] if kept is None else [replace(process, id=kept.snapshot, changes_read=kept.changes.settled)]

        def work(transaction: Transaction) -> None:
            for one in (process, *told):
                transaction.put(one)

        with suppress(StoreUnavailable):
            self.context.store.write(work, locks=[CHANGES]).result()
            self._process = process
