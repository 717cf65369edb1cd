"""Pages by key. A cursor says where a page ended, and holds nothing that the page did not show."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.records import Record

Limit = Annotated[int, Query(ge=1, le=200, description="The largest number of items on a page.")]
Cursor = Annotated[str, Query(max_length=500, description="`next` of the page before.")]


def cursor_after(page: Sequence[Record], limit: int) -> str | None:
    """Where the next page starts; None where this one was the last."""
    if len(page) < limit:
        return None
    last = page[-1]
    return encode_cursor([getattr(last, name) for name in last.listed_by()])


def encode_cursor(values: Sequence[Any]) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *types: type) -> tuple[Any, ...]:
    """The values in a cursor; none for the first page."""
    if not cursor:
        return ()
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(values, list) or len(values) != len(types):
            raise ValueError
        return tuple(_typed(value, kind) for value, kind in zip(values, types, strict=True))
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        raise InvalidInput("cursor", "is not one that this service gave out") from None


def _typed(value: Any, kind: type) -> Any:
    if kind is datetime and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(UTC)
    if type(value) is not kind or (isinstance(value, str) and "\0" in value):
        raise ValueError
    if isinstance(value, str):
        value.encode()
    if isinstance(value, int) and not 0 <= value < 2**63:
        raise ValueError
    return value
