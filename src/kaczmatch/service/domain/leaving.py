"""People who were erased, and whom records still name: no answer does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from kaczmatch.service.domain.records import PendingErasure, Record
from kaczmatch.service.domain.store import Reader

R = TypeVar("R", bound=Record)


def being_erased(reader: Reader, limit: int | None = None) -> list[str]:
    """Who was erased, and of whom there are still traces."""
    return [erasure.user for erasure in reader.find(PendingErasure, limit=limit)]


def leaving(reader: Reader, people: Iterable[str | None]) -> set[str]:
    """Who of these is being erased."""
    return {user for (user,) in reader.many(PendingErasure, {(one,) for one in people if one})}


def listed(
    reader: Reader,
    kind: type[R],
    names: Sequence[str],
    *,
    after: Sequence[object] = (),
    newest: bool = False,
    limit: int,
    **equal: Any,
) -> list[R]:
    """What `find` finds, without records that name somebody in one of these fields who is being erased."""
    found: list[R] = []
    if leaving(reader, (equal.get(name) for name in names)):
        return found  # all of them do
    while True:
        page = reader.find(kind, after=after, newest=newest, limit=limit, **equal)
        found += without_leaving(reader, page, *names)
        if len(page) < limit or len(found) >= limit:
            return found[:limit]
        after = [getattr(page[-1], name) for name in kind.listed_by()]


def without_leaving(reader: Reader, records: Sequence[R], *names: str) -> list[R]:
    """Records without those that name somebody in one of these fields who is being erased."""
    gone = leaving(reader, (getattr(one, name) for one in records for name in names))
    return [one for one in records if not any(getattr(one, name) in gone for name in names)]
