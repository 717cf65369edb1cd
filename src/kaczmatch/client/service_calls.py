"""Every call about the service as a whole: tokens, vocabulary, feed, bulk data, operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kaczmatch.client.call import Call, content, given, model, nothing, path, text
from kaczmatch.schemas.decks import DeckResults
from kaczmatch.schemas.experiments import ExperimentReport
from kaczmatch.schemas.feed import Acknowledgement, FeedPage
from kaczmatch.schemas.health import Health
from kaczmatch.schemas.operators import FoundPeoplePage, GroupComparison, Overview, ServiceHealth, Timeline
from kaczmatch.schemas.profiles import PeoplePage
from kaczmatch.schemas.safety import Report, ReportPage
from kaczmatch.schemas.tokens import UserToken
from kaczmatch.schemas.transfer import MEDIA_TYPES, Format, ImportResult, NewTags
from kaczmatch.schemas.vocabulary import ProfileVocabulary


def create_token(user: str, *, seconds: int = 900) -> Call[UserToken]:
    """Make a credential with which a user's own device may act for that user, for a limited time."""
    return Call("POST", "/tokens", model(UserToken), json={"user": user, "seconds": seconds})


def get_vocabulary() -> Call[ProfileVocabulary]:
    """What a profile may contain: tags, features and kinds."""
    return Call("GET", "/vocabulary", model(ProfileVocabulary))


def change_vocabulary(
    *,
    rename: Mapping[str, str] | None = None,
    retire: Iterable[str] = (),
    add_tags: Iterable[str] = (),
    add_features: Iterable[str] = (),
    kinds: Iterable[str] = (),
) -> Call[ProfileVocabulary]:
    """Rename, retire and add terms; all of it, or nothing. Added terms are for people of these kinds; without any, for all."""
    body = {
        "rename": [{"old": old, "new": new} for old, new in (rename or {}).items()],
        "retire": list(retire),
        "add_tags": list(add_tags),
        "add_features": list(add_features),
        "kinds": list(kinds),
    }
    return Call("PATCH", "/vocabulary", model(ProfileVocabulary), json=body, repeatable=False)


def list_people(*, name: str | None = None, limit: int | None = None, cursor: str | None = None) -> Call[PeoplePage]:
    """People in the order in which they came, or those of whose names a word begins with `name`, in alphabetical order."""
    return Call("GET", "/people", model(PeoplePage), given(name=name, limit=limit, cursor=cursor))


def create_decks(users: Iterable[str], *, size: int | None = None) -> Call[DeckResults]:
    """Decks for many people: each has a deck or a problem of its own."""
    return Call("POST", "/decks", model(DeckResults), json={"users": list(users)} | given(size=size))


def list_messages(*, after: int = 0, limit: int | None = None) -> Call[FeedPage]:
    """Messages of the feed after a number, in order."""
    return Call("GET", "/feed", model(FeedPage), given(after=after, limit=limit))


def acknowledge_messages(up_to: int) -> Call[Acknowledgement]:
    """Delete the messages up to a number, which the app has processed."""
    return Call("POST", "/feed/ack", model(Acknowledgement), json={"up_to": up_to})


