"""The first vocabulary of a new store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kaczmatch.app.demo.worlds import GENERAL_GROUPS, WORLDS
from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.settings.model import Settings

GENERAL: Final = tuple(tag for tags in GENERAL_GROUPS.values() for tag in tags)


def first_vocabulary(settings: Settings, schema: Schema) -> Vocabulary:
    """That of the demo, where it brings one; or from the file that the settings name, or a general list."""
    if settings.demo is not None and (own := WORLDS[settings.demo].vocabulary) is not None:
        return own
    if settings.vocabulary is None:
        return Vocabulary.of(tags=GENERAL)
    return read_vocabulary(settings.vocabulary, schema)


def read_vocabulary(file: Path, schema: Schema) -> Vocabulary:
    """One name a line; `~` before it makes it a real-valued feature, `#` begins a remark.

    Names after a line such as `[mentor]` or `[mentor, coach]` are for people of these kinds only.
    """
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("vocabulary", f"cannot read {file}: {error}") from None
    kinds: tuple[str, ...] = ()
    terms = []
    for line in lines:
        if line.startswith("[") and line.endswith("]"):
            kinds = tuple(kind.strip() for kind in line[1:-1].split(","))
            schema.mask(kinds, "vocabulary")
        elif line and not line.startswith("#"):
            terms.append(Term(line.removeprefix("~").strip(), is_tag=not line.startswith("~"), kinds=kinds))
    return Vocabulary(tuple(terms))
