"""One process at a time: whoever holds the lease works, and the others look again later."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Fact
from kaczmatch.service.domain.store import Reader, Transaction


@final
@dataclass(slots=True)
class Lease:
    """Held under a name until a moment; a holder that dies is followed by another after `life`."""

    context: Context
    name: str
    life: timedelta = timedelta(seconds=60)
    holder: str = field(default="")
    until: datetime | None = None

    def __post_init__(self) -> None:
        self.holder = self.holder or self.context.new_id()

    @property
    def lock(self) -> str:
        return f"~lease:{self.name}"

    def take(self) -> bool:
        """Take it, or hold it longer; False: somebody else has it. Asking often costs little: it is renewed at half its life."""
        now = self.context.clock()
        if self.until is not None and self.until - self.life <= now < self.until - self.life / 2:
            return True
        with self.context.store.read() as reader:
            if self._taken(reader, now):
                self.until = None
                return False

        def work(transaction: Transaction) -> datetime | None:
            now = self.context.clock()
            if self._taken(transaction, now):
                return None
            ends = now + self.life
            transaction.put(Fact(name=self._fact, value=json.dumps({"holder": self.holder, "until": ends.isoformat()})))
            return ends

        self.until = self.context.store.write(work, locks=[self.lock]).result()
        return self.until is not None

    def let_go(self) -> None:
        """Others need not wait."""

        def work(transaction: Transaction) -> None:
            if self.held(transaction):
                transaction.drop(Fact, self._fact)

        self.context.store.write(work, locks=[self.lock]).result()
        self.until = None

    def held(self, reader: Reader) -> bool:
        """Whether nobody else has taken it, asked in the work that depends on it (which names `lock` among its people)."""
        return self._read(reader)[0] == self.holder

    @property
    def running(self) -> bool:
        """Whether it has not run out by our own clock."""
        return self.until is not None and self.context.clock() < self.until

    @property
    def _fact(self) -> str:
        return f"lease:{self.name}"

    def _taken(self, reader: Reader, now: datetime) -> bool:
        holder, until = self._read(reader)
        # One that ends later than any can was taken by a clock that was ahead; its holder, if alive, has taken another one since.
        return holder not in ("", self.holder) and until is not None and now < until <= now + 2 * self.life

    def _read(self, reader: Reader) -> tuple[str, datetime | None]:
        fact = reader.get(Fact, self._fact)
        if fact is None:
            return "", None
        value = json.loads(fact.value)
        return value["holder"], datetime.fromisoformat(value["until"])
