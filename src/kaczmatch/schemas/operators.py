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
class Timeline(ResponseModel):
    """One person as an operator sees them, the newest entry first. A person who is `held` cannot resume."""

    name: str
    paused: bool
    held: bool
    entries: tuple[TimelineEntry, ...]


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
class WebhookStatus(ResponseModel):
    """Messages that wait for another try, messages that were given up, and what last went wrong."""

    waiting: int
    failed: int
    last_error: str
    last_error_at: datetime | None


@final
class GroupFigures(ResponseModel):
    """Some people, the cards that showed them, how many of those were liked, and their matches."""

    people: int
    cards: int
    likes: int
    matches: int


@final
class GroupComparison(ResponseModel):
    """People with a tag or of a kind, and everybody else. Of the first 20,000 people, and the last 20,000 cards and matches."""

    name: str
    members: GroupFigures
    others: GroupFigures


@final
class TriedTraits(ResponseModel):
    """A number of traits that was tried: nats per swipe of people who were held out, minus the best one's, and its error."""

    traits: int
    log_loss: float
    behind: float
    error: float


@final
class TraitSelection(ResponseModel):
    """How many traits are in use: the fewest within one standard error of the best. Before the first fit none were tried."""

    traits: int
    explained: float | None = Field(description="The share of the log-loss without traits that they take away.")
    tried: tuple[TriedTraits, ...]


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
    traits: TraitSelection | None = Field(default=None, description="Null: the learner has no traits to choose from.")
    webhooks: WebhookStatus
    like_rate: float | None
    match_rate: float | None
    policies: tuple[PolicyUse, ...]
    stability: tuple[float, ...] = Field(description="Δs of people's last two sessions.")
    conditions: tuple[float, ...] = Field(description="κ of AAᵀ + I over each person's last swipes.")
    singular: int = Field(description="How many people have no κ without damping.")
    exposure_gini: float | None
    exposure_top: float | None = Field(description="The share of the cards that showed the most shown 1 % of people.")
    lorenz: tuple[float, ...] = Field(
        description="The share of the cards that showed the least shown 0, 1, 2, … 100 % of people."
    )
    minutes: tuple[MinuteCounts, ...]
    like_everybody: tuple[SuspiciousAccount, ...] = Field(description="Of those who swiped within the hour, the busiest first.")
    sample: PeopleSample
