"""One process at a time does a job: whoever holds the lease works, and the others look again later."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import lease_lock
from kaczmatch.service.domain.records import StoredLease
from kaczmatch.service.domain.store import Reader, Transaction


@final
@dataclass(slots=True)
class Lease:
    """Held under a name until a moment. If the holder dies, another process can take the lease after `life`."""

    context: Context
    name: str
    life: timedelta = timedelta(seconds=60)
    holder: str = field(default="")
    until: datetime | None = None

    def __post_init__(self) -> None:
        self.holder = self.holder or self.context.new_id()

    @property
    def lock(self) -> str:
        return lease_lock(self.name)

    def take(self) -> bool:
        """Take it, or hold it longer. False: another process has it. Calls are cheap: it is renewed at half its life."""
        now = self.context.clock()
        if self.until is not None and self.until - self.life <= now < self.until - self.life / 2:
            return True
        with self.context.store.read() as reader:
            if self._held_by_another(reader, now):
                self.until = None
                return False

        def work(transaction: Transaction) -> datetime | None:
            now = self.context.clock()
            if self._held_by_another(transaction, now):
                return None
            lease = StoredLease(name=self.name, holder=self.holder, until=now + self.life)
            transaction.put(lease)
            return lease.until

        self.until = self.context.store.write(work, locks=[self.lock]).result()
        return self.until is not None

    def let_go(self) -> None:
        """Others need not wait."""

        def work(transaction: Transaction) -> None:
            if self.held(transaction):
                transaction.drop(StoredLease, self.name)

        self.context.store.write(work, locks=[self.lock]).result()
        self.until = None

    def held(self, reader: Reader) -> bool:
        """Whether no other process has taken it. A work that depends on the answer names `lock` among its locks."""
        lease = reader.get(StoredLease, self.name)
        return lease is not None and lease.holder == self.holder

    @property
    def running(self) -> bool:
        """Whether it has not run out by our own clock."""
        return self.until is not None and self.context.clock() < self.until

    def _held_by_another(self, reader: Reader, now: datetime) -> bool:
        lease = reader.get(StoredLease, self.name)
        if lease is None or lease.holder == self.holder:
            return False
        # A lease that ends later than any can was taken by a clock that was ahead. Its holder, if alive, has renewed it since.
        return now < lease.until <= now + 2 * self.life
