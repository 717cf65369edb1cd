"""Matches: who liked each other, what came of it, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.capacity import count_match
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leaving import listed, without_leaving
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import MatchSide
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import require_person

OUTCOMES = ("message", "met")


@final
@dataclass(frozen=True, slots=True)
class Matches:
    """The use cases of a match."""

    context: Context

    def matches(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> list[MatchSide]:
        """Matches that have not ended, the newest first."""
        with self.context.store.read() as reader:
            return listed(reader, MatchSide, ["user", "other"], user=user, ended=None, after=after, newest=True, limit=limit)

    def unmatch(self, user: str, match: str) -> Future[None]:
        """End a match for both; the two never meet again."""

        def work(transaction: Transaction) -> None:
            mine = self._of(transaction, user, match)
            if mine.ended is not None:
                return
            theirs, now = transaction.get(MatchSide, mine.other, user), self.context.clock()
            for side in (mine, theirs):
                if side is not None:
                    transaction.put(replace(side, ended=now))
                    count_match(transaction, self.context, side.user, -1)
                    announce(transaction, self.context, "match.ended", side.user, {"match": match}, other=side.other)

        return self.context.store.write(work, locks=self._both(user, match))

    def record_outcome(self, user: str, match: str, what: str) -> Future[MatchSide]:
        """One side says what came of a match. It is logged for evaluation."""
        if what not in OUTCOMES:
            raise InvalidInput("outcome", f"must be one of {', '.join(OUTCOMES)}, got {what!r}")

        def work(transaction: Transaction) -> MatchSide:
            mine = self._of(transaction, user, match)
            if mine.ended is not None:
                raise Conflict("this match has ended")
            updated = replace(mine, outcomes=tuple(sorted({*mine.outcomes, what})))
            transaction.put(updated)
            return updated

        return self.context.store.write(work, locks=self._both(user, match))

    def _of(self, transaction: Transaction, user: str, match: str) -> MatchSide:
        require_person(transaction, user)
        found = transaction.find(MatchSide, id=match, user=user)
        if not without_leaving(transaction, found, "other"):
            raise NotFound(f"there is no match {match!r}")
        return found[0]

    def _both(self, user: str, match: str) -> list[str]:
        with self.context.store.read() as reader:
            return [user, *(side.other for side in reader.find(MatchSide, id=match, user=user))]
