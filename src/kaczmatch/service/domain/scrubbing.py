"""Deleted rows leave bytes behind in the files of a database: they are scrubbed, many deletions at a time where that is costly.

That there is something to scrub is written down in the commit that deletes, so that no crash forgets it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.records import Fact
from kaczmatch.service.domain.store import Reader, StoreUnavailable, Transaction

LOCK: Final = "~scrub"  # among the people of every work that calls `soiled`
_FACT = "soiled"
_LONGEST = timedelta(minutes=30)  # that writing all tables anew may take before another process tries


def _nothing() -> None:
    """Memory needs no scrubbing."""


@final
@dataclass(frozen=True, slots=True)
class _Soil:
    """Since when there is something to scrub, and the last deletion that there was."""

    since: datetime
    last: str

    @classmethod
    def read(cls, reader: Reader) -> _Soil | None:
        fact = reader.get(Fact, _FACT)
        if fact is None:
            return None
        value = json.loads(fact.value)
        return cls(datetime.fromisoformat(value["since"]), value["last"])

    def write(self, transaction: Transaction) -> None:
        transaction.put(Fact(name=_FACT, value=json.dumps({"since": self.since.isoformat(), "last": self.last})))


def mark_for_scrubbing(transaction: Transaction, context: Context) -> None:
    """Something of a person was deleted in this work."""
    before = _Soil.read(transaction)
    _Soil(context.clock() if before is None else before.since, context.new_id()).write(transaction)


@final
@dataclass(frozen=True, slots=True)
class Scrubbing:
    """`scrub` makes the store forget the bytes of what it has deleted: at the latest `delay` later, and not more often."""

    context: Context
    scrub: Callable[[], None] = _nothing
    delay: timedelta = timedelta(0)
    _lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "scrubbing", _LONGEST))

    def run(self, *, now: bool = False) -> bool:
        """Scrub if it is due, or `now`; says whether nothing is left to scrub. What fails is tried again at the next turn."""
        with self.context.store.read() as reader:
            soil = _Soil.read(reader)
        if soil is None:
            return True
        began = self.context.clock()
        if not now and began < soil.since + self.delay:
            return False
        with suppress(StoreUnavailable):
            if self._lease.take():
                try:
                    self.scrub()
                    return self._done(soil, began)
                finally:
                    self._lease.let_go()
        return False

    def _done(self, soil: _Soil, began: datetime) -> bool:
        def work(transaction: Transaction) -> bool:
            left = _Soil.read(transaction)
            if left is None or left.last == soil.last:
                transaction.drop(Fact, _FACT)
                return True
            _Soil(began, left.last).write(transaction)  # somebody was erased meanwhile
            return False

        return self.context.store.write(work, locks=[LOCK], prefetch=[(Fact, (_FACT,))]).result()
