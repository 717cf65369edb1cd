"""Lists and texts in one cell of a table."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

BETWEEN: Final = "|"
_BETWEEN: Final = (BETWEEN, ";", ",")  # the first of them that a text has separates its parts

# What a spreadsheet takes for a formula. Such texts, and those that begin with the mark, get a mark in front. Some programs take
# a full-width, small, raised or lowered sign for the plain one, and skip white space and invisible characters before it.
MARK: Final = "'"
SIGNS: Final = (
    "=\uff1d\ufe66\u207c\u208c\u2a75\u2a76+\uff0b\ufe62\u207a\u208a\ufb29-\uff0d\ufe63\u207b\u208b\u2212@\uff20\ufe6b'\uff07"
)
FORMULA: Final = rf"[\t\r\n]|[\s\ufeff\u200b\u200e\u200f]*[{SIGNS.replace('-', '')}\-]"  # a regular expression
_FORMULA: Final = re.compile(FORMULA)


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return MARK + text if _FORMULA.match(text) else text


def lively(text: str) -> str:
    """The text that was made inert."""
    return text[1:] if text.startswith(MARK) and _FORMULA.match(text, 1) else text


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
