"""Whatever fills the threads that requests share, readiness and authentication have what nothing else can fill."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice
from threading import Event, Semaphore
from typing import Any

import httpx
import pytest

from kaczmatch.service.experiments.report import ExperimentReports
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.operations.timeline import OperatorActions
from worlds.served import Service

from .conftest import Opened


@contextmanager
def blocked(kind: type, name: str) -> Iterator[Semaphore]:
    """Whoever calls this waits. The semaphore counts who has come."""
    over, begun, act = Event(), Semaphore(0), getattr(kind, name)

    def waiting(*values: Any, **named: Any) -> Any:
        begun.release()
        over.wait(60)
        return act(*values, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, name, waiting)
        try:
            yield begun
        finally:
            over.set()


def answers_still(service: Service, user: str, known: str) -> None:
    """Of readiness, of a credential that is known, and of one that is looked up."""
    with httpx.Client(base_url=service.address, timeout=20) as client:
        assert client.get("/v1/health/ready").status_code == 200
        new = service.system.use_cases.credentials.create("test", ("app",))[1]
        for key in (known, new):
            answer = client.post(f"/v1/people/{user}/deck", headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == 200
        wrong = client.post(f"/v1/people/{user}/deck", headers={"Authorization": "Bearer kz_000000000000_00"})
        assert wrong.status_code == 401


def test_readiness_and_authentication_answer_while_all_threads_are_taken(opened: Opened) -> None:
    service = opened("sqlite", threads=4)
    one, _ = service.couple()
    service.deck(one)
    with ThreadPoolExecutor(12) as clients, blocked(Profiles, "get") as begun:
        slow = [clients.submit(service.call, "GET", f"/people/{one}") for _ in range(12)]
        for _ in range(4):
            assert begun.acquire(timeout=20)
        assert not begun.acquire(blocking=False), "there are more threads than were said"
        answers_still(service, one, service.key)
        assert not any(answer.done() for answer in slow)
    assert {answer.result().status_code for answer in slow} == {200}


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        (ExperimentReports, "report", "/operator/experiment"),
        (OperatorActions, "overview", "/operator/overview"),
        (OperatorActions, "group", "/operator/group?name=woman"),
        (OperatorActions, "health", "/operator/health"),
    ],
)
def test_reports_take_one_thread_and_beyond_a_number_they_are_refused(opened: Opened, kind: type, name: str, path: str) -> None:
    service = opened("sqlite", threads=4)
    one, _ = service.couple()
    with ThreadPoolExecutor(24) as clients, blocked(kind, name) as begun:
        reports = [clients.submit(service.call, "GET", path) for _ in range(24)]
        assert begun.acquire(timeout=20)
        refused = list(islice(as_completed(reports, timeout=20), 8))
        assert not begun.acquire(blocking=False)
        assert service.ok("GET", f"/people/{one}")["id"] == one
        answers_still(service, one, service.key)
        assert {answer.result().status_code for answer in refused} == {503}
    assert {answer.result().status_code for answer in reports} == {200, 503}


def test_a_report_is_kept_for_a_moment_and_says_of_when_it_is(service: Service) -> None:
    for path in ("/operator/experiment", "/operator/group?name=woman"):
        told = [service.ok("GET", path)["at"] for _ in range(3)]
        assert len(set(told)) <= 2, "a minute may end in between"
