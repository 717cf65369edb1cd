"""Lists and texts in one cell of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

BETWEEN: Final = "|"
_BETWEEN: Final = (BETWEEN, ";", ",")  # the first of them that a text has separates its parts

# What a spreadsheet takes for a formula. Such texts, and those that begin with the mark, get a mark in front.
FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "'")
MARK: Final = "'"


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return MARK + text if text.startswith(FORMULAS) else text


def lively(text: str) -> str:
    """The text that was made inert."""
    return text[1:] if text.startswith(MARK) and text[1:].startswith(FORMULAS) else text


def joined(parts: Sequence[str]) -> str:
    """A list in one cell: with | between, or as JSON where a part has a separator itself."""
    plain = all(part == part.strip() and not any(one in part for one in _BETWEEN) for part in parts)
    plain = plain and not (parts and parts[0].startswith("["))
    return BETWEEN.join(parts) if plain else json.dumps(parts, ensure_ascii=False)


def parted(text: str) -> list[str]:
    """The list that was joined, or one that people write: "a, b" or "a; b". Raises ValueError for other JSON."""
    if not text.lstrip().startswith("["):
        between = next((one for one in _BETWEEN if one in text), BETWEEN)
        return [part.strip() for part in text.split(between) if part.strip()]
    found: Any = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(part, str) for part in found):
        raise ValueError("not a list of texts")
    return [part.strip() for part in found if part.strip()]
