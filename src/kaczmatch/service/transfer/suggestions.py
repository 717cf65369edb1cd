"""Options that make somebody's file readable: which column is which field, how dates are written, what words mean."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from kaczmatch.service.transfer.cell_rules import fitting_date_formats, folded
from kaczmatch.service.transfer.rows import UnreadValues

# What other people call our fields, as `_plain` leaves it. Suggested, never assumed.
_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("userid", "uid", "personid", "memberid", "customerid", "profileid", "uuid", "user", "username"),
    "name": ("firstname", "fullname", "displayname", "nickname", "username", "vorname"),
    "born": ("birthday", "birthdate", "dateofbirth", "dob", "birth", "geburtstag", "geburtsdatum"),
    "i_am": ("gender", "sex", "iam", "kind", "role", "type", "geschlecht"),
    "i_look_for": ("wants", "lookingfor", "interestedin", "seeking", "ilookfor", "lookfor", "searching", "sucht"),
    "youngest": ("minage", "agemin", "agefrom"),
    "oldest": ("maxage", "agemax", "ageto"),
    "latitude": ("lat",),
    "longitude": ("lon", "lng", "long"),
    "within_km": ("maxdistance", "distance", "radius", "distancekm", "radiuskm"),
    "tags": ("interests", "hobbies", "likes", "keywords", "topics", "skills"),
    "user": ("userid", "swiper", "swiperid", "fromuser", "fromid", "viewer", "from", "rater"),
    "candidate": ("candidateid", "target", "targetid", "swiped", "swipedid", "touser", "toid", "to", "rated"),
    "decision": ("like", "liked", "action", "swipe", "direction", "verdict", "value", "rating"),
    "at": ("timestamp", "time", "date", "createdat", "swipedat", "datetime", "when"),
}
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "woman": ("female", "f", "w", "women", "girl", "frau", "weiblich"),
    "man": ("male", "m", "men", "boy", "mann", "männlich"),
    "non-binary": ("nonbinary", "non binary", "nb", "enby", "other", "x", "divers", "diverse"),
    "like": ("yes", "y", "liked", "+", "+1", "accept", "accepted", "superlike"),
    "pass": ("no", "n", "nope", "dislike", "disliked", "-", "reject", "rejected", "passed"),
    "skip": ("skipped", "later", "none"),
}
_EVERYBODY: Final = ("all", "any", "anyone", "both", "everybody", "everyone", "beide", "alle")


def nearest_column(field: str, columns: Sequence[str]) -> str | None:
    """The column that most likely is a field."""
    plain = {_plain(column): column for column in reversed(columns)}
    for name in (_plain(field), *_COLUMNS.get(field, ())):
        if name in plain:
            return plain[name]
    close = difflib.get_close_matches(_plain(field), plain, n=1)
    return plain[close[0]] if close else None


def suggested_columns(
    fields: Sequence[str], required: Sequence[str], columns: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Columns for the fields that have none; for those that are not required, only where the name says so."""
    found = dict(given)
    free = [column for column in columns if column not in found.values() and column not in fields]
    for field in (*required, *(field for field in fields if field not in required)):
        if field in found or field in columns:
            continue
        usual = {_plain(field), *_COLUMNS.get(field, ())}
        near = nearest_column(field, [column for column in free if field in required or _plain(column) in usual])
        if near is not None:
            found[field] = near
            free.remove(near)
    return found


def suggested_maps(unread: UnreadValues, known: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """What words probably mean, by field; `known` has the values that a field can have."""
    found: dict[str, dict[str, str]] = {}
    for field, words in unread.words.items():
        values = known.get(field, ())
        for word in words:
            meant = [value for value in values if folded(word) in _WORDS.get(value, ())]
            if folded(word) in _EVERYBODY:
                meant = ["|".join(values)]
            if len(meant) == 1 and not set(word) & set(":,="):
                found.setdefault(field, {})[word] = meant[0]
    return found


def suggested_date_format(unread: UnreadValues, *, times: bool) -> str | None:
    """The one usual form that fits; None where two do: then somebody has to say whether the day or the month comes first."""
    fitting = fitting_date_formats(list(unread.dates), times=times)
    return fitting[0] if len(fitting) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", folded(name))
