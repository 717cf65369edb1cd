"""What the processes of the service agree on while they run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import final

from kaczmatch.service.domain.records.base import LogRecord, PersonId, Record, SingletonRecord


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Change(LogRecord):
    """Somebody whose profile changed or who is gone: what keeps the indexes of all processes up to date."""

    table = "changes"
    key = ("id",)
    indexes = (("number",), ("user",))

    id: str
    user: PersonId
    at: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LastDroppedChange(SingletonRecord):
    """Changes up to this number are not kept any more."""

    table = "last_dropped_change"

    change: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServingProcess(Record):
    """A process that deals decks. What it has not read yet is kept for it, as long as it gives signs of life."""

    table = "serving_processes"
    key = ("id",)

    id: str
    seen: datetime  # the last sign of life
    changes_read: int  # it needs no change up to this number
    model: int  # that it deals by


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLease(Record):
    """The right of one process to do a job, until a time."""

    table = "leases"
    key = ("name",)

    name: str  # of the job
    holder: str  # chosen by the process
    until: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PendingScrub(SingletonRecord):
    """Deleted rows have left bytes in the files of the database, which are to be scrubbed."""

    table = "pending_scrub"

    since: datetime  # the first deletion that was not scrubbed
    last_deletion: str  # a random id: it changes with every deletion
    numbers: tuple[int, ...] = ()  # that people had of whom something was deleted


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress(Record):
    """How far an import has got: asked for again, the same file goes on from there."""

    table = "import_progress"
    key = ("digest",)

    digest: str  # of the file and the options
    rows: int  # that have been written


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LastRefit(SingletonRecord):
    """When the prior was last fitted again without being asked, and how many events there had been."""

    table = "last_refit"

    at: datetime
    events: int = 0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestMinute(Record):
    """How many requests one process answered within a minute, by route and status, and how long they took."""

    table = "request_minutes"
    key = ("at", "process")

    at: datetime  # the end of it
    process: str
    counts: str  # JSON: "status method route" to one number per bound of the histogram


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStart(Record):
    """A minute in which processes of a version began to serve."""

    table = "service_starts"
    key = ("at", "version")

    at: datetime
    version: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStart(SingletonRecord):
    """The day on which the demo was first started. The ages of its people are counted from it."""

    table = "demo_start"

    day: date
