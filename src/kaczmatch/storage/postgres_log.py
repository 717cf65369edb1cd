"""Reading a log of PostgreSQL as it grows: what became visible, however late its commit.

Lines are numbered before their commit, so a line may turn up behind others. Each line has the id of its transaction, `txid`,
which the server fills in. A snapshot says which transactions had ended (`pg_snapshot`: all below `xmax` but those in `xip`).
A line is new if its transaction had not: the index finds these lines and no others, however long one transaction hangs.

A number is settled when every transaction that could have taken a lower one has ended. For that, a cursor keeps the newest number
of a moment, and the first transaction that had not begun then (`xmax` is not it: it may be under way).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import Any, Self, final

from sqlalchemy import Connection

from kaczmatch.service.domain.records import LogRecord
from kaczmatch.service.domain.store import Cursor
from kaczmatch.storage.codec import Codec, codec
from kaczmatch.storage.database import quoted, rows_of


@final
@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A `pg_snapshot`. Of the transaction `xmax` itself, lines up to a number were seen, where a page ended among its lines."""

    xmax: int
    xip: tuple[int, ...] = ()
    number: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        _, xmax, xip = text.split(":")
        return cls(int(xmax), tuple(map(int, filter(None, xip.split(",")))))

    @property
    def xmin(self) -> int:
        return min(self.xip, default=self.xmax)

    def up_to(self, transaction: int, number: int) -> _Snapshot:
        """What of it has been seen after a page that ends with this line."""
        return _Snapshot(transaction, tuple(one for one in self.xip if one < transaction), number)


@final
@dataclass(frozen=True, slots=True)
class _Seen:
    """What a cursor has seen."""

    snapshot: _Snapshot
    unsettled: int  # the newest number of a moment; settled as soon as all transactions
    before: int  # before this one have ended
    from_number: int | None = None  # the cursor began with a number; lines beyond this one, of the snapshot, are still to be read

    @classmethod
    def of(cls, text: str) -> Self:
        (xmax, xip, number), *rest = json.loads(text)
        return cls(_Snapshot(xmax, tuple(xip), number), *rest)

    def __str__(self) -> str:
        return json.dumps(astuple(self), separators=(",", ":"))


def became_visible(
    connection: Connection, kind: type[LogRecord], since: Cursor | None, limit: int
) -> tuple[Sequence[Sequence[Any]], Cursor]:
    """`Snapshot.became_visible`. The connection reads as of one moment, so lines and snapshot belong together."""
    ((text, begun, newest),) = rows_of(connection, _now(codec(kind)), ())
    now = _Snapshot.of(text)
    seen = _Seen(now, newest, now.xmin + begun)
    if since is None:
        return (), _cursor(Cursor(newest=newest), seen, now)
    before = _Seen.of(since.seen) if since.seen else _Seen(now, newest, seen.before, since.settled)
    if before.from_number is not None:
        rows = rows_of(connection, _beyond(codec(kind)), (before.from_number, limit))
        if len(rows) == limit:
            return rows, Cursor(since.settled, max(since.newest, rows[-1][0]), str(replace(before, from_number=rows[-1][0])))
        return rows, _cursor(since, replace(before, from_number=None), before.snapshot)
    rows = _since(connection, codec(kind), before.snapshot, limit)
    found = [row[:-1] for row in rows]
    if len(rows) >= limit and int(rows[-1][-1]) >= before.snapshot.xmax:
        place = now.up_to(int(rows[-1][-1]), rows[-1][0])
        reached = max(since.newest, *(row[0] for row in found))  # there are more: `newest` has not been read yet
        return found, Cursor(since.settled, reached, str(replace(before, snapshot=place)))
    marked = before if now.xmin < before.before else seen
    if marked is seen and before.unsettled > since.settled:
        since = replace(since, settled=before.unsettled)
    return found, _cursor(replace(since, newest=newest), replace(marked, snapshot=now), now)


def _cursor(before: Cursor, seen: _Seen, now: _Snapshot) -> Cursor:
    """Everything that `now` shows has been seen."""
    settled = seen.unsettled if now.xmin >= seen.before else before.settled
    return Cursor(max(settled, before.settled), max(before.newest, seen.unsettled), str(seen))


def _since(connection: Connection, code: Codec[Any], seen: _Snapshot, limit: int) -> Sequence[Sequence[Any]]:
    """Lines of transactions that had not ended; those first that were under way, of which there are few."""
    late = "{" + ",".join(map(str, seen.xip)) + "}"
    return rows_of(connection, _newly_visible(code), (late, str(seen.xmax), seen.number, limit))


@cache
def _now(code: Codec[Any]) -> str:
    """The snapshot; how many transactions have begun since its oldest one; and the newest number."""
    return (
        "SELECT pg_current_snapshot()::text, age(pg_snapshot_xmin(pg_current_snapshot())::xid), "
        f'COALESCE((SELECT max("number") FROM "{code.kind.table}"), 0)'
    )


@cache
def _beyond(code: Codec[Any]) -> str:
    return f'SELECT {quoted(code.names)} FROM "{code.kind.table}" WHERE "number" > %s ORDER BY "number" LIMIT %s'


@cache
def _newly_visible(code: Codec[Any]) -> str:
    lines = f'SELECT {quoted(code.names)}, "txid" FROM "{code.kind.table}" WHERE'
    return (
        f'SELECT {quoted(code.names)}, "txid"::text FROM ('
        f'({lines} "txid" = ANY(%s::xid8[])) UNION ALL '
        f'({lines} ("txid", "number") > (%s::xid8, %s::bigint) ORDER BY "txid", "number" LIMIT %s)'
        ') AS found ORDER BY "found"."txid", "number"'
    )
