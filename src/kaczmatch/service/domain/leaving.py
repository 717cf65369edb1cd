"""People who were erased, and whom records still name: no answer does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from kaczmatch.service.domain.records import PendingErasure, Record
from kaczmatch.service.domain.store import Reader

R = TypeVar("R", bound=Record)


def being_erased(reader: Reader, limit: int | None = None) -> list[str]:
    """Who was erased, and of whom there are still traces."""
    return [erasure.user for erasure in reader.find(PendingErasure, limit=limit)]


def leaving(reader: Reader, people: Iterable[str | None]) -> set[str]:
    """Who of these is being erased."""
    return {user for (user,) in reader.many(PendingErasure, {(one,) for one in people if one})}


def without_leaving(reader: Reader, records: Sequence[R], *fields: str) -> list[R]:
    """Records without those that name somebody in one of these fields who is being erased."""
    gone = leaving(reader, (getattr(one, field) for one in records for field in fields))
    return [one for one in records if not any(getattr(one, field) in gone for field in fields)] if gone else list(records)
