"""The daily picks of a service: everybody from the store, an edition of picks back into it, shown all at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC
from functools import partial
from typing import Final, TypeVar, final, overload

import numpy as np

from kaczmatch.recommend.assignments.contract import AssignedPicks, PickAssignment, PickMarket
from kaczmatch.recommend.assignments.picks import picks
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.runner.local import LocalRunner
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Block,
    Decision,
    LatestDecision,
    MatchSide,
    Person,
    Pick,
    PublishedPicks,
    Record,
    StoredState,
)
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.meeting.others_said import others_said
from kaczmatch.service.meeting.presence import in_decks, today
from kaczmatch.service.meeting.profile_features import features_of
from kaczmatch.service.meeting.profiles import columns_of
from kaczmatch.service.meeting.serving_index import grown_state

Listed = TypeVar("Listed", bound=Record)
PUBLISHED: Final = "picks.published"
_AT_ONCE: Final = 500  # people that are read, or rows that are dropped
_PAIRS_AT_ONCE: Final = 5_000
_USERS: Final = 10  # whose picks are written by one work
_IN_FLIGHT: Final = 32

GivenTo = tuple[str, Sequence[tuple[str, float]]]  # a user, and the candidates with their mutual probabilities
Given = Sequence[GivenTo]
Progress = Callable[[str, int, int], None]  # a step, how much of it is done, and of how much


@final
@dataclass(frozen=True, slots=True)
class PicksJob:
    """The use cases of making and publishing picks. One process at a time publishes, or one that works for it: its `holder`."""

    context: Context
    holder: str = ""
    _lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "picks", holder=self.holder))
        object.__setattr__(self, "holder", self._lease.holder)

    def columns(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> PickColumns:
        """Everybody who can be in a deck, and the pairs that no deck would show.

        A page is as of its own moment. What changes meanwhile is looked at again when picks are shown.
        """
        parts, last = [], tuple[str, ...]()
        with self.context.store.read() as reader:
            versions, total = self.context.catalogue.current(reader), reader.count(Person)
        while True:
            with self.context.store.read() as reader:
                page = reader.find(Person, paused=False, after=last, limit=_AT_ONCE)
                parts.append(self._part(reader, versions, in_decks(reader, page, self.context)))
            if not page:
                return PickColumns.joined(parts, self._excluded())
            last = (page[-1].id,)
            progress(sum(map(len, parts)), total)
            self.context.rest()

    def _part(self, reader: Reader, versions: ActiveVersions, people: Sequence[Person]) -> PickColumns:
        catalogue, config, now = self.context.catalogue, self.context.config, self.context.clock()
        fold, vocabulary = catalogue.fold(reader, versions.model), catalogue.vocabulary(reader, versions.vocabulary)
        learned = reader.many(StoredState, [(versions.model, one.id) for one in people])
        return PickColumns.of(
            columns_of(people, config.schema),
            np.array([features_of(one, vocabulary) for one in people]).reshape(-1, vocabulary.dimensions),
            fold.learner,
            [grown_state(fold, fold.decode(learned.get((versions.model, one.id))).state, vocabulary) for one in people],
            vocabulary,
            now.astimezone(UTC).date(),
            others=others_said(reader, self.context, fold, vocabulary, people, now) if people else (),
        )

    def _excluded(self) -> Iterator[tuple[str, str]]:
        """Matches and blocks; and whoever one of the two has answered, as long as decks leave them out for it."""
        for match in self._all(MatchSide):
            yield match.user, match.other
        for block in self._all(Block):
            yield block.user, block.other
        config = self.context.config
        cool = self.context.clock() - config.cooldown
        for pair in self._all(LatestDecision):
            returns = pair.decision == Decision.SKIP or (pair.decision == Decision.PASS and config.repeats)
            if not returns or pair.at > cool:
                yield pair.user, pair.candidate

    def _all(self, kind: type[Listed]) -> Iterator[Listed]:
        last: tuple[object, ...] = ()
        while True:
            with self.context.store.read() as reader:
                page = reader.find(kind, after=last, limit=_PAIRS_AT_ONCE)
            if not page:
                return
            yield from page
            last = tuple(getattr(page[-1], name) for name in kind.listed_by())
            self.context.rest()

    def publish(self, given: Given, assignment: str, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        """Write an edition beside the one that is shown, then show it. Returns its number.

        If this is interrupted, the edition before stays as it is, and what was written goes with the next edition.
        """
        if not self._lease.take():
            raise Conflict("another process publishes picks; wait until it is done")
        with self.context.store.read() as reader:
            newest, shown = reader.find(Pick, newest=True, limit=1), reader.get(PublishedPicks, SINGLE_ROW)
        edition = 1 + max([one.edition for one in newest] + ([] if shown is None else [shown.edition]), default=0)
        waiting = deque[Future[None]]()
        for first in range(0, len(given), _USERS):
            some = given[first : first + _USERS]
            names = {user for user, _ in some} | {candidate for _, cards in some for candidate, _ in cards}
            work = partial(_write, edition=edition, given=some)
            waiting.append(self.context.store.write(work, locks=names, prefetch=[(Person, (name,)) for name in names]))
            if len(waiting) == _IN_FLIGHT:
                waiting.popleft().result()
                self._lease.take()
            progress(first, len(given))
        for written in waiting:
            written.result()

        def show(transaction: Transaction) -> None:
            if not self._lease.held(transaction):
                raise Conflict("another process has begun to publish picks; this edition is not shown")
            transaction.put(PublishedPicks(edition=edition, at=self.context.clock(), assignment=assignment))
            announce(transaction, self.context, PUBLISHED, "", {"edition": edition, "people": len(given)})

        self.context.store.write(show, locks=[self._lease.lock]).result()
        self._drop_before(edition)
        self._lease.let_go()
        return edition

    def _drop_before(self, edition: int) -> None:
        while True:
            with self.context.store.read() as reader:
                edge = reader.find(Pick, skip=_AT_ONCE - 1, limit=1)
            old = edge[0].identity() if edge and edge[0].edition < edition else (edition - 1,)
            self.context.store.write(lambda tx, old=old: tx.drop_through(Pick, *old)).result()  # type: ignore[misc]
            if len(old) == 1:
                return
            self.context.rest()

    def run_if_due(self, hour: int, make: Callable[[], int]) -> int | None:
        """Have an edition made, if it is past that hour (UTC) and none is of today. If that fails, the next turn tries again."""
        with self.context.store.read() as reader:
            shown = reader.get(PublishedPicks, SINGLE_ROW)
        now = self.context.clock().astimezone(UTC)
        if now.hour < hour or (shown is not None and shown.at.astimezone(UTC).date() >= today(self.context)):
            return None
        if not self._lease.take():
            return None
        try:
            return make()
        finally:
            self._lease.let_go()

    def make(self, k: int, assignment: PickAssignment, progress: Progress = lambda _step, _done, _total: None) -> int:
        """Make an edition and publish it, on one thread, since requests are served beside. Returns its number."""

        def held(step: str, done: int, total: int) -> None:
            self._lease.take()
            progress(step, done, total)

        columns = self.columns(partial(held, "reading people"))
        market, assigned = picks(
            columns,
            k,
            assignment,
            runner=LocalRunner(1),
            progress=lambda share: held("finding candidates", round(100 * share), 100),
        )
        return self.publish(GivenPicks(market, assigned), assignment.slug, partial(held, "publishing"))


@final
class GivenPicks(Sequence[GivenTo]):
    """Ids instead of rows, with the mutual probability of each pair, of everybody who has picks. Made when they are asked for:
    those of a million people would take gigabytes."""

    def __init__(self, market: PickMarket, assigned: AssignedPicks) -> None:
        self._lists, self._ids = market.lists.with_pairs(market.columns, assigned.given), market.columns.ids
        self._given, self._chance = assigned.given, self._lists.mutual
        self._rows = np.flatnonzero((assigned.given >= 0).any(axis=1))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, which: int) -> GivenTo: ...
    @overload
    def __getitem__(self, which: slice) -> list[GivenTo]: ...
    def __getitem__(self, which: int | slice) -> GivenTo | list[GivenTo]:
        if isinstance(which, slice):
            return [self._of(row) for row in self._rows[which].tolist()]
        return self._of(int(self._rows[which]))

    def _of(self, row: int) -> GivenTo:
        begin, end = self._lists.begin[row], self._lists.begin[row + 1]
        there = self._given[row][self._given[row] >= 0]
        places = begin + np.searchsorted(self._lists.other[begin:end], there)
        cards = [(str(self._ids[other]), float(self._chance[at])) for other, at in zip(there, places, strict=True)]
        return str(self._ids[row]), cards


def _write(transaction: Transaction, *, edition: int, given: Given) -> None:
    """Somebody may have been erased since picks were made: nothing may bring them back."""
    there = {user for user, cards in given for user in (user, *(one for one, _ in cards)) if transaction.get(Person, user)}
    for user, cards in given:
        for place, (candidate, score) in enumerate(cards):
            if user in there and candidate in there:
                transaction.put(Pick(edition=edition, user=user, place=place, candidate=candidate, score=score))
