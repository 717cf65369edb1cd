"""The port to whoever carries messages to the app, and when to try again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, final

import numpy as np

from kaczmatch.service.domain.records import OutboxMessage


@final
@dataclass(frozen=True, slots=True)
class SendResult:
    """What came of one try. `wait`: the receiver asked not to be tried again before that."""

    accepted: bool
    problem: str = ""
    wait: timedelta = timedelta(0)


class Sender(Protocol):
    """Carries one message; it answers rather than raises, and within bounded time."""

    async def send(self, message: OutboxMessage, at: datetime) -> SendResult:
        """Try once."""

    async def close(self) -> None:
        """Let go of connections."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySchedule:
    """Pauses double from the first to the longest, each shortened by chance; `give_up` after its event, a message failed."""

    first: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(hours=1)
    give_up: timedelta = timedelta(days=3)

    def next(
        self, message: OutboxMessage, attempts: int, reply: SendResult, now: datetime, rng: np.random.Generator
    ) -> datetime | None:
        """When to try again after so many attempts; None: no more."""
        doubled = min(self.first * 2.0 ** min(attempts - 1, 40), self.longest)
        at = now + max(doubled * rng.uniform(0.5, 1.0), min(reply.wait, self.longest))
        return None if at - message.at > self.give_up else at


def message_body(message: OutboxMessage) -> dict[str, Any]:
    """A message as the app gets it, by webhook (Standard Webhooks has these three members) and in the feed."""
    people = {"user": message.user} | ({"other": message.other} if message.other else {})
    data = people | (json.loads(message.body) if message.body else {})
    return {"type": message.topic, "timestamp": message.at.isoformat().replace("+00:00", "Z"), "data": data}
