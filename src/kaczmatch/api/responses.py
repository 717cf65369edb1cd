"""Records as the models that clients get."""

from __future__ import annotations

from datetime import UTC, datetime

from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.profile import age_on
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas import preferences, profiles
from kaczmatch.schemas.profiles import Coordinates, PersonSummary
from kaczmatch.schemas.safety import Report
from kaczmatch.service.domain.records import AbuseReport, Event, Person
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.meeting.profiles import data_of


def own_profile(person: Person, vocabulary: Vocabulary, now: datetime) -> profiles.Profile:
    """A profile for the person it belongs to."""
    tags, features = tags_of(person, vocabulary)
    cell = None if person.row is None or person.column is None else Location(person.row, person.column)
    return profiles.Profile(
        id=person.id,
        version=person.version,
        name=person.name,
        born=person.born,
        age=shown_age(person, now),
        i_am=person.i_am,
        i_look_for=person.i_look_for,
        youngest=person.youngest,
        oldest=person.oldest,
        capacity=person.capacity,
        location=None if cell is None else Coordinates(latitude=cell.latitude, longitude=cell.longitude),
        within_km=person.within_km,
        tags=tuple(tags),
        features=features,
        data=data_of(person),
        paused=person.paused,
        created=person.created,
        changed=person.changed,
    )


def summary(person: Person, vocabulary: Vocabulary, now: datetime) -> PersonSummary:
    """A profile for other people."""
    tags = tuple(tags_of(person, vocabulary)[0])
    return PersonSummary(id=person.id, name=person.name, age=shown_age(person, now), tags=tags, data=data_of(person))


def shown_age(person: Person, now: datetime) -> int | None:
    return None if person.born is None else age_on(person.born, now.astimezone(UTC).date())


def own_event(event: Event) -> preferences.Event:
    """An event for the user whose log it is in."""
    return preferences.Event(
        id=event.id,
        kind=event.kind,
        at=event.at,
        candidate=event.candidate,
        decision=event.decision,
        match=event.match,
        undoes=event.undoes,
        deck=event.deck,
        imported=event.imported,
    )


def operator_report(report: AbuseReport) -> Report:
    """A report for operators."""
    return Report(
        id=report.id,
        user=report.user,
        other=report.other,
        reason=report.reason,
        text=report.text,
        at=report.at,
        met=report.met,
        closed=report.closed,
        resolution=report.resolution,
    )
