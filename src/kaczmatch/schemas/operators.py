"""What operators see: one person's timeline, and the whole service in numbers."""

from __future__ import annotations

from datetime import datetime
from typing import final

from pydantic import Field

from kaczmatch.schemas.base import ResponseModel


@final
class TimelineEntry(ResponseModel):
    """One thing that a person did, or that was done to them."""

    at: datetime
    kind: str
    other: str = ""
    detail: str = ""


@final
class PersonBlock(ResponseModel):
    """`user` never wants to meet `other`. A block that came with a report cannot be taken back."""

    user: str
    other: str
    at: datetime
    reported: bool


@final
class Timeline(ResponseModel):
    """One person as an operator sees them, the newest entry first. A person who is `held` cannot resume."""

    name: str
    paused: bool
    held: bool
    blocks: tuple[PersonBlock, ...] = Field(description="By this person and against them, the newest first.")
    entries: tuple[TimelineEntry, ...]


@final
class FoundPerson(ResponseModel):
    """Somebody whom an operator looked for."""

    id: str
    name: str
    paused: bool
    held_by: str | None = Field(description="The key of the operator who holds them; null: nobody does.")
    held_at: datetime | None = Field(description="Since when, as long as the audit log has it.")


@final
class FoundPeoplePage(ResponseModel):
    """People whom an operator looked for. `next` is the cursor of the next page."""

    items: tuple[FoundPerson, ...]
    next: str | None


@final
class WebhookStatus(ResponseModel):
    """Messages that wait for another try, messages that were given up, and what last went wrong."""

    waiting: int
    failed: int
    last_error: str
    last_error_at: datetime | None


@final
class RequestFigures(ResponseModel):
    """Requests of apps: how many, how they ended, and how many seconds they took, as the metrics count them."""

    requests: int
    errors: int = Field(description="Answers of 500 and above, without 503.")
    turned_away: int = Field(description="Answers of 503: told to come back.")
    refused: int = Field(description="Answers of 400 to 499.")
    p50: float | None = Field(description="Null: there was no request. From a histogram whose last bound is 5 seconds.")
    p95: float | None
    p99: float | None


@final
class RequestStep(ResponseModel):
    """A stretch of time that begins at `at`."""

    at: datetime
    figures: RequestFigures


@final
class RouteFigures(ResponseModel):
    """One route by itself."""

    route: str
    figures: RequestFigures


@final
class TimeMark(ResponseModel):
    """Something that may explain a change: `start` of a version, `refit` of the prior, or another `learner`."""

    at: datetime
    kind: str
    detail: str


@final
class ServiceHealth(ResponseModel):
    """How the service does, for operators. Requests are those of all processes; gauges are those of the process that answers."""

    hours: int
    problem: str = Field(description="Why `/health/ready` says 503; empty: all is well.")
    seconds_per_step: int
    steps: tuple[RequestStep, ...]
    total: RequestFigures
    routes: tuple[RouteFigures, ...] = Field(description="Those with errors first, then the slowest.")
    marks: tuple[TimeMark, ...]
    writes_waiting: int | None = Field(description="Writes that wait for a commit. Null: the store has no queue.")
    seconds_behind: float = Field(description="Since memory last was as the store.")
    kept_messages: int = Field(description="Messages in the outbox.")
    webhooks: WebhookStatus
    store_bytes: int | None = Field(description="What the database takes on its disk. Null: it has no disk.")
    disk_free_bytes: int


@final
class PolicyUse(ResponseModel):
    """How many decks of the last hour a policy made with a sampler, and why it chose that sampler."""

    policy: str
    sampler: str
    reason: str
    decks: int


@final
class MinuteCounts(ResponseModel):
    """What happened within one minute."""

    at: datetime
    swipes: int
    likes: int
    decks: int


@final
class SuspiciousAccount(ResponseModel):
    """A person with at least 100 swipes, of which at least 95 % are likes, as bots have."""

    user: str
    swipes: int
    likes: int


@final
class PeopleSample(ResponseModel):
    """How much was looked at: the newest events and cards, and the people who swiped last."""

    events: int
    cards: int
    people: int


@final
class GroupFigures(ResponseModel):
    """Some people, the cards that showed them, how many of those were liked, and their matches."""

    people: int
    cards: int
    likes: int
    matches: int


@final
class GroupComparison(ResponseModel):
    """People with a tag or of a kind, and all others. Cards, likes and matches are those of the same people, since `since`."""

    at: datetime = Field(description="The moment it is of.")
    since: datetime | None = Field(description="When the oldest deck was dealt that was looked at; null: there is none.")
    name: str
    members: GroupFigures
    others: GroupFigures


@final
class Overview(ResponseModel):
    """The service in numbers. Counts are of everybody, rates of the last hour, the rest of a sample."""

    people: int
    paused: int
    matches: int
    open_reports: int
    kept_messages: int
    learner: str
    prior: str
    model_from: datetime | None = Field(description="When this learner or prior took the place of another; null: from the start.")
    refit: bool = Field(description="Whether that was because the prior was fitted again.")
    traits: bool | None = Field(default=None, description="Whether candidates have traits; null: the learner knows of none.")
    webhooks: WebhookStatus
    like_rate: float | None
    match_rate: float | None
    policies: tuple[PolicyUse, ...]
    stability: tuple[float, ...] = Field(description="Δs of people's last two sessions.")
    conditions: tuple[float, ...] = Field(description="κ of AAᵀ + I over each person's last swipes.")
    singular: int = Field(description="How many people have no κ without damping.")
    exposure_gini: float | None
    exposure_gini_lowest: float | None = Field(
        description="The lowest it could be: so many cards for so many people, shared evenly."
    )
    exposure_top: float | None = Field(description="The share of the cards that showed the most shown 1 % of people.")
    lorenz: tuple[float, ...] = Field(
        description="The share of the cards that showed the least shown 0, 1, 2, … 100 % of people."
    )
    minutes: tuple[MinuteCounts, ...]
    like_everybody: tuple[SuspiciousAccount, ...] = Field(description="Of those who swiped within the hour, the busiest first.")
    sample: PeopleSample
