"""What an operator decides about the product, apart from where and how it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import final

from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.recommend.decks.eligible import COOLDOWN
from kaczmatch.recommend.decks.policy import MutualPolicy, Policy
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.service.domain.experiment import Experiment


@final
@dataclass(frozen=True, slots=True)
class QuotaLimit:
    """At most so often within a window of time. None: no limit."""

    most: int | None
    window: timedelta


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """The same for everybody."""

    schema: Schema = DATING
    cooldown: timedelta = COOLDOWN
    repeats: bool = False  # of people who were passed, after the cooldown, when nobody new is left
    deck_size: int = 32  # the largest that may be asked for is 100
    deck_life: timedelta = timedelta(hours=1)
    session_silence: timedelta = timedelta(minutes=30)
    policy: Policy = field(default_factory=MutualPolicy)
    exposure_cap: float = 2.0
    appeal: AppealModel = field(default_factory=AppealModel)
    swipes: QuotaLimit = QuotaLimit(2_000, timedelta(days=1))
    decks: QuotaLimit = QuotaLimit(500, timedelta(days=1))
    edits: QuotaLimit = QuotaLimit(20, timedelta(days=1))  # of tags and features: each could be a probe into what others like
    # Of these, only what users ask for themselves counts, by their tokens; an app's back end has no quota.
    changes: QuotaLimit = QuotaLimit(100, timedelta(days=1))  # profiles put, pauses, resets
    blocks: QuotaLimit = QuotaLimit(200, timedelta(days=1))
    reports: QuotaLimit = QuotaLimit(20, timedelta(days=1))
    exports: QuotaLimit = QuotaLimit(20, timedelta(days=1))
    histories: QuotaLimit = QuotaLimit(200, timedelta(days=1))  # of a preference
    away_days: int | None = 30  # after which somebody is in no deck, until they come again
    admirers_listed: bool = False  # to back ends
    experiment: Experiment | None = None
    keep_impressions: timedelta = timedelta(days=180)
    keep_audit: timedelta = timedelta(days=365)
    keep_messages: timedelta = timedelta(days=30)
