"""A running system: made by `compose`, started, ready after a moment, stopped in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import final

import structlog

from kaczmatch.api.edge import where
from kaczmatch.api.parts import Parts
from kaczmatch.app.background import Background
from kaczmatch.app.collecting import collect_rarely
from kaczmatch.app.composing import access_of, context_of, deliverer_of, fresh_rng, now, scrubbing_of
from kaczmatch.app.demo.key import demo_key, demo_keys, without_demo_keys
from kaczmatch.app.refitting import Refitting
from kaczmatch.app.warming import warm_up
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.context import Context
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore, SqlStore

FOLLOW_SECONDS, UPKEEP_SECONDS, REFIT_SECONDS, WEBHOOK_SECONDS = 0.25, 20.0, 300.0, 0.5
LATE_SECONDS = 10.0  # without a look at the store that went well
RESUME_SECONDS = 60.0  # building a model goes on if whoever began it has failed

log = structlog.stdlib.get_logger("kaczmatch")


@final
@dataclass(slots=True, eq=False)
class System:
    """Everything one process has."""

    settings: Settings
    store: SqlStore | MemoryStore
    context: Context
    world: ServingIndex
    parts: Parts
    background: Background
    status: Status
    before_ready: list[Callable[[], object]] = field(default_factory=list)  # such as inviting the demo's people
    jobs: list[tuple[float, str, Callable[[], object]]] = field(default_factory=list)  # seconds between turns, name, job
    closing: list[Callable[[], object]] = field(default_factory=list)  # after the last turn of every job

    def start(self) -> None:
        """Get ready in the background; until then requests are told to come back."""
        self.background.once("start", self._prepare)

    def wait_started(self) -> None:
        """Until it is ready, or has failed to become so."""
        self.status.started.wait()

    def wait_ready(self, seconds: float = 120.0) -> None:
        if not self.status.ready.wait(seconds):
            raise TimeoutError(f"the service is not ready: {self.status.why()}")

    def stop(self) -> None:
        """Finish what is in progress, then let go of the store."""
        self.status.stopping = True
        self.background.stop()
        for close in self.closing:
            close()
        self.store.close()

    def _prepare(self) -> None:
        try:
            self.status.doing = "compiling kernels"
            warm_up(self.settings)
            self.status.doing = "loading everybody"
            for step in self.before_ready:
                step()
            self.world.load()
            collect_rarely()
        except Exception as error:
            # Of what people said, settings can refuse only what they have no word for any more, such as a kind.
            why = (
                f"the settings do not fit what people said: {error}" if isinstance(error, InvalidInput) else type(error).__name__
            )
            self.status.doing = f"failed to start ({why}); see the log"
            self.status.started.set()
            log.error("start failed", error=why, where=where(error))
            raise
        self.status.followed = time.monotonic()
        self.status.ready.set()
        self.status.started.set()
        log.info("ready", people=len(self.world))
        refitting = Refitting(self.context, self.settings)
        self.background.every(FOLLOW_SECONDS, "follow", self._follow)
        self.background.every(UPKEEP_SECONDS, "upkeep", Maintenance(self.context).run)
        self.background.every(UPKEEP_SECONDS, "erasures", self.parts.erasing.resume)
        self.background.every(RESUME_SECONDS, "resume building", self.parts.models.resume)
        if self.settings.refit:
            self.background.every(REFIT_SECONDS, "refit", refitting.run_if_due)
        for seconds, name, job in self.jobs:
            self.background.every(seconds, name, job)

    def _follow(self) -> None:
        self.world.follow()
        self.status.followed = time.monotonic()


@final
@dataclass(slots=True)
class Status:
    """How far the start has come, and whether memory keeps up with the store since."""

    ready: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)  # ready, or failed to become so
    doing: str = "starting"
    stopping: bool = False
    followed: float = 0.0  # when memory last was as the store, by the monotonic clock

    def why(self) -> str:
        """Why requests cannot be served; empty: they can."""
        if self.stopping:
            return "stopping"
        return "" if self.ready.is_set() else self.doing

    def ails(self) -> str:
        """Why others should be asked instead; empty: all is well. Requests are served all the same, as well as it goes."""
        behind = time.monotonic() - self.followed
        return self.why() or (f"has not kept up with the store for {behind:.0f} s" if behind > LATE_SECONDS else "")


def compose(
    settings: Settings,
    store: SqlStore | MemoryStore,
    *,
    clock: Callable[[], datetime] = now,
) -> System:
    """Put the parts together over an open store; nothing runs yet."""
    context = context_of(settings, store, clock)
    world, status = ServingIndex(context), Status()
    scrubbing = scrubbing_of(context, store)
    access = access_of(settings, context)
    if settings.demo:
        demo_key(access, settings.data / "demo-key")
    else:
        without_demo_keys(access)
    parts = Parts.of(
        context, world, access, fresh_rng, scrubbing, unready=status.why, ailing=status.ails, loopback_keys=demo_keys(access)
    )
    system = System(settings, store, context, world, parts, Background(), status)
    if settings.webhook_url is not None:
        deliverer = deliverer_of(settings, context, parts.feed)
        system.jobs.append((WEBHOOK_SECONDS, "webhooks", lambda: deliverer.drain(lambda: system.background.stopping)))
        system.closing.append(deliverer.close)
    return system
