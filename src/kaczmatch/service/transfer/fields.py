"""Values as they stand in files, which are often texts, as what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from kaczmatch.core.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 1e11  # seconds; beyond it they are milliseconds
_YES, _NO = frozenset({"1", "true", "yes", "y"}), frozenset({"0", "false", "no", "n"})
BETWEEN: Final = "|"


def empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and math.isnan(value))


def text(field: str, value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)  # numbers are often identifiers
    raise InvalidInput(field, f"must be a text, got {_shown(value)}")


def real(field: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(field, f"must be a number, got {_shown(value)}")
    return number


def whole(field: str, value: Any) -> int:
    number = real(field, value)
    if number != int(number):
        raise InvalidInput(field, f"must be a whole number, got {_shown(value)}")
    return int(number)


def flag(field: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = f"{value:g}" if isinstance(value, float) else str(value).strip().lower()[:8]
    if word in _YES or word in _NO:
        return word in _YES
    raise InvalidInput(field, f"must be 1 or 0 (or true/false, yes/no), got {_shown(value)}")


def day(field: str, value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value).strip()[:40])
    except ValueError:
        raise InvalidInput(field, f"must be a date such as 1990-12-31, got {_shown(value)}") from None


def moment(field: str, value: Any) -> datetime:
    """An aware time: ISO 8601 (UTC where it says nothing else) or seconds since 1970."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            try:
                value = datetime.fromisoformat(value.strip()[:60])
            except ValueError:
                raise InvalidInput(field, f"must be a time such as 2026-01-31T12:00:00Z, got {_shown(value)}") from None
    try:
        if isinstance(value, datetime):
            return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST:
            return _EPOCH + timedelta(seconds=value)
    except (OverflowError, ValueError):
        pass
    raise InvalidInput(field, f"must be a time such as 2026-01-31T12:00:00Z, or seconds, got {_shown(value)}")


def names(field: str, value: Any) -> frozenset[str]:
    """A list, as JSON or with | between its parts where it is a text."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            value = _json(field, value)
        else:
            return frozenset(part.strip() for part in value.split(BETWEEN) if part.strip())
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise InvalidInput(field, f"must be texts with {BETWEEN} between them, or a list of texts, got {_shown(value)}")
    return frozenset(part.strip() for part in value if part.strip())


def numbers(field: str, value: Any) -> dict[str, float]:
    """Numbers by name, as JSON where it is a text."""
    found = _json(field, value) if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise InvalidInput(field, f'must be numbers by name, such as {{"activity": 0.5}}, got {_shown(value)}')
    return {str(name): real(field, one) for name, one in found.items() if not empty(one)}


def _json(field: str, value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise InvalidInput(field, f"is not JSON: {_shown(value)}") from None


def _shown(value: Any) -> str:
    kind = type(value).__name__
    shown = repr(value) if isinstance(value, str | float | bool) else kind
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
