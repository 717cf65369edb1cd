"""The one swipe table: what its columns are called, and which values they have.

`evaluate`, `simulate`, import, export and the client use these names. A file with other names is mapped: field=column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Final, final

from kaczmatch.core.errors import InvalidInput, did_you_mean

LIKE, PASS, SKIP = "like", "pass", "skip"

# Decisions as other people write them. What is written is `like`, `pass` or `skip`.
DECISIONS: Final[Mapping[str, str]] = {
    "like": LIKE, "yes": LIKE, "1": LIKE, "true": LIKE, "right": LIKE,
    "pass": PASS, "dislike": PASS, "no": PASS, "0": PASS, "-1": PASS, "false": PASS, "left": PASS,
    "skip": SKIP,
}  # fmt: skip

# What a table of profiles has beside one column per tag or feature.
PROFILE_COLUMNS: Final = (
    "id", "name", "born", "i_am", "i_look_for", "youngest", "oldest", "latitude", "longitude", "within_km", "capacity",
    "tags", "features", "data", "paused",
)  # fmt: skip

# `at` is written as ISO 8601 in UTC, with microseconds and a Z. It is read as ISO 8601, seconds since 1970, or a Parquet time.
SWIPE_COLUMNS: Final = ("user", "candidate", "decision", "at", "id")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """What the columns are called in a file of swipes and in a file of candidates."""

    user: str = "user"
    candidate: str = "candidate"
    decision: str = "decision"
    at: str | None = None  # when; None: `at` where there is such a column
    seq: str | None = None  # each user's order, where no time says it; None: `seq` where there is such a column
    session: str | None = None  # which swipes belong together; None: `session` where there is such a column
    id: str = "id"  # of the candidates
    tags: str = "tags"  # of the candidates: a list in one cell
    features: str = "features"  # of the candidates: numbers by name in one cell

    @classmethod
    def of(cls, columns: Mapping[str, str]) -> ColumnNames:
        """From what was typed; refuses fields that there are not."""
        known = [each.name for each in fields(cls)]
        for name in columns:
            if name not in known:
                raise InvalidInput(
                    "column", f"there is no field {name!r}; {did_you_mean(name, known)}; known: {', '.join(known)}"
                )
        return cls(**columns)


def column_mapping(given: Sequence[str]) -> dict[str, str]:
    """Columns by field, from field=column as it is said in queries and on the command line."""
    pairs = [one.partition("=") for one in given]
    for field, equals, column in pairs:
        if not (field and equals and column):
            raise InvalidInput("column", "must be field=column, such as id=user_id")
    return {field: column for field, _, column in pairs}


def time_text(moment: datetime) -> str:
    """A time as it is written: ISO 8601 in UTC, always with microseconds, so that all rows have one form."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
