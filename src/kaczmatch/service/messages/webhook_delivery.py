"""Webhooks: every message is sent at least once, and the messages about one person in order.

One process delivers. It keeps one queue per person and sends the first message of each queue. A message that fails holds up its
own queue only. The outcome is stored after the reply, so a crash between the two sends a message twice, under the same id.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Self, final

import numpy as np

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import SINGLE_ROW, Delivery, DeliveryProgress, LastWebhookError, OutboxMessage
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.service.messages.feed import ERASED, Feed, people_named
from kaczmatch.service.messages.sender import RetrySchedule, Sender, SendResult

WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"
TryListener = Callable[[OutboxMessage, Delivery], None]


def _unheard(message: OutboxMessage, delivery: Delivery) -> None:
    del message, delivery


_MOST_LOADED = 10_000
_AT_ONCE = 500
_ROUND = 64  # messages between two looks at the lease


@final
@dataclass(slots=True)
class _PendingMessage:
    message: OutboxMessage
    attempts: int
    due: datetime


@final
@dataclass(slots=True)
class WebhookDelivery:
    """Call `deliver_due` again and again."""

    context: Context
    feed: Feed
    sender: Sender
    rng: np.random.Generator
    retries: RetrySchedule = field(default_factory=RetrySchedule)
    concurrency: int = 8
    on_try: TryListener = field(default=_unheard)
    lease: Lease = field(init=False)
    _queues: dict[str, deque[_PendingMessage]] = field(default_factory=dict)
    _loaded: int = 0
    _read_to: int = -1  # -1: nothing is known yet
    _saved_position: int = -1
    _loop: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __post_init__(self) -> None:
        self.lease = Lease(self.context, "webhooks")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def deliver_due(self, stopping: Callable[[], bool]) -> None:
        """Send everything that is due. After an outage of the store, the queues are loaded again."""
        try:
            while not stopping() and self.step():
                pass
        except StoreUnavailable:
            self._forget()
            raise

    def step(self) -> int:
        """Send one round of what is due. Returns how many replies came: 0 where another process delivers."""
        if not self.lease.take():
            self._forget()
            return 0
        self._load()
        now = self.context.clock()
        later = now + self.retries.longest  # no pause is longer: what is due beyond it was written by a clock that was ahead
        due = list(islice((line[0] for line in self._queues.values() if not now < line[0].due <= later), _ROUND))
        replies = self._loop.run(self._send(due)) if due else 0
        self._save_position()
        return replies

    def close(self) -> None:
        self._loop.run(self.sender.close())
        self._loop.close()
        try:
            if self.lease.until is not None:
                self.lease.let_go()
        except StoreUnavailable:
            pass  # it runs out by itself

    def _load(self) -> None:
        """Bring in what has been posted since, as far as there is room."""
        self.feed.post()
        while self._loaded < _MOST_LOADED:
            with self.context.store.read() as reader:
                if self._read_to < 0:
                    progress = reader.get(DeliveryProgress, SINGLE_ROW)
                    self._read_to = self._saved_position = 0 if progress is None else progress.settled_to
                page = reader.find(OutboxMessage, posted=True, after=(self._read_to,), limit=_AT_ONCE)
                states = reader.many(Delivery, [(one.id,) for one in page])
            for one in page:
                known = states.get((one.id,))
                if known is None or known.status == WAITING:
                    due = one.at if known is None or known.next is None else known.next
                    letter = _PendingMessage(one, 0 if known is None else known.attempts, due)
                    self._queues.setdefault(one.user, deque()).append(letter)
                    self._loaded += 1
            if page:
                self._read_to = page[-1].number
            if len(page) < _AT_ONCE:
                return

    def _forget(self) -> None:
        """Another process may deliver now, so the queues of this one are out of date."""
        self._queues, self._loaded, self._read_to, self._saved_position = {}, 0, -1, -1

    async def _send(self, letters: list[_PendingMessage]) -> int:
        few = asyncio.Semaphore(self.concurrency)

        async def one(letter: _PendingMessage) -> bool:
            async with few:
                return self.lease.running and await self._try(letter)

        replies = await asyncio.gather(*(one(letter) for letter in letters), return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
        return sum(reply is True for reply in replies)

    async def _try(self, letter: _PendingMessage) -> bool:
        """One try with one message; False: it was not sent."""
        loop, message = asyncio.get_running_loop(), letter.message
        if not await loop.run_in_executor(None, self._is_kept, message.id):
            self._finish(letter)
            return False
        try:
            reply = await self.sender.send(message, self.context.clock())
        except Exception as error:  # whatever is wrong with one message or its receiver, the others go on
            reply = SendResult(False, type(error).__name__)
        attempts, now = letter.attempts + 1, self.context.clock()
        again = None if reply.accepted else self.retries.next(message, attempts, reply, now, self.rng)
        status = DELIVERED if reply.accepted else FAILED if again is None else WAITING
        delivery = Delivery(message=message.id, attempts=attempts, next=again, status=status, problem=reply.problem)
        self.on_try(message, delivery)
        if not await asyncio.wrap_future(self._record(message, delivery)):
            self.lease.until = None  # somebody else has it now, and will send this once more
        elif again is None:
            self._finish(letter)
        else:
            letter.attempts, letter.due = attempts, again
        return True

    def _is_kept(self, identifier: str) -> bool:
        """Whether a message is still to be sent: not acknowledged in the feed, and not about an erased person."""
        with self.context.store.read() as reader:
            message = reader.get(OutboxMessage, identifier)
            return message is not None and not leaving(reader, (message.user, message.other))

    def _record(self, message: OutboxMessage, delivery: Delivery) -> Future[bool]:
        def work(transaction: Transaction) -> bool:
            if not self.lease.held(transaction):
                return False
            if delivery.problem:
                at, topic = self.context.clock(), message.topic
                transaction.put(LastWebhookError(at=at, problem=delivery.problem, topic=topic, attempts=delivery.attempts))
            if delivery.status == DELIVERED and message.topic == ERASED:
                transaction.drop(OutboxMessage, message.id)
                transaction.drop(Delivery, message.id)
            elif transaction.get(OutboxMessage, message.id) is not None:
                transaction.put(delivery)
            return True

        return self.context.store.write(work, locks=[self.lease.lock, *people_named([message])])

    def _finish(self, letter: _PendingMessage) -> None:
        line = self._queues[letter.message.user]
        line.popleft()
        self._loaded -= 1
        if not line:
            del self._queues[letter.message.user]

    def _save_position(self) -> None:
        """Remember up to where nothing is left to do, so that the next process need not look there."""
        if self._read_to < 0 or not self.lease.running:
            return
        first = min((line[0].message.number for line in self._queues.values()), default=self._read_to + 1)
        if first - 1 == self._saved_position:
            return

        def work(transaction: Transaction) -> bool:
            held = self.lease.held(transaction)
            if held:
                transaction.put(DeliveryProgress(settled_to=first - 1))
            return held

        if self.context.store.write(work, locks=[self.lease.lock]).result():
            self._saved_position = first - 1
