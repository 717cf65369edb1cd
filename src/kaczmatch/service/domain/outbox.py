"""What the app is told: written in the commit of what it tells of, delivered afterwards, at least once and in order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Message
from kaczmatch.service.domain.store import Unit


def announce(unit: Unit, context: Context, topic: str, user: str, body: Mapping[str, Any], *, other: str = "") -> None:
    """Put a message into the outbox."""
    text = json.dumps(dict(body), sort_keys=True)
    unit.append(Message(id=context.new_id(), topic=topic, user=user, other=other, body=text, at=context.clock()))
