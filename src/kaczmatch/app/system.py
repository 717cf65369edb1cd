"""A running process of the service: made by `compose`, started, ready after a moment, stopped in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import final

import structlog

from kaczmatch.api.dependencies import ProcessState
from kaczmatch.api.middleware import error_location
from kaczmatch.app.background import Background
from kaczmatch.app.composition import (
    context_of,
    credentials_of,
    fresh_rng,
    ledger_of,
    now,
    picks_of,
    scrubbing_of,
    webhook_delivery_of,
    write_snapshot,
)
from kaczmatch.app.demo.key import demo_key, demo_key_ids, revoke_demo_keys
from kaczmatch.app.health import PROBE_SECONDS, ProcessHealth
from kaczmatch.app.own_process import OwnProcesses
from kaczmatch.app.request_core import LOOK_SECONDS, RequestCore
from kaczmatch.app.warm_up import freeze_garbage, freeze_loaded, warm_up
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import time_text
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Delivery, OutboxMessage
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.use_cases import UseCases
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore, SqlStore

ERASURE_SECONDS = 1.0  # a look whether there is one, which is a row
PROGRESS_SECONDS = 10.0  # between two lines of the log on how far an erasure is
FOLLOW_SECONDS, MAINTENANCE_SECONDS, REFIT_SECONDS, WEBHOOK_SECONDS = 0.25, 20.0, 300.0, 0.5
PICKS_SECONDS = SNAPSHOT_SECONDS = 60.0
RETRY_SECONDS = 2.0
RESUME_SECONDS = 60.0  # relearning goes on if the process that began it has failed

log = structlog.stdlib.get_logger("kaczmatch")


@final
@dataclass(slots=True, eq=False)
class System:
    """Everything that one process has."""

    settings: Settings
    store: SqlStore | MemoryStore
    context: Context
    serving_index: ServingIndex
    use_cases: UseCases
    background: Background
    health: ProcessHealth
    process: ProcessState
    before_ready: list[Callable[[], object]] = field(default_factory=list)  # such as adding the demo's people
    jobs: list[tuple[float, str, Callable[[], object]]] = field(default_factory=list)  # seconds between turns, name, job
    on_stop: list[Callable[[], object]] = field(default_factory=list)  # after the last turn of every job
    on_webhook: list[Callable[[str], None]] = field(default_factory=list)  # called with the outcome of each try
    store_problem: str = ""  # that was last logged
    loop_thread: threading.Thread = field(init=False)

    def start(self) -> None:
        """Get ready in the background; until then requests are told to come back. The caller runs the event loop."""
        self.loop_thread = threading.current_thread()
        self.background.once("start", self._prepare)

    def wait_ready(self, seconds: float = 600.0) -> None:
        if not self.health.ready.wait(seconds):
            raise TimeoutError(f"the service is not ready: {self.health.not_ready_reason()}")

    def stop(self) -> None:
        """Finish what is in progress, then let go of the store."""
        self.health.stopping = True
        self.background.stop()
        for close in self.on_stop:
            close()
        with suppress(StoreUnavailable):
            self.serving_index.close()
        self.store.close()

    def _prepare(self) -> None:
        try:
            with self.health.starting("compiling kernels"):
                warm_up(self.settings)
            with self.health.starting("preparing the store"):
                for step in self.before_ready:
                    step()
            with self.health.starting("loading everybody"):
                self._load()
                freeze_garbage()
        except Exception as error:
            # A stored profile can only be refused where the settings have changed since, such as the list of kinds.
            why = (
                f"the settings do not fit the stored profiles: {error}"
                if isinstance(error, InvalidInput)
                else type(error).__name__
            )
            self.health.step = f"failed to start ({why}); see the log"
            self.health.started.set()
            log.error("start failed", error=why, where=error_location(error))
            raise
        self.health.set_ready()
        if why := self.serving_index.snapshot_problem:
            advice = "decks are dealt without one; make room there or move away what is in its place, then start again"
            log.warning("no snapshot", why=why, advice=advice)
        log.info("ready", people=len(self.serving_index), seconds=self.health.step_seconds)
        if self.settings.url.startswith("sqlite"):  # PostgreSQL does half of the work in processes of its own
            core = RequestCore(self.loop_thread, fresh_rng())
            self.background.every(LOOK_SECONDS, "request core", core.look)
            self.on_stop.append(core.release)
        self.background.every(PROBE_SECONDS, "write probe", self.health.probe)
        self.background.every(PROBE_SECONDS, "store upkeep", self._look_at_store)
        self.background.every(FOLLOW_SECONDS, "follow", self._follow)
        self.background.every(MAINTENANCE_SECONDS, "maintenance", Maintenance(self.context).run)
        self.background.every(ERASURE_SECONDS, "erasures", self._erase)
        self.background.every(MAINTENANCE_SECONDS, "erased ids", lambda: self.use_cases.erasure.tidy(self._stopping))
        self.background.every(RESUME_SECONDS, "resume relearning", Relearning(self.context).resume)
        self.background.every(SNAPSHOT_SECONDS, "snapshot", self._renew_snapshot)
        if self.settings.refit:
            refit = Refit(self.context)
            self.background.every(REFIT_SECONDS, "refit", lambda: self._refit(refit))
        if publish := picks_of(self.settings, self.context, apart=True):
            self.background.every(PICKS_SECONDS, "picks", publish)
        for seconds, name, job in self.jobs:
            self.background.every(seconds, name, job)

    def webhook_tried(self, message: OutboxMessage, delivery: Delivery) -> None:
        """Log a try that failed, and count every one."""
        if delivery.problem:
            told = {"message": message.id, "topic": message.topic, "attempts": delivery.attempts, "problem": delivery.problem}
            again = "never" if delivery.next is None else time_text(delivery.next)
            log.warning("webhook failed", **told, again=again)
        for listener in self.on_webhook:
            listener(delivery.status)

    def _refit(self, refit: Refit) -> None:
        settings = self.settings
        every = timedelta(days=settings.refit_days)
        version = refit.run_if_due(every=every, min_people=settings.refit_people, min_events=settings.refit_swipes)
        if version is not None:
            log.info("prior fitted again", prior=version)

    def _look_at_store(self) -> None:
        """What commits do not wait for can fail unnoticed: it is said once, and again when it is over."""
        problem = self.store.problem() if isinstance(self.store, SqlStore) else ""
        if problem and problem != self.store_problem:
            log.error(
                "store upkeep fails", problem=problem, advice="commits are safe and go on; look at the disk and at long readers"
            )
        elif self.store_problem and not problem:
            log.info("store upkeep works again")
        self.store_problem = problem

    def _stopping(self) -> bool:
        return self.background.stopping

    def _erase(self) -> None:
        begun = told = time.monotonic()

        def watch(done: int, people: int) -> None:
            nonlocal told
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                log.info("erasing", done=done, people=people)

        if finished := self.use_cases.erasure.work(self._stopping, watch):
            log.info("erased", people=finished, seconds=round(time.monotonic() - begun, 1))

    def _renew_snapshot(self) -> None:
        began = time.monotonic()
        if self.serving_index.renew_snapshot(lambda: self.context.compute(partial(write_snapshot, self.settings))):
            log.info("snapshot renewed", seconds=round(time.monotonic() - began, 1))

    def _load(self) -> None:
        """Load everybody, and begin again as long as the store cannot be reached."""
        while True:
            try:
                return self.serving_index.load()
            except StoreUnavailable:
                if self.background.stopping:
                    raise
                log.warning("the store cannot be reached; trying again")
                time.sleep(RETRY_SECONDS)

    def _follow(self) -> None:
        index, health, begun = self.serving_index, self.health, time.monotonic()
        rebuilding, before = index.rebuilding, index.rebuilds
        index.follow()
        health.set_followed()
        if rebuilding or index.rebuilds > before:
            health.rebuild_seconds += time.monotonic() - begun
            freeze_loaded()


def compose(
    settings: Settings,
    store: SqlStore | MemoryStore,
    *,
    clock: Callable[[], datetime] = now,
) -> System:
    """Put everything together over an open store. Nothing runs yet."""
    processes, background = OwnProcesses(), Background()
    background.on_stop.append(processes.end)
    context = context_of(settings, store, clock, processes)
    serving_index = ServingIndex(context)
    health = ProcessHealth(context, store.last_outage) if isinstance(store, SqlStore) else ProcessHealth(context)
    credentials = credentials_of(settings, context)
    if settings.demo:
        demo_key(credentials, settings.data / "demo-key")
    else:
        revoke_demo_keys(credentials)
    use_cases = UseCases.over(serving_index, credentials, scrubbing_of(context, store), fresh_rng, ledger_of(settings).record)
    process = ProcessState(health.not_ready_reason, health.unhealthy_reason, demo_key_ids(credentials))
    system = System(settings, store, context, serving_index, use_cases, background, health, process)
    if settings.webhook_url is not None:
        delivery = webhook_delivery_of(settings, context, use_cases.feed, system.webhook_tried)
        system.jobs.append((WEBHOOK_SECONDS, "webhooks", lambda: delivery.deliver_due(lambda: system.background.stopping)))
        system.on_stop.append(delivery.close)
    return system
