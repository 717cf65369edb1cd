"""Profiles: put, changed, paused; and how a stored one becomes what the recommender sees."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix
from kaczmatch.recommend.people.filters import FilterColumns, date_number
from kaczmatch.recommend.people.location import NOWHERE, Location, max_squared_chord
from kaczmatch.recommend.people.profile import MAX_AGE, Profile, age_on
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain import sparse_features as sparse
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.display_names import checked_name
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.quotas import CHANGES, EDITS, charge
from kaczmatch.service.domain.records import (
    Change,
    Event,
    FeatureSnapshot,
    HeldPerson,
    PendingErasure,
    Person,
    PersonCounters,
)
from kaczmatch.service.domain.refusals import Conflict, Stale, nobody
from kaczmatch.service.domain.store import Reader, RecordKey, Transaction
from kaczmatch.service.meeting.people_search import save_name
from kaczmatch.service.meeting.profile_features import features_of


@final
@dataclass(frozen=True, slots=True)
class Profiles:
    """The use cases of a profile."""

    context: Context

    def put(
        self,
        user: str,
        about: ProfileInput,
        *,
        paused: bool | None = None,
        if_version: int | None = None,
        limited: bool = True,
        by_user: bool = False,
        check_new: Callable[[Transaction], None] | None = None,
    ) -> Future[Person]:
        """Add somebody, or change them. Without `paused` they stay paused, or not, as they were.

        With `if_version`, only if that is still the version (0: only if there is nobody yet). `check_new` is called before
        somebody is added, and raises if they must not be. `by_user`: the user's own token asks, and has a quota.
        """
        checked_id(user)

        def work(transaction: Transaction) -> Person:
            now, known = self.context.clock(), transaction.get(Person, user)
            if if_version is not None and if_version != (0 if known is None else known.version):
                raise Stale(f"the profile of {user!r} was changed meanwhile; get it and try again")
            if known is None and check_new is not None:
                check_new(transaction)
            if known is None and transaction.get(PendingErasure, user) is not None:
                raise Conflict(f"{user!r} is being erased; try again in a moment")
            current = self.context.catalogue.current(transaction)
            vocabulary = self.context.catalogue.vocabulary(transaction, current.vocabulary)
            if paused is False:
                self._check_not_held(transaction, user)
            person = new_person(user, about, vocabulary, self.context.config.schema, now, known, paused=paused)
            changed = known is None or known.features != person.features
            if known is not None and changed and not _was_seen(transaction, known):
                person = replace(person, features_version=known.features_version)
            if limited and known is not None and changed:
                charge(transaction, user, EDITS, self.context.config.edits, now)
            if by_user and known is not None:
                charge(transaction, user, CHANGES, self.context.config.changes, now)
            if limited:  # an import is no sign of the person
                person = replace(person, seen=_day(now))
            _save(transaction, self.context, person)
            save_name(transaction, person, "" if known is None else known.name)
            if changed:
                transaction.put(snapshot_of(person))
            if known is None:
                transaction.put(PersonCounters(user=user))
            return person

        about_user = [(kind, (user,)) for kind in (Person, PersonCounters, HeldPerson, PendingErasure)]
        reads: list[RecordKey] = [*about_user, catalogue.ACTIVE_VERSIONS]
        self.context.catalogue.keep_up(self.context.store)
        return self.context.store.write(work, locks=[user], prefetch=reads)

    def pause(self, user: str, paused: bool, *, by_user: bool = False) -> Future[Person]:
        """A paused person is shown to nobody and sees nobody; nothing is forgotten."""

        def work(transaction: Transaction) -> Person:
            known = require_person(transaction, user)
            if not paused:
                self._check_not_held(transaction, user)
            if by_user:
                charge(transaction, user, CHANGES, self.context.config.changes, self.context.clock())
            return set_paused(transaction, self.context, known, paused=paused)

        about_user: list[RecordKey] = [(kind, (user,)) for kind in (Person, PersonCounters, HeldPerson)]
        return self.context.store.write(work, locks=[user], prefetch=about_user)

    def get(self, user: str) -> Person:
        with self.context.store.read() as reader:
            known = reader.get(Person, user)
        if known is None:
            raise nobody(user)
        return known

    def _check_not_held(self, transaction: Transaction, user: str) -> None:
        if transaction.get(HeldPerson, user) is not None:
            raise Conflict("an operator holds this person back")


def require_person(transaction: Transaction, user: str) -> Person:
    known = transaction.get(Person, user)
    if known is None:
        raise nobody(user)
    return known


def counters_of(transaction: Reader, user: str) -> PersonCounters:
    """Their counters; nothing where nothing was counted yet."""
    return transaction.get(PersonCounters, user) or PersonCounters(user=user)


def charge_reading(context: Context, user: str, what: str, limit: QuotaLimit) -> None:
    """Charge a user for something that only reads, before it is done."""

    def work(transaction: Transaction) -> None:
        require_person(transaction, user)
        charge(transaction, user, what, limit, context.clock())

    context.store.write(work, locks=[user], prefetch=[(Person, (user,)), (PersonCounters, (user,))]).result()


def snapshot_of(person: Person) -> FeatureSnapshot:
    """The features of a profile as events name them."""
    return FeatureSnapshot(user=person.id, version=person.features_version, features=person.features)


def _was_seen(transaction: Transaction, person: Person) -> bool:
    """Whether an event names the present version of somebody's features. The newest event would."""
    newest = transaction.find(Event, candidate=person.id, newest=True, limit=1)
    return any(event.features_version == person.features_version for event in newest)