def import_profiles(
    data: bytes,
    format: Format,
    *,
    columns: Mapping[str, str] | None = None,
    maps: Mapping[str, Mapping[str, str]] | None = None,
    date_format: str | None = None,
    new_tags: NewTags = "refuse",
    delimiter: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> Call[ImportResult]:
    """Import a file of profiles. `columns` says what fields are called, `maps` what words mean. Sent again, it continues."""
    how = given(date_format=date_format, new_tags=new_tags, delimiter=delimiter, encoding=encoding)
    return _import("profiles", data, format, columns, maps, {**how, "dry_run": dry_run, "skip_bad": skip_bad})


def import_swipes(
    data: bytes,
    format: Format,
    *,
    columns: Mapping[str, str] | None = None,
    maps: Mapping[str, Mapping[str, str]] | None = None,
    date_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> Call[ImportResult]:
    """Import a swipe table. `columns` says what fields are called, `maps` what words mean. Sent again, it continues."""
    how = given(date_format=date_format, delimiter=delimiter, encoding=encoding)
    return _import("swipes", data, format, columns, maps, {**how, "dry_run": dry_run, "skip_bad": skip_bad})


def export_profiles(format: Format) -> Call[bytes]:
    """All profiles, as a file."""
    return Call("GET", "/export/profiles", content, {"format": format})


def export_swipes(format: Format) -> Call[bytes]:
    """All swipes, as a file: a swipe table."""
    return Call("GET", "/export/swipes", content, {"format": format})


def list_reports(*, limit: int | None = None, cursor: str | None = None) -> Call[ReportPage]:
    """Open reports, the oldest first."""
    return Call("GET", "/operator/reports", model(ReportPage), given(limit=limit, cursor=cursor))


def close_report(report: str, resolution: str = "") -> Call[Report]:
    """Close a report with what was decided."""
    route = path("/operator/reports/{report}/close", report=report)
    return Call("POST", route, model(Report), json={"resolution": resolution})


def reopen_report(report: str) -> Call[Report]:
    """Open a report again that was closed by mistake."""
    return Call("POST", path("/operator/reports/{report}/reopen", report=report), model(Report))


def find_people(name: str = "", *, limit: int | None = None, cursor: str | None = None) -> Call[FoundPeoplePage]:
    """People by name or id, as operators see them. Without a name: those whom operators hold."""
    return Call("GET", "/operator/people", model(FoundPeoplePage), given(name=name or None, limit=limit, cursor=cursor))


def remove_block(user: str, other: str) -> Call[None]:
    """Take back a block that a person made, at their wish."""
    return Call("DELETE", path("/operator/people/{user}/blocks/{other}", user=user, other=other), nothing)


def get_service_health(hours: int = 1) -> Call[ServiceHealth]:
    """How requests fared over the last hours, up to 168, what waits, and how large the store is."""
    return Call("GET", "/operator/health", model(ServiceHealth), query={"hours": hours})


def get_timeline(user: str, *, limit: int | None = None) -> Call[Timeline]:
    """What one person did and what was done to them. Each look is written to the audit log."""
    return Call("GET", path("/operator/people/{user}/timeline", user=user), model(Timeline), given(limit=limit))


def hold_person(user: str) -> Call[None]:
    """Pause a person, who cannot resume until released."""
    return Call("PUT", path("/operator/people/{user}/hold", user=user), nothing)


def release_person(user: str) -> Call[None]:
    """Let a person who was held resume."""
    return Call("DELETE", path("/operator/people/{user}/hold", user=user), nothing)


def get_overview() -> Call[Overview]:
    """The service in numbers."""
    return Call("GET", "/operator/overview", model(Overview))


def get_group(name: str) -> Call[GroupComparison]:
    """How often people with a tag, or of a kind, are shown, liked and matched, beside everybody else."""
    return Call("GET", "/operator/group", model(GroupComparison), query={"name": name})


def get_experiment() -> Call[ExperimentReport]:
    """How the experiment in the settings stands. The name is empty where there is none."""
    return Call("GET", "/operator/experiment", model(ExperimentReport))


def get_metrics() -> Call[str]:
    """Metrics in the format of Prometheus."""
    return Call("GET", "/metrics", text)


def get_liveness() -> Call[Health]:
    """Whether the process answers."""
    return Call("GET", "/health/live", model(Health))


def get_readiness() -> Call[Health]:
    """Whether requests are served. Until then the call is tried again, and at last raises `ServiceUnavailableError`."""
    return Call("GET", "/health/ready", model(Health))


def _import(
    table: str,
    data: bytes,
    format: Format,
    columns: Mapping[str, str] | None,
    maps: Mapping[str, Mapping[str, str]] | None,
    how: Mapping[str, Any],
) -> Call[ImportResult]:
    words = {name: ",".join(f"{theirs}:{ours}" for theirs, ours in one.items()) for name, one in (maps or {}).items()}
    query = {
        "column": [f"{field}={column}" for field, column in (columns or {}).items()],
        "map": [f"{name}={text}" for name, text in words.items()],
        **how,
    }
    headers = {"Content-Type": MEDIA_TYPES[format]}
    return Call("POST", f"/import/{table}", model(ImportResult), query, content=data, headers=headers)
