"""Messages to the app. A message is written in the commit of what it tells about, and delivered afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import OutboxMessage
from kaczmatch.service.domain.store import Transaction


def announce(
    transaction: Transaction, context: Context, topic: str, user: str, body: Mapping[str, Any], *, other: str = ""
) -> None:
    """Put a message into the outbox. The app is told `user` and `other` too; `body` names nobody, since it is kept as text."""
    text = json.dumps(dict(body), sort_keys=True)
    transaction.append(OutboxMessage(id=context.new_id(), topic=topic, user=user, other=other, body=text, at=context.clock()))
