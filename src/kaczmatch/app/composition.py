"""From settings to the objects that a system is made of."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.adapters.webhooks import WebhookSender
from kaczmatch.api.authentication import AUTHENTICATION_THREADS
from kaczmatch.api.concurrency_limit import ANSWER_THREADS, DECK_THREADS, REPORT_THREADS, TRANSFER_THREADS
from kaczmatch.app.demo.worlds import WORLDS
from kaczmatch.app.first_vocabulary import first_vocabulary
from kaczmatch.app.own_process import in_own_process
from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.recommend.assignments.registry import assignment
from kaczmatch.recommend.decks.policy import MutualPolicy, PaperPolicy, Policy
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.service.access.credentials import Credentials
from kaczmatch.service.domain.config import QuotaLimit, ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Arm, Assigned, Experiment
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.messages.webhook_delivery import TryListener, WebhookDelivery
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.picks_job import PicksJob
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore, SqlStore
from kaczmatch.storage.erasure_ledger import ErasureLedger
from kaczmatch.storage.migrating import migrate
from kaczmatch.storage.postgres import Postgres

DAY = timedelta(days=1)
SCRUB_DELAY = timedelta(minutes=10)
THREADS_BESIDE = AUTHENTICATION_THREADS + DECK_THREADS + ANSWER_THREADS + REPORT_THREADS + TRANSFER_THREADS
REST_SECONDS = 0.02  # after each batch of work that grows with the population: batches take a few milliseconds
POLICIES: dict[str, type[Policy]] = {kind.slug: kind for kind in (MutualPolicy, PaperPolicy)}


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return secrets.token_hex(12)


def fresh_rng() -> np.random.Generator:
    """One a deck, so that requests need not share a generator; nobody can foresee it."""
    return np.random.default_rng(secrets.randbits(128))


def open_store(settings: Settings) -> SqlStore:
    """The store that the settings name. A SQLite file is brought up to date here; PostgreSQL by `kaczmatch migrate`."""
    url = settings.url
    if url.startswith("sqlite"):
        Path(url.partition(":///")[2]).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        migrate(url)
    return SqlStore(url, readers=settings.threads + THREADS_BESIDE + 6)  # some for what runs in the background


def service_config_of(settings: Settings) -> ServiceConfig:
    return ServiceConfig(
        schema=schema_of(settings),
        cooldown=timedelta(days=settings.cooldown_days),
        repeats=settings.repeats,
        away_days=None if settings.demo else settings.away_days,  # invented people never come back
        admirers_listed=settings.admirers_listed,
        deck_size=settings.deck_size,
        deck_life=timedelta(minutes=settings.deck_minutes),
        session_silence=timedelta(minutes=settings.session_minutes),
        policy=policy_of(settings.policy, settings.policy_settings),
        exposure_cap=settings.exposure_cap,
        appeal=AppealModel(half_life_days=settings.appeal_half_life_days),
        experiment=experiment_of(settings),
        swipes=QuotaLimit(settings.swipes_a_day, DAY),
        decks=QuotaLimit(settings.decks_a_day, DAY),
        edits=QuotaLimit(settings.edits_a_day, DAY),
        changes=QuotaLimit(settings.changes_a_day, DAY),
        blocks=QuotaLimit(settings.blocks_a_day, DAY),
        reports=QuotaLimit(settings.reports_a_day, DAY),
        exports=QuotaLimit(settings.exports_a_day, DAY),
        histories=QuotaLimit(settings.histories_a_day, DAY),
        keep_impressions=timedelta(days=settings.keep_impressions_days),
        keep_audit=timedelta(days=settings.keep_audit_days),
        keep_messages=timedelta(days=settings.keep_messages_days),
    )


def picks_of(settings: Settings, context: Context) -> Callable[[], int | None] | None:
    """Publishes picks, if it is past the hour for it and there are none of today. The demo has some from its start on."""
    hour = 0 if settings.demo else settings.picks_hour
    rule = assignment(settings.picks_assignment, **settings.picks_settings)
    return None if hour is None else partial(PicksJob(context).run_if_due, hour, settings.picks_size, rule)


def schema_of(settings: Settings) -> Schema:
    """That of the demo, where the demo brings one."""
    if settings.demo is not None and (schema := WORLDS[settings.demo].schema) is not None:
        return schema
    looks_for = {kind: frozenset(others) for kind, others in settings.looks_for.items()}
    return Schema(settings.kinds, settings.minimum_age, settings.age_required, looks_for, settings.capacity)


def policy_of(slug: str, chosen: Mapping[str, Any]) -> Policy:
    """The policy called `slug` with these settings."""
    kind = POLICIES[slug]
    known = [field.name for field in fields(kind) if field.name != "sampler"]
    for name in chosen:
        if name not in known:
            raise InvalidInput("policy_settings", f"{name!r} is not a setting of {slug!r}; {did_you_mean(name, known)}")
    return kind(**chosen)


def experiment_of(settings: Settings) -> Experiment | None:
    if settings.experiment is None:
        return None
    arms = []
    for name, arm in settings.experiment_arms.items():
        usual = settings.policy_settings if arm.policy in (None, settings.policy) else {}
        chosen = usual if arm.policy_settings is None else arm.policy_settings
        arms.append(Arm(name, policy_of(arm.policy or settings.policy, chosen), arm.share))
    return Experiment(
        name=settings.experiment,
        arms=tuple(arms),
        salt=settings.experiment_salt,
        assigned=Assigned(settings.experiment_by),
        window=timedelta(days=settings.experiment_days),
        block=timedelta(hours=settings.experiment_hours),
        region_km=settings.experiment_km,
    )


def context_of(settings: Settings, store: Store, clock: Callable[[], datetime] = now) -> Context:
    """Store, rules, clock; the store gets its first vocabulary and model if it has none."""
    context = Context(
        store,
        service_config_of(settings),
        clock,
        new_id,
        snapshot=None if isinstance(store, MemoryStore) else SnapshotFiles(settings.data / "snapshot"),
        rest=lambda: time.sleep(REST_SECONDS),
        compute=in_own_process,
    )
    Models(context).set_up(first_vocabulary(settings, context.config.schema), settings.learner, settings.learner_settings)
    return context


def write_snapshot(settings: Settings) -> None:
    """Write another snapshot of the serving index, in a process that does nothing else."""
    with closing(open_store(settings)) as store:
        ServingIndex(context_of(settings, store)).write_snapshot()


def credentials_of(settings: Settings, context: Context) -> Credentials:
    return Credentials(context, token_secret(settings))


def scrubbing_of(context: Context, store: SqlStore | MemoryStore) -> Scrubbing:
    """PostgreSQL writes every table anew for it, which is not for every single erasure."""
    if isinstance(store, MemoryStore):
        return Scrubbing(context)
    costly = isinstance(store.database, Postgres)
    return Scrubbing(context, store.scrub, SCRUB_DELAY if costly else timedelta(0))


def ledger_of(settings: Settings) -> ErasureLedger:
    """Who was erased, in a file that no backup holds."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return ErasureLedger(settings.erasure_ledger or settings.data / "erasures", token_secret(settings))


