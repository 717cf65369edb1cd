"""What the metrics tell about one process, beside its requests."""

from __future__ import annotations

import shutil
from pathlib import Path

from kaczmatch import __version__
from kaczmatch.api.metrics import Metrics
from kaczmatch.app.system import System
from kaczmatch.service.operations.request_log import RequestLog
from kaczmatch.storage import SqlStore
from kaczmatch.storage.sqlite import Sqlite

REQUESTS_SECONDS = 60.0  # between two notes of what the metrics have counted


def watch_system(metrics: Metrics, system: System) -> None:
    health, index, store = system.health, system.serving_index, system.store
    metrics.watch("people", "People that can be shown.", lambda: float(len(index)) if health.ready.is_set() else 0.0)
    metrics.watch("ready", "Whether requests are served.", lambda: float(not health.not_ready_reason()))
    metrics.watch("healthy", "Whether /health/ready says so.", lambda: float(not health.unhealthy_reason()))
    metrics.watch_by("start_seconds", "How long each step of the start took.", "step", lambda: dict(health.step_seconds))
    metrics.watch(
        "change_lag_seconds",
        "Since memory last was as the store.",
        lambda: health.seconds_behind() if health.ready.is_set() else 0.0,
    )
    metrics.watch("rebuilding", "Whether memory is brought to another model or vocabulary.", lambda: float(index.rebuilding))
    metrics.watch("rebuilds", "How often that was begun, since the start.", lambda: float(index.rebuilds))
    metrics.watch("rebuild_seconds", "How long it took in all.", lambda: health.rebuild_seconds)
    folder = system.settings.data
    if isinstance(store, SqlStore):
        metrics.watch("store_bytes", "What the database takes on its disk.", lambda: float(store.database.bytes_used()))
        metrics.watch("upkeep_failing", "Whether what is done beside commits fails.", lambda: float(bool(store.problem())))
        metrics.watch("writes_waiting", "Writes that wait for a commit.", lambda: float(store.waiting()))
        store.observe_commits(metrics.observe_commit)
        if isinstance(store.database, Sqlite):
            folder = store.database.file.parent
    requests = RequestLog(system.context, metrics.request_counts)
    system.before_ready.append(lambda: requests.note_start(__version__))
    system.jobs.append((REQUESTS_SECONDS, "requests", requests.note))
    system.on_stop.append(requests.note)
    metrics.watch("disk_free_bytes", "Left on the disk of the data folder or database file.", lambda: _free(folder))


def _free(folder: Path) -> float:
    try:
        return float(shutil.disk_usage(folder).free)
    except OSError:
        return 0.0
