"""Decks that were dealt by nobody, so that a test has the cards it needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kaczmatch.service.domain.impressions import Impression, with_cards
from kaczmatch.service.domain.records import StoredDeck
from kaczmatch.service.domain.store import Transaction


def put_deck(transaction: Transaction, user: str, deck: str, candidates: Sequence[str], at: datetime, **more: Any) -> None:
    """A deck of people who are in the store already."""
    how: dict[str, Any] = {
        "policy": "mutual",
        "sampler": "mutual",
        "reason": "",
        "model": 1,
        "eligible": 9,
        "min_propensity": 0.1,
    }
    cards = [
        Impression(user=user, deck=deck, candidate=other, at=at, position=place, propensity=0.5, score=0.5, reason="sampled")
        for place, other in enumerate(candidates)
    ]
    stored = StoredDeck(user=user, id=deck, at=at, expires=at, **(how | more))
    transaction.put(with_cards(stored, cards, transaction.numbers_of(candidates)))
