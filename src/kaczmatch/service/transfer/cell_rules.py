"""How the cells of somebody's file are read: dates in another form, other words for values, names without regard to case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.cells import parted

_PARTS: Final = {"YYYY": "%Y", "MMM": "%b", "MM": "%m", "M": "%m", "DD": "%d", "D": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_PART: Final = re.compile("YYYY|MMM|MM|M|DD|D|HH|mm|ss")


def folded(text: str) -> str:
    """A name as it is compared."""
    return unicodedata.normalize("NFC", text).strip().casefold()


@final
@dataclass(frozen=True, slots=True)
class CellRules:
    """`maps` has what stands in a file and what it means, by field; what stands there is compared without case."""

    date_format: str | None = None  # such as DD.MM.YYYY, with HH:mm:ss for times
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _pattern: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "maps", {name: {folded(old): new for old, new in one.items()} for name, one in self.maps.items()}
        )
        if self.date_format is not None:
            pattern = _PART.sub(lambda found: _PARTS[found[0]], self.date_format)
            if not all(f"%{part}" in pattern for part in "Ymd") and "%b" not in pattern:
                raise InvalidInput("date_format", f"must have YYYY, MM and DD, such as DD.MM.YYYY, got {self.date_format!r}")
            object.__setattr__(self, "_pattern", pattern)

    def meant(self, name: str, cell: Any) -> Any:
        """A single value as the map of its field says."""
        said = self.maps.get(name)
        return cell if said is None else said.get(folded(str(cell)), cell)

    def parts(self, name: str, cell: Any) -> Any:
        """A list of texts, each as the map of its field says; one word may mean several."""
        found = parted(cell) if isinstance(cell, str) else cell
        said = self.maps.get(name)
        if said is None or not isinstance(found, list | tuple) or not all(isinstance(part, str) for part in found):
            return found
        return [new for part in found for new in (parted(said[folded(part)]) if folded(part) in said else [part])]

    def day(self, cell: Any) -> Any:
        """A date. Pydantic would take 19900101 for seconds since 1970. Of a date with a time, the date counts."""
        if isinstance(cell, datetime):
            return cell.date()
        if isinstance(cell, date):
            return cell
        text = str(cell).strip()[:40]
        if self._pattern:
            return _in_form(text, self._pattern).date()
        try:
            return date.fromisoformat(text)
        except ValueError:
            return datetime.fromisoformat(text).date()

    def moment(self, cell: Any) -> Any:
        """A time in the given form, without a zone: UTC. Other values are left to their model."""
        if not self._pattern or not isinstance(cell, str):
            return cell
        return _in_form(cell.strip()[:40], self._pattern).replace(tzinfo=UTC)


def value_maps(given: Iterable[str]) -> dict[str, dict[str, str]]:
    """Maps by field, from field=theirs:ours,theirs:ours as it is said in queries and on the command line."""
    found: dict[str, dict[str, str]] = {}
    for one in given:
        name, _, pairs = one.partition("=")
        words = [pair.partition(":") for pair in pairs.split(",")]
        if not name or not all(theirs.strip() and colon and ours.strip() for theirs, colon, ours in words):
            raise InvalidInput("map", f"must be field=theirs:ours, such as i_am=female:woman,male:man, got {one!r}")
        found.setdefault(name, {}).update({theirs.strip(): ours.strip() for theirs, _, ours in words})
    return found


def map_texts(maps: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Maps as `value_maps` takes them."""
    return [f"{name}={','.join(f'{theirs}:{ours}' for theirs, ours in words.items())}" for name, words in maps.items()]


def fitting_date_formats(texts: Sequence[str], *, times: bool) -> list[str]:
    """The usual forms that fit the most of these texts, and nearly all."""
    days = [form.replace(".", between) for form in ("DD.MM.YYYY", "MM.DD.YYYY", "YYYY.MM.DD") for between in "./-"]
    days = [form for form in days if form not in ("MM.DD.YYYY", "MM-DD-YYYY")] + ["YYYYMMDD", "DD MMM YYYY", "MMM DD, YYYY"]
    forms = [f"{day}{time}" for day in days for time in ((" HH:mm:ss", " HH:mm", "") if times else ("", " HH:mm", " HH:mm:ss"))]
    counted = {form: sum(_fits(text, CellRules(form)) for text in texts) for form in forms}
    most = max(counted.values(), default=0)
    return [form for form, number in counted.items() if number == most and most >= 0.8 * len(texts) > 0]


def _fits(text: str, rules: CellRules) -> bool:
    try:
        rules.day(text)
    except ValueError:
        return False
    return True


def _in_form(text: str, pattern: str) -> datetime:
    return datetime.strptime(text, pattern)
