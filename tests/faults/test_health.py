"""P10 with real faults under load: full and lost disks, and a server that goes away, are told and pass by themselves."""

from __future__ import annotations

import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.settings.model import Settings
from worlds.postgres import Server
from worlds.served import Service, serving

PATIENCE = 60  # seconds until a test gives up; how long it may take is tested with a clock of its own


def told(service: Service, status: int) -> str:
    for _ in range(PATIENCE * 20):
        answer = service.client.get("/v1/health/ready")
        if answer.status_code == status:
            return str(answer.json()["detail"])
        time.sleep(0.05)
    pytest.fail(f"it never answered {status}, but {answer.status_code}: {answer.text}")


@contextmanager
def loaded(service: Service) -> Iterator[dict[int, int]]:
    """While somebody's profile is written again and again; how often each status was the answer."""
    me, _ = service.couple()
    statuses, over = dict[int, int](), threading.Event()

    def write() -> None:
        with httpx.Client(base_url=service.address, headers={"Authorization": f"Bearer {service.key}"}, timeout=60) as client:
            while not over.is_set():
                status = client.post(f"/v1/people/{me}/pause").status_code
                statuses[status] = statuses.get(status, 0) + 1
                time.sleep(0.005)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield statuses
    finally:
        over.set()
        for writer in writers:
            writer.join()


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """No file of this process may get longer than the log of the database is now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "kaczmatch.sqlite3-wal").stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def lost_disk(folder: Path) -> Iterator[None]:
    """The file is gone from its place, as from a disk that was unmounted, and comes back."""
    file = folder / "kaczmatch.sqlite3"
    file.rename(folder / "away")
    try:
        yield
    finally:
        (folder / "away").rename(file)


@pytest.mark.parametrize("fault", [full_disk, lost_disk], ids=["full", "lost"])
def test_a_full_or_lost_disk_is_told_and_passes(fault: type, tmp_path: Path) -> None:
    with serving(Settings(data=tmp_path, log_level="error")) as service, loaded(service) as statuses:
        assert told(service, 200) == ""
        with fault(tmp_path):
            assert "takes no writes" in told(service, 503)
            assert service.call("GET", "/vocabulary").is_success, "what can be served is"
            while not statuses.get(503):
                time.sleep(0.01)
        assert told(service, 200) == ""
        before = statuses[200]
        while statuses[200] == before:
            time.sleep(0.01)
        assert set(statuses) == {200, 503}


def test_a_disk_that_is_lost_while_nobody_writes_is_told(tmp_path: Path) -> None:
    with serving(Settings(data=tmp_path, log_level="error")) as service:
        assert told(service, 200) == ""
        with lost_disk(tmp_path):
            assert "takes no writes" in told(service, 503)
        assert told(service, 200) == ""


def test_a_server_that_goes_away_is_told_and_passes(tmp_path: Path, postgres: Server, postgres_url: str) -> None:
    with serving(Settings.model_validate({"data": tmp_path, "database": postgres_url, "log_level": "error"})) as service:
        with loaded(service) as statuses:
            assert told(service, 200) == ""
            try:
                postgres.stop(signal.SIGQUIT)
                assert "takes no writes" in told(service, 503)
            finally:
                postgres.start()
            assert told(service, 200) == ""
            before = statuses[200]
            while statuses[200] == before:
                time.sleep(0.01)
        assert set(statuses) <= {200, 503}


def test_readiness_stays_while_another_model_is_learned_and_loaded(tmp_path: Path) -> None:
    with serving(Settings(data=tmp_path, log_level="error")) as service:
        for _ in range(20):
            service.couple()
        over, answers = threading.Event(), set[int]()

        def look() -> None:
            while not over.is_set():
                answers.add(service.client.get("/v1/health/ready").status_code)
                time.sleep(0.005)

        looking = threading.Thread(target=look)
        looking.start()
        relearning = Relearning(service.system.context)
        relearning.relearn("probit", {}, service.system.serving_index.recommender.index.prior)
        service.ok("PATCH", "/vocabulary", json={"add_tags": ["beekeeping"]})
        service.system.serving_index.follow()
        over.set()
        looking.join()
        assert answers == {200}
        told = dict(line.rsplit(" ", 1) for line in service.call("GET", "/metrics").text.splitlines() if line[0] != "#")
        assert float(told["kaczmatch_rebuilds"]) >= 2.0, "one for the model, one for the vocabulary"