def set_paused(transaction: Transaction, context: Context, person: Person, *, paused: bool) -> Person:
    """Shown and seeing, or not."""
    now = context.clock()
    seen = person.seen if paused else _day(now)
    after = replace(person, paused=paused, version=person.version + 1, changed=now, seen=seen)
    _save(transaction, context, after)
    return after


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _save(transaction: Transaction, context: Context, person: Person) -> None:
    transaction.put(person)
    transaction.append(Change(id=context.new_id(), user=person.id, at=person.changed))


def new_person(
    user: str,
    about: ProfileInput,
    vocabulary: Vocabulary,
    schema: Schema,
    now: datetime,
    known: Person | None,
    *,
    paused: bool | None = None,
) -> Person:
    """The record of a profile, if it can be one. The place is rounded to a coarse grid."""
    place = None if about.location is None else Location.from_coordinates(about.location.latitude, about.location.longitude)
    features = sparse.packed(vocabulary.vector(about.tags, about.features, about.i_am))
    person = Person(
        id=user,
        version=1 if known is None else known.version + 1,
        name=checked_name(about.name),
        i_am=tuple(sorted(about.i_am)),
        i_look_for=tuple(sorted(about.i_look_for or _usual(schema, about.i_am))),
        born=about.born,
        youngest=about.youngest,
        oldest=about.oldest,
        row=None if place is None else place.row,
        column=None if place is None else place.column,
        within_km=about.within_km,
        features=features,
        features_version=1 if known is None else known.features_version + (known.features != features),
        capacity=about.capacity,
        data=json.dumps(about.data, ensure_ascii=False, separators=(",", ":")) if about.data else "",
        paused=(known is not None and known.paused) if paused is None else paused,
        created=now if known is None else known.created,
        changed=now,
        seen=_day(now) if known is None else known.seen,
    )
    profile, today = profile_of(person, vocabulary, schema), _day(now)
    if about.born is None and schema.age_required:
        raise InvalidInput("born", "is missing; one must say when one was born to take part here")
    if about.born is not None and age_on(about.born, today) > MAX_AGE:
        raise InvalidInput("born", f"nobody is older than {MAX_AGE}")
    if not profile.old_enough(today):
        raise InvalidInput("born", f"one must be {schema.minimum_age} to take part")
    return person


def _usual(schema: Schema, i_am: frozenset[str]) -> frozenset[str]:
    found = schema.usually_looks_for(i_am)
    if not found:
        raise InvalidInput("i_look_for", "is missing, and the settings (looks_for) have no default for this kind")
    return found


def profile_of(person: Person, vocabulary: Vocabulary, schema: Schema) -> Profile:
    """A stored profile as the recommender sees it."""
    return Profile(
        id=person.id,
        i_am=frozenset(person.i_am),
        i_look_for=frozenset(person.i_look_for),
        born=person.born,
        features=features_of(person, vocabulary),
        ages=_ages(person),
        location=None if person.row is None or person.column is None else Location(person.row, person.column),
        within_km=math.inf if person.within_km is None else person.within_km,
        schema=schema,
    )


def columns_of(people: Sequence[Person], schema: Schema) -> FilterColumns:
    """The filter columns of stored profiles."""
    values = [column.astype(kind) for column, kind in zip(filter_rows(people, schema).T, _COLUMNS, strict=True)]
    return FilterColumns(schema, [person.id for person in people], *values)


def filter_rows(people: Sequence[Person], schema: Schema) -> Matrix:
    """The same, one row each. Stored profiles were checked when they were put."""
    # Most values come again and again.
    is_a = {kinds: schema.mask(kinds, "i_am") for kinds in {person.i_am for person in people}}
    looks_for = {kinds: schema.mask(kinds, "i_look_for") for kinds in {person.i_look_for for person in people}}
    chords = {one: float(max_squared_chord(math.inf if one is None else one)) for one in {p.within_km for p in people}}
    rows = [
        (
            is_a[person.i_am],
            looks_for[person.i_look_for],
            date_number(person.born),
            *_ages(person),
            *_point(person.row, person.column),
            chords[person.within_km],
        )
        for person in people
    ]
    return np.array(rows, np.float64).reshape(-1, len(_COLUMNS))


# Of the columns of filters. Each of their values is exact in float64, in which a row is made.
_COLUMNS: Final = (np.uint32, np.uint32, np.int32, np.uint8, np.uint8, np.float32, np.float32, np.float32, np.float32)


@lru_cache(1 << 16)
def _point(row: int | None, column: int | None) -> tuple[float, ...]:
    return tuple(map(float, NOWHERE if row is None or column is None else Location(row, column).point))


def _ages(person: Person) -> tuple[int, int]:
    return person.youngest or 0, MAX_AGE if person.oldest is None else person.oldest


def data_of(person: Person) -> dict[str, Any]:
    """What the app keeps with a profile."""
    return dict(json.loads(person.data)) if person.data else {}
