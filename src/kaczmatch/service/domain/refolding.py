"""A person's log folded again without some of its events, beside the commit thread.

The log is read and folded a page at a time, each on a read snapshot of its own, so neither a commit nor a long snapshot holds
others up, however long the log is. The commit looks at a constant number of records: it goes through only if the log is still
the one that was folded. If it has grown meanwhile, only what was added is folded before the next try.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from typing import Final, TypeVar, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import LogCounts
from kaczmatch.service.domain.folding import Replay, models_that_learn, undo_of
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Change,
    Event,
    EventKind,
    LogRecord,
    Person,
    PersonCounters,
    StoredState,
    TraitProgress,
)
from kaczmatch.service.domain.store import Reader, StoreUnavailable, Transaction
from kaczmatch.service.domain.traits import with_seen

T = TypeVar("T")

PAGE: Final = 300  # events that are read and folded between two rests
_TRIES: Final = 5


class _Grown(Exception):
    """The log has events that were not folded yet."""


class _Changed(Exception):
    """What was folded is not the log any more, or other models learn from it."""


@final
class FoldedLog:
    """What follows from the events of a person that are kept."""

    def __init__(self, context: Context, reader: Reader, user: str, leave_out: Callable[[Event], bool], about: str) -> None:
        self._context = context
        self._user = user
        self._change = _newest(reader, Change, user)
        self._models = _models(reader, context.catalogue.current(reader), user)
        self.counts = LogCounts(about)
        learning, passing = self._models
        self._log, self._passed = _Pages(user, leave_out), _Pages(user, leave_out)
        self._replays = [Replay(context.catalogue.fold(reader, model)) for model in learning]
        self._passing = Replay(context.catalogue.fold(reader, passing)) if passing else None

    @property
    def left_out(self) -> Collection[tuple[str, str]]:
        """Keys of events: of those to leave out, and of those that undo them."""
        return self._log.left_out.values()

    def recounted(self, counters: PersonCounters) -> PersonCounters:
        """Somebody's counters as a user, as the kept events have them; their appeal stays."""
        return self.counts.of(counters)

    def read_page(self) -> bool:
        """Fold the next page. False: it was the last."""
        with self._context.store.read() as reader:
            current = self._context.catalogue.current(reader)  # and every vocabulary that events were made under
            if _models(reader, current, self._user) != self._models:
                raise _Changed  # what was seen under a model that is not in use any more may be gone
            page = self._log.next(reader)
            for replay in self._replays:
                replay.learn(with_seen(reader, replay.fold, page))
            for event in page:
                self.counts.add(event)
            if self._passing is not None:
                passed = self._passed.next(reader, _reached(reader, current))
                self._passing.learn(with_seen(reader, self._passing.fold, passed))
        return not (self._log.ended and (self._passing is None or self._passed.ended))

    def check(self, transaction: Transaction) -> None:
        """Whether this is the log still."""
        current = self._context.catalogue.current(transaction)
        if _newest(transaction, Change, self._user) != self._change or _models(transaction, current, self._user) != self._models:
            raise _Changed
        if _newest(transaction, Event, self._user) != self._log.number:
            raise _Grown
        waiting = None if self._passing is None else self._passed.waiting
        if waiting is not None and waiting <= _reached(transaction, current):
            raise _Grown

    def states(self) -> list[StoredState]:
        replays = [*self._replays, *([] if self._passing is None else [self._passing])]
        return [replay.fold.encode(self._user, replay.tracked) for replay in replays]


@final
class _Pages:
    """The kept events of a person in their order."""

    def __init__(self, user: str, leave_out: Callable[[Event], bool]) -> None:
        self._user = user
        self._leave_out = leave_out
        self._undone: set[str] = set()
        self.left_out: dict[str, tuple[str, str]] = {}  # keys of events by their ids
        self.number = 0  # of the last event that was read
        self.waiting: int | None = None  # the number of one that must not be read yet
        self.ended = False

    def next(self, reader: Reader, last: int | None = None) -> list[Event]:
        """Another page, of events up to the number `last`."""
        read = reader.find(Event, user=self._user, after=(self.number,), limit=PAGE)
        events = [event for event in read if last is None or event.number <= last]
        self.waiting = read[len(events)].number if len(events) < len(read) else None
        self.ended = len(events) < PAGE
        self.number = events[-1].number if events else self.number
        undone = reader.many(Event, [undo_of(event) for event in events if event.kind == EventKind.SWIPED])
        self._undone |= {event.undoes for event in undone.values() if event.undoes is not None}
        kept = []
        for event in events:
            if self._leave_out(event) or event.undoes in self.left_out:
                self.left_out[event.id] = event.user, event.id
            elif event.kind == EventKind.UNDONE:
                if event.undoes not in self._undone:
                    raise _Changed  # the swipe was folded before it was undone
            elif event.id not in self._undone:
                kept.append(event)
        return kept


def refolding(
    context: Context,
    user: str,
    leave_out: Callable[[Event], bool],
    commit: Callable[[Transaction, FoldedLog], T],
    *,
    locks: Collection[str] = (),
    about: str = "",
) -> Generator[None, None, T]:
    """Fold the log of `user` without the events to `leave_out`, and commit the states with what `commit` writes.

    `commit` runs in the transaction, under the lock of `user` and these `locks`, once the log was found unchanged. It puts the
    counters (`FoldedLog.recounted`) and whatever else follows, and what it returns is returned. What is read is bounded there:
    the log is not to be searched. A commit that takes events out of a log for good appends a `Change` of its person, by which
    this notices. It pauses after each page: whoever goes through it rests then.
    """

    def work(transaction: Transaction) -> T:
        log.check(transaction)
        there = transaction.get(Person, user) is not None  # who is being erased has no state any more
        outcome = commit(transaction, log)
        for state in log.states() if there else ():
            transaction.put(state)
        return outcome

    known: FoldedLog | None = None
    for _ in range(_TRIES):
        if known is None:
            with context.store.read() as reader:
                known = FoldedLog(context, reader, user, leave_out, about)
        log = known
        try:
            while log.read_page():
                yield
            return context.store.write(work, locks=[user, *locks]).result()
        except _Grown:
            pass
        except _Changed:
            known = None
    raise StoreUnavailable("the log changes all the time while it is folded; try again in a moment")


def _newest(reader: Reader, kind: type[LogRecord], user: str) -> int:
    """The number of a person's last line in a log."""
    return max((line.number for line in reader.find(kind, user=user, newest=True, limit=1)), default=0)


def _models(reader: Reader, current: ActiveVersions, user: str) -> tuple[list[int], int]:
    """The models that have learned from all events of this person, and the one that has come to some of them (0: none)."""
    passing = current.building_traits and reader.get(StoredState, current.building, user) is not None
    return models_that_learn(reader, current, user), current.building if passing else 0


def _reached(reader: Reader, current: ActiveVersions) -> int:
    """How far the model that goes through everybody's events has come."""
    progress = reader.get(TraitProgress, SINGLE_ROW)
    return 0 if progress is None or progress.model != current.building else progress.event
