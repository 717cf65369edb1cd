"""Every call about the service as a whole: tokens, vocabulary, feed, bulk data, operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from kaczmatch.client import answers, operator_answers
from kaczmatch.client.calling import Call, answer, content, given, nothing, path, text

What = Literal["profiles", "swipes"]
Format = Literal["csv", "jsonl", "parquet"]

_MEDIA = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


def token(user: str, *, seconds: int = 900) -> Call[operator_answers.Token]:
    """With it, somebody's own device may ask for them, for a while."""
    return Call("POST", "/tokens", answer(operator_answers.Token), json={"user": user, "seconds": seconds})


def vocabulary() -> Call[operator_answers.Vocabulary]:
    """The names of tags and features, and what people can be."""
    return Call("GET", "/vocabulary", answer(operator_answers.Vocabulary))


def change_vocabulary(
    *,
    rename: Mapping[str, str] | None = None,
    retire: Iterable[str] = (),
    add_tags: Iterable[str] = (),
    add_features: Iterable[str] = (),
) -> Call[operator_answers.Vocabulary]:
    """Rename, retire and add names; all of it, or nothing."""
    body = {
        "rename": [{"old": old, "new": new} for old, new in (rename or {}).items()],
        "retire": list(retire),
        "add_tags": list(add_tags),
        "add_features": list(add_features),
    }
    return Call("PATCH", "/vocabulary", answer(operator_answers.Vocabulary), json=body, repeatable=False)


def feed(*, after: int = 0, limit: int | None = None) -> Call[answers.FeedPage]:
    """What happened after a number, in order."""
    return Call("GET", "/feed", answer(answers.FeedPage), given(after=after, limit=limit))


def acknowledge(upto: int) -> Call[answers.Acknowledged]:
    """The app has dealt with everything up to this number: it is deleted."""
    return Call("POST", "/feed/ack", answer(answers.Acknowledged), json={"upto": upto})


def import_rows(
    what: What,
    data: bytes,
    format: Format,
    *,
    columns: Mapping[str, str] | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> Call[operator_answers.Imported]:
    """Profiles or swipes in bulk; `columns` says what our fields are called in the file. Sent again, it goes on."""
    query = {
        "column": [f"{field}={column}" for field, column in (columns or {}).items()],
        "dry_run": dry_run,
        "skip_bad": skip_bad,
    }
    whole = path("/import/{what}", what=what)
    headers = {"Content-Type": _MEDIA[format]}
    return Call("POST", whole, answer(operator_answers.Imported), query, content=data, headers=headers)


def export_rows(what: What, format: Format) -> Call[bytes]:
    """Everybody's profiles or swipes, as a file."""
    return Call("GET", path("/export/{what}", what=what), content, {"format": format})


def open_reports(*, limit: int | None = None, cursor: str | None = None) -> Call[operator_answers.Reports]:
    """Reports that nobody has closed, the oldest first."""
    return Call("GET", "/operator/reports", answer(operator_answers.Reports), given(limit=limit, cursor=cursor))


def close_report(report: str, resolution: str = "") -> Call[operator_answers.Report]:
    """An operator has looked at it."""
    whole = path("/operator/reports/{report}/close", report=report)
    return Call("POST", whole, answer(operator_answers.Report), json={"resolution": resolution})


def timeline(user: str, *, limit: int | None = None) -> Call[operator_answers.Timeline]:
    """What one person did and what was done about them; that it was looked at is written down."""
    whole = path("/operator/people/{user}/timeline", user=user)
    return Call("GET", whole, answer(operator_answers.Timeline), given(limit=limit))


def hold(user: str) -> Call[None]:
    """Pause somebody who cannot resume until released."""
    return Call("PUT", path("/operator/people/{user}/hold", user=user), nothing)


def release(user: str) -> Call[None]:
    """Let somebody resume who was held."""
    return Call("DELETE", path("/operator/people/{user}/hold", user=user), nothing)


def figures() -> Call[operator_answers.Figures]:
    """The whole in figures."""
    return Call("GET", "/operator/figures", answer(operator_answers.Figures))


def experiment() -> Call[operator_answers.Experiment]:
    """How the experiment of the settings stands; without a name where there is none."""
    return Call("GET", "/operator/experiment", answer(operator_answers.Experiment))


def metrics() -> Call[str]:
    """For Prometheus."""
    return Call("GET", "/metrics", text)


def live() -> Call[operator_answers.Health]:
    """The process answers."""
    return Call("GET", "/health/live", answer(operator_answers.Health))


def ready() -> Call[operator_answers.Health]:
    """Requests are served; until then it is tried again, and then Unavailable."""
    return Call("GET", "/health/ready", answer(operator_answers.Health))
