"""Names that are shown to other people."""

from __future__ import annotations

import re
import unicodedata

from kaczmatch.core.errors import InvalidInput

_LONGEST_NAME = 80
# Persian, Sinhala and emoji are written with joiners: one between two characters beyond ASCII is no trick.
_JOINER = re.compile(r"(?<=[^\x00-\x7f\u200c\u200d])[\u200c\u200d](?=[^\x00-\x7f\u200c\u200d])")
_UNSHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # letters and signs by their category, and nothing to be seen


def checked_name(name: str) -> str:
    """A name to show: no control or direction-changing characters, which could make it look like something else."""
    text = unicodedata.normalize("NFC", name).strip()
    if not text or len(text) > _LONGEST_NAME:
        raise InvalidInput("name", f"must have 1 to {_LONGEST_NAME} characters")
    shown = _JOINER.sub("", text)
    if any(unicodedata.category(character) in _UNSHOWN or character in _BLANK for character in shown):
        raise InvalidInput("name", "must not have control, invisible or direction-changing characters")
    return text
