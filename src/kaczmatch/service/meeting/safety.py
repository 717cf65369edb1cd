"""Blocks and reports. A blocked person is gone at the next request, and looks as if they had never been there.

Nobody can find out by blocking or reporting who exists: names that nobody has are blocked and reported like all others. A
report says whether its author can have met the other person, so that operators can tell a campaign against a stranger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.capacity import count_match
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import was_shown
from kaczmatch.service.domain.leaving import leaving, listed
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.quotas import BLOCKS, REPORTS, charge
from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    LatestDecision,
    MatchSide,
    Person,
    PersonCounters,
)
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import require_person

_LONGEST_TEXT = 2_000


@final
@dataclass(frozen=True, slots=True)
class Safety:
    """The use cases of keeping people apart."""

    context: Context
    erased_tokens: ErasedTokens

    def block(self, user: str, other: str, *, by_user: bool = False) -> Future[None]:
        """Keep two people apart for good; a match between them ends. `by_user`: the user's own token asks, and has a quota."""
        checked_id(other)

        def work(transaction: Transaction) -> None:
            require_person(transaction, user)
            if by_user and transaction.get(Block, user, other) is None:
                charge(transaction, user, BLOCKS, self.context.config.blocks, self.context.clock())
            self._block(transaction, user, other, self.context.clock())

        return self.context.store.write(work, locks=[user, other], prefetch=self._reads(user, other))

    def unblock(self, user: str, other: str, *, actor: str = "") -> Future[None]:
        """Take a user's block back; what the other side blocked stays blocked, and a match that ended stays ended. `actor`: an
        operator does it, which is written down."""

        def work(transaction: Transaction) -> None:
            require_person(transaction, user)
            block = transaction.get(Block, user, other)
            if block is not None and block.reported:
                raise Conflict(f"{user!r} has reported {other!r}, who therefore stays blocked")
            transaction.drop(Block, user, other)
            if actor:
                self._audit(transaction, actor, "took back a block", user)

        return self.context.store.write(work, locks=[user, other], prefetch=self._reads(user, other))

    def blocks(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> list[Block]:
        """Whom somebody has blocked, the newest first."""
        with self.context.store.read() as reader:
            return listed(reader, Block, ["user", "other"], user=user, after=after, newest=True, limit=limit)

    def report(self, user: str, other: str, reason: str, text: str = "", *, by_user: bool = False) -> Future[AbuseReport]:
        """Tell an operator, and block."""
        checked_id(other)
        if not reason or len(reason) > 80 or len(text) > _LONGEST_TEXT:
            raise InvalidInput("reason", f"must have 1 to 80 characters, and the text at most {_LONGEST_TEXT:,}")

        def work(transaction: Transaction) -> AbuseReport:
            now = self.context.clock()
            require_person(transaction, user)
            met = shown or _decided(transaction, user, other)
            if by_user:
                charge(transaction, user, REPORTS, self.context.config.reports, now)
            report = AbuseReport(id=self.context.new_id(), user=user, other=other, reason=reason, text=text, at=now, met=met)
            if self._block(transaction, user, other, now, reported=True):
                transaction.put(report)
                announce(transaction, self.context, "report.created", user, {"report": report.id, "met": met}, other=other)
            return report

        with self.context.store.read() as reader:  # decks are bulky: not for a commit
            shown = was_shown(reader, user, other)
        return self.context.store.write(work, locks=[user, other], prefetch=self._reads(user, other))

    def open_reports(self, *, after: Sequence[object] = (), limit: int = 50) -> list[AbuseReport]:
        with self.context.store.read() as reader:
            return listed(reader, AbuseReport, ["user", "other"], closed=None, after=after, limit=limit)

    def close(self, report: str, resolution: str, actor: str) -> Future[AbuseReport]:
        """An operator has looked at a report."""
        now = self.context.clock()
        return self._decide(
            report, actor, "closed", lambda found: replace(found, closed=found.closed or now, resolution=resolution)
        )

    def reopen(self, report: str, actor: str) -> Future[AbuseReport]:
        """An operator closed a report by mistake."""
        return self._decide(report, actor, "reopened", lambda found: replace(found, closed=None, resolution=""))

    def _decide(self, report: str, actor: str, action: str, change: Callable[[AbuseReport], AbuseReport]) -> Future[AbuseReport]:

        def work(transaction: Transaction) -> AbuseReport:
            found = transaction.get(AbuseReport, report)
            if found is None or leaving(transaction, (found.user, found.other)):
                raise NotFound(f"there is no report {report!r}")
            changed = change(found)
            transaction.put(changed)
            self._audit(transaction, actor, f"{action} report {report}", found.other)
            return changed

        with self.context.store.read() as reader:
            known = reader.get(AbuseReport, report)
        both = [] if known is None else [known.user, known.other]  # erased meanwhile, neither may come back
        return self.context.store.write(work, locks=both, prefetch=[(AbuseReport, (report,))])

    def _block(self, transaction: Transaction, user: str, other: str, now: datetime, *, reported: bool = False) -> bool:
        """Whether it was noted. It looks the same where it was not: nothing new is written about somebody who was just erased."""
        if user == other:
            raise InvalidInput("other", "nobody blocks themselves")
        gone = leaving(transaction, [other]) or self.erased_tokens.was_erased_in(transaction, other)
        if gone and transaction.get(Person, other) is None:
            return False
        # Somebody whom the other side has blocked may block in turn: to them nothing looks different.
        known = transaction.get(Block, user, other)
        if known is None or reported:
            transaction.put(Block(user=user, other=other, at=now if known is None else known.at, reported=reported))
        for mine, theirs in ((user, other), (other, user)):
            match = transaction.get(MatchSide, mine, theirs)
            if match is not None and match.ended is None:
                transaction.put(replace(match, ended=now))
                count_match(transaction, self.context, mine, -1)
                announce(transaction, self.context, "match.ended", mine, {"match": match.id}, other=theirs)
        return True

    def _audit(self, transaction: Transaction, actor: str, action: str, user: str) -> None:
        at = self.context.clock()
        transaction.append(AuditEntry(id=self.context.new_id(), at=at, actor=actor, action=action, user=user))

    def _reads(self, user: str, other: str) -> list[tuple[type, tuple[str, ...]]]:
        pairs = ((user, other), (other, user))
        return [
            *((Person, (one,)) for one in (user, other)),
            (PersonCounters, (user,)),
            *((Block, pair) for pair in pairs),
            *((MatchSide, pair) for pair in pairs),
        ]


def _decided(transaction: Transaction, user: str, other: str) -> bool:
    """By what the user did alone: the user can read the answer, and must not learn what the other side did."""
    return transaction.get(LatestDecision, user, other) is not None or transaction.get(MatchSide, user, other) is not None
