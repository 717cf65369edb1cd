"""A running process of the service: made by `compose`, started, ready after a moment, stopped in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final

import structlog

from kaczmatch.api.dependencies import ProcessState
from kaczmatch.api.middleware import error_location
from kaczmatch.app.background import Background
from kaczmatch.app.composition import context_of, credentials_of, fresh_rng, now, scrubbing_of, webhook_delivery_of
from kaczmatch.app.demo.key import demo_key, demo_key_ids, revoke_demo_keys
from kaczmatch.app.warm_up import freeze_garbage, warm_up
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.use_cases import UseCases
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore, SqlStore

FOLLOW_SECONDS, MAINTENANCE_SECONDS, REFIT_SECONDS, WEBHOOK_SECONDS = 0.25, 20.0, 300.0, 0.5
LATE_SECONDS = 10.0  # without having followed the store
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
    status: StartStatus
    process: ProcessState
    before_ready: list[Callable[[], object]] = field(default_factory=list)  # such as adding the demo's people
    jobs: list[tuple[float, str, Callable[[], object]]] = field(default_factory=list)  # seconds between turns, name, job
    on_stop: list[Callable[[], object]] = field(default_factory=list)  # after the last turn of every job

    def start(self) -> None:
        """Get ready in the background; until then requests are told to come back."""
        self.background.once("start", self._prepare)

    def wait_started(self) -> None:
        """Until it is ready, or has failed to become so."""
        self.status.started.wait()

    def wait_ready(self, seconds: float = 120.0) -> None:
        if not self.status.ready.wait(seconds):
            raise TimeoutError(f"the service is not ready: {self.status.not_ready_reason()}")

    def stop(self) -> None:
        """Finish what is in progress, then let go of the store."""
        self.status.stopping = True
        self.background.stop()
        for close in self.on_stop:
            close()
        with suppress(StoreUnavailable):
            self.serving_index.close()
        self.store.close()

    def _prepare(self) -> None:
        try:
            self.status.step = "compiling kernels"
            warm_up(self.settings)
            self.status.step = "loading everybody"
            for step in self.before_ready:
                step()
            self.serving_index.load()
            freeze_garbage()
        except Exception as error:
            # A stored profile can only be refused where the settings have changed since, such as the list of kinds.
            why = (
                f"the settings do not fit the stored profiles: {error}"
                if isinstance(error, InvalidInput)
                else type(error).__name__
            )
            self.status.step = f"failed to start ({why}); see the log"
            self.status.started.set()
            log.error("start failed", error=why, where=error_location(error))
            raise
        self.status.last_followed = time.monotonic()
        self.status.ready.set()
        self.status.started.set()
        log.info("ready", people=len(self.serving_index))
        self.background.every(FOLLOW_SECONDS, "follow", self._follow)
        self.background.every(MAINTENANCE_SECONDS, "maintenance", Maintenance(self.context).run)
        self.background.every(MAINTENANCE_SECONDS, "erasures", self.use_cases.erasure.resume)
        self.background.every(RESUME_SECONDS, "resume relearning", Relearning(self.context).resume)
        if self.settings.refit:
            refit = Refit(self.context)
            every, enough = timedelta(days=self.settings.refit_days), self.settings.refit_people
            self.background.every(REFIT_SECONDS, "refit", lambda: refit.run_if_due(every=every, min_people=enough))
        for seconds, name, job in self.jobs:
            self.background.every(seconds, name, job)

    def _follow(self) -> None:
        self.serving_index.follow()
        self.status.last_followed = time.monotonic()


@final
@dataclass(slots=True)
class StartStatus:
    """How far the start has come, and whether memory keeps up with the store since."""

    ready: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)  # ready, or failed to become so
    step: str = "starting"
    stopping: bool = False
    last_followed: float = 0.0  # when memory last was as the store, by the monotonic clock

    def not_ready_reason(self) -> str:
        """Why requests cannot be served; empty: they can."""
        if self.stopping:
            return "stopping"
        return "" if self.ready.is_set() else self.step

    def unhealthy_reason(self) -> str:
        """Why another process should be asked instead; empty: all is well. Requests are still served."""
        behind = time.monotonic() - self.last_followed
        return self.not_ready_reason() or (f"has not kept up with the store for {behind:.0f} s" if behind > LATE_SECONDS else "")


def compose(
    settings: Settings,
    store: SqlStore | MemoryStore,
    *,
    clock: Callable[[], datetime] = now,
) -> System:
    """Put everything together over an open store. Nothing runs yet."""
    context = context_of(settings, store, clock)
    serving_index, status = ServingIndex(context), StartStatus()
    credentials = credentials_of(settings, context)
    if settings.demo:
        demo_key(credentials, settings.data / "demo-key")
    else:
        revoke_demo_keys(credentials)
    use_cases = UseCases.over(serving_index, credentials, scrubbing_of(context, store), fresh_rng)
    process = ProcessState(status.not_ready_reason, status.unhealthy_reason, demo_key_ids(credentials))
    system = System(settings, store, context, serving_index, use_cases, Background(), status, process)
    if settings.webhook_url is not None:
        delivery = webhook_delivery_of(settings, context, use_cases.feed)
        system.jobs.append((WEBHOOK_SECONDS, "webhooks", lambda: delivery.deliver_due(lambda: system.background.stopping)))
        system.on_stop.append(delivery.close)
    return system
