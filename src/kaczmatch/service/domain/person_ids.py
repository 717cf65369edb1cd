"""Which texts are ids of people, swipes and the like."""

from __future__ import annotations

import re
from typing import Final

from kaczmatch.core.errors import InvalidInput

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}", re.ASCII)


def checked_id(identifier: str) -> str:
    """An id that a client may choose. Those of the service itself begin with `~`."""
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        raise InvalidInput("id", "must be 1 to 64 letters, digits or any of _ . : @ -, and begin with a letter or digit")
    return identifier
