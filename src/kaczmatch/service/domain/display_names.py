"""Names that are shown to other people."""

from __future__ import annotations

import re
import unicodedata

from kaczmatch.core.errors import InvalidInput

_LONGEST_NAME = 80
_MOST_WORDS = 8  # by which somebody is found
_LONGEST_SUFFIX = 40
_BETWEEN_WORDS = re.compile(r"[\W_]+")
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


def folded_name(text: str) -> str:
    """What names are compared by: words without accents and capitals. Empty where there is no letter and no digit."""
    return " ".join(_folded_words(text))[:_LONGEST_SUFFIX]


def name_suffixes(name: str) -> frozenset[str]:
    """A folded name from each of its words on."""
    words = _folded_words(name)
    return frozenset(" ".join(words[first:])[:_LONGEST_SUFFIX] for first in range(min(len(words), _MOST_WORDS)))


def _folded_words(text: str) -> list[str]:
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return _BETWEEN_WORDS.sub(" ", plain.casefold()).split()