def webhook_sender_of(settings: Settings) -> WebhookSender:
    """Who sends webhooks; refuses an address or a secret that cannot be used."""
    secret = "" if settings.webhook_secret is None else settings.webhook_secret.get_secret_value()
    return WebhookSender(settings.webhook_url or "", secret.split(), trusting=settings.webhook_trusting)


def webhook_delivery_of(settings: Settings, context: Context, feed: Feed, on_try: TryListener) -> WebhookDelivery:
    return WebhookDelivery(context, feed, webhook_sender_of(settings), fresh_rng(), on_try=on_try)


def token_secret(settings: Settings) -> bytes:
    """What signs user tokens: a setting, or made once and kept beside the database for its owner's eyes only."""
    if settings.token_secret is not None:
        return settings.token_secret.get_secret_value().encode()
    return read_or_create_secret(settings.data / "token-secret")


def read_or_create_secret(file: Path) -> bytes:
    """The secret in a file, which is made if there is none; two processes that start together agree on one."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return file.read_bytes().strip()
    except FileNotFoundError:
        made = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        made.touch(mode=0o600)
        made.write_bytes(secrets.token_hex(32).encode())
        try:
            os.link(made, file)  # fails if another process was first
        except FileExistsError:
            pass
        finally:
            made.unlink()
        return file.read_bytes().strip()
