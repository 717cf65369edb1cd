"""Rows of a user table as profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import PROFILE_COLUMNS
from kaczmatch.recommend.people.profile import MAX_AGE
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.profiles import ProfileInput, Profiles, new_person
from kaczmatch.service.transfer import fields as cells

FIELDS: Final = PROFILE_COLUMNS
_NEEDED = ("id", "name", "born", "i_am", "i_look_for")


@final
@dataclass(slots=True)
class ProfileImport:
    """One row a person. Beside our fields, a column can be named like a tag (1 or 0) or a feature (a number)."""

    context: Context
    name: str = "profiles"
    fields: Sequence[str] = FIELDS
    _words: Vocabulary | None = None
    _kinds: dict[str, bool] = field(default_factory=dict)  # tags and features: whether it is a tag
    _rows: dict[str, int] = field(default_factory=dict)  # where each id stands

    def begin(self, reader: Reader) -> None:
        self._words = self.context.catalogue.vocabulary(reader, self.context.catalogue.current(reader).vocabulary)
        self._kinds = {one.name: one.is_tag for one in self._words.terms if not one.retired and one.name not in FIELDS}

    def means(self, column: str) -> bool:
        return column in self._kinds

    def parsed(self, row: int, values: Mapping[str, Any]) -> tuple[str, ProfileInput]:
        given = {name: value for name, value in values.items() if not cells.empty(value)}
        for needed in _NEEDED:
            if needed not in given:
                raise InvalidInput(needed, "is missing" if needed in values else "is missing: there is no such column")
        user = checked_id(cells.text("id", given["id"]))
        before = self._rows.setdefault(user, row)
        if before != row:
            raise InvalidInput("id", f"{user!r} stands in row {before} already")
        tags, features = self._features(given)
        return user, ProfileInput(
            name=cells.text("name", given["name"]),
            born=cells.day("born", given["born"]),
            i_am=cells.names("i_am", given["i_am"]),
            i_look_for=cells.names("i_look_for", given["i_look_for"]),
            youngest=cells.whole("youngest", given.get("youngest", 18)),
            oldest=cells.whole("oldest", given.get("oldest", MAX_AGE)),
            latitude=cells.real("latitude", given["latitude"]) if "latitude" in given else None,
            longitude=cells.real("longitude", given["longitude"]) if "longitude" in given else None,
            within_km=cells.real("within_km", given["within_km"]) if "within_km" in given else None,
            tags=tags,
            features=features,
            paused=cells.flag("paused", given["paused"]) if "paused" in given else None,
        )

    def checked(self, reader: Reader, items: Sequence[tuple[str, ProfileInput]]) -> list[InvalidInput | bool]:
        known = reader.many(Person, [(user,) for user, _ in items])
        return [self._differs(user, about, known.get((user,))) for user, about in items]

    def write(self, item: tuple[str, ProfileInput]) -> Future[bool]:
        user, about = item
        done: Future[bool] = Future()

        def finished(future: Future[Person]) -> None:
            error = future.exception()
            done.set_result(True) if error is None else done.set_exception(error)

        Profiles(self.context).put(user, about, limited=False).add_done_callback(finished)
        return done

    def _differs(self, user: str, about: ProfileInput, known: Person | None) -> InvalidInput | bool:
        """Whether a profile says anything new."""
        words = self._words
        if words is None:
            raise RuntimeError("begin comes first")
        try:
            new = new_person(user, about, words, self.context.config.schema, self.context.clock(), known)
        except InvalidInput as error:
            return error
        return known is None or replace(new, version=known.version, changed=known.changed) != known

    def _features(self, given: Mapping[str, Any]) -> tuple[frozenset[str], dict[str, float]]:
        tags = cells.names("tags", given["tags"]) if "tags" in given else frozenset()
        features = cells.numbers("features", given["features"]) if "features" in given else {}
        columns = [(name, is_tag) for name, is_tag in self._kinds.items() if name in given]
        features |= {name: cells.real(name, given[name]) for name, is_tag in columns if not is_tag}
        return tags | {name for name, is_tag in columns if is_tag and cells.flag(name, given[name])}, features
