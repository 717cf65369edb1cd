"""Deleted rows leave bytes behind in the files of a database. They are scrubbed, many deletions at a time where that is costly.

The commit that deletes also writes that there is something to scrub, so no crash forgets it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.locks import SCRUB
from kaczmatch.service.domain.records import SINGLE_ROW, PendingScrub, PersonNumber, part_of
from kaczmatch.service.domain.store import StoreUnavailable, Transaction

_LONGEST = timedelta(minutes=30)  # for one scrub; after that another process tries


def _nothing(numbers: Collection[int]) -> None:
    """Memory needs no scrubbing."""


def forget_number(transaction: Transaction, context: Context, user: str) -> None:
    """Nothing names this person any more. The work names the lock `SCRUB`."""
    number, pending = transaction.get(PersonNumber, part_of(user), user), transaction.get(PendingScrub, SINGLE_ROW)
    numbers = () if number is None else (number.number,)
    if pending is None:
        pending = PendingScrub(since=context.clock(), last_deletion="")
    transaction.drop(PersonNumber, part_of(user), user)
    transaction.put(replace(pending, last_deletion=context.new_id(), numbers=(*pending.numbers, *numbers)))


@final
@dataclass(frozen=True, slots=True)
class Scrubbing:
    """`scrub` makes the store overwrite the bytes of deleted rows of people who had the given numbers. It runs `delay` after a
    deletion, and not more often."""

    context: Context
    scrub: Callable[[Collection[int]], None] = _nothing
    delay: timedelta = timedelta(0)
    _lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "scrubbing", _LONGEST))

    def run(self, *, now: bool = False) -> bool:
        """Scrub if it is due, or `now`. Returns whether nothing is left to scrub. After a failure, the next call tries again."""
        with self.context.store.read() as reader:
            pending = reader.get(PendingScrub, SINGLE_ROW)
        if pending is None:
            return True
        began = self.context.clock()
        if not now and began < pending.since + self.delay:
            return False
        with suppress(StoreUnavailable):
            if self._lease.take():
                try:
                    self.scrub(pending.numbers)
                    return self._done(pending, began)
                finally:
                    self._lease.let_go()
        return False

    def _done(self, scrubbed: PendingScrub, began: datetime) -> bool:
        def work(transaction: Transaction) -> bool:
            pending = transaction.get(PendingScrub, SINGLE_ROW)
            if pending is None or pending.last_deletion == scrubbed.last_deletion:
                transaction.drop(PendingScrub, SINGLE_ROW)
                return True
            rest = pending.numbers[len(scrubbed.numbers) :]  # who was erased meanwhile
            transaction.put(replace(pending, since=began, numbers=rest))
            return False

        return self.context.store.write(work, locks=[SCRUB], prefetch=[(PendingScrub, (SINGLE_ROW,))]).result()
