"""Locks that are no person's id: what each of them guards.

Works that name the same lock never overlap, in any process. An id of a person cannot begin with `~`.
"""

from __future__ import annotations

from typing import Final

EVERYTHING: Final = "~everything"  # a work that names this lock overlaps with no other, whatever that names
MODELS: Final = "~models"  # which model, vocabulary and prior are active
REFIT: Final = "~refit"  # `LastRefit`: one process fits the prior
CHANGES: Final = "~changes"  # `LastDroppedChange`, which only rises, and the `ServingProcess` records that hold it back
FEED: Final = "~feed"  # the numbers of posted messages: they are in the order of their commits
APPEARANCES: Final = "~appearances"  # what is filed about who was shown in which decks
SCRUB: Final = "~scrub"  # `PendingScrub`: every work that calls `forget_number` names this lock


def lease_lock(name: str) -> str:
    """Guards the holder of a lease."""
    return f"~lease:{name}"


def service_key_lock(identifier: str) -> str:
    """Guards one service key."""
    return f"~key:{identifier}"
