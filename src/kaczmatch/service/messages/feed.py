"""The feed: what the app is told, as a list to poll; what has been acknowledged is gone.

A message is numbered before its commit, so a later number may be seen first. A reader who goes on from the highest number would
miss the one that comes late. So messages are **posted**: one poster at a time takes those that are committed and appends them
anew. Posted numbers are therefore in the order of their commits, and a message that comes late is only posted later. No
clock is trusted, and nothing waits. What concerns one person is posted in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

from kaczmatch.core.errors import check_integer
from kaczmatch.schemas.feed import LARGEST_PAGE
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leaving import listed
from kaczmatch.service.domain.locks import FEED
from kaczmatch.service.domain.records import Delivery, OutboxMessage
from kaczmatch.service.domain.store import Transaction

ERASED = "profile.erased"
_AT_ONCE = 250
_LAST = 2**63 - 1


@final
@dataclass(frozen=True, slots=True)
class Feed:
    """A message about an erased person is the last trace of them. The id goes soon after it (`privacy.erasure`)."""

    context: Context

    def read(self, after: int = 0, limit: int = 100) -> list[OutboxMessage]:
        """Messages beyond a number, in order. Whoever goes on from the last number misses none.

        None names somebody who is being erased; those go.
        """
        start = check_integer("after", after, low=0, high=_LAST)
        most = check_integer("limit", limit, low=1, high=LARGEST_PAGE)
        while True:
            with self.context.store.read() as reader:
                page = listed(reader, OutboxMessage, ["user", "other"], posted=True, after=(start,), limit=most)
            if len(page) == most or not self._post_some():
                return page

    def acknowledge(self, upto: int) -> int:
        """The app has these: they are deleted. Says how many there were."""
        last = check_integer("upto", upto, low=0, high=_LAST)
        gone = 0
        while True:
            with self.context.store.read() as reader:
                page = [one for one in reader.find(OutboxMessage, posted=True, limit=_AT_ONCE) if one.number <= last]
            if not page:
                return gone
            self._drop(page)
            gone += len(page)

    def post(self) -> int:
        """Give what is new its place in the feed; says how much that was."""
        posted = 0
        while some := self._post_some():
            posted += sum(some)
        return posted

    def _post_some(self) -> list[bool]:
        """Of a page of new messages, whether each was posted here. Empty: nothing is new."""
        with self.context.store.read() as reader:
            page = reader.find(OutboxMessage, posted=False, limit=_AT_ONCE)
        if not page:
            return []

        def work(transaction: Transaction) -> list[bool]:
            # Looked up again: another process may have posted it, and nobody who was erased meanwhile comes back.
            known = [transaction.get(OutboxMessage, one.id) for one in page]
            for one in known:
                if one is not None and not one.posted:
                    transaction.drop(OutboxMessage, one.id)
                    transaction.append(replace(one, number=0, posted=True))
            return [one is not None and not one.posted for one in known]

        reads = [(OutboxMessage, (one.id,)) for one in page]
        return self.context.store.write(work, locks=[FEED, *people_named(page)], prefetch=reads).result()

    def _drop(self, page: Sequence[OutboxMessage]) -> None:
        def work(transaction: Transaction) -> None:
            for one in page:
                transaction.drop(OutboxMessage, one.id)
                transaction.drop(Delivery, one.id)

        self.context.store.write(work, locks=people_named(page)).result()


def people_named(messages: Iterable[OutboxMessage]) -> list[str]:
    """Everybody whom messages name."""
    return sorted({name for one in messages for name in (one.user, one.other) if name})
