"""P10: readiness tells the truth within ten seconds, by a clock in the hands of the test."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from kaczmatch.app.health import PROBE_SECONDS, ProcessHealth
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.store import StoreUnavailable
from worlds.clock import Clock


class Store:
    """Takes writes, refuses them, or says nothing at all."""

    def __init__(self) -> None:
        self.behaves, self.waiting, self.outage = "well", list[Future[None]](), None

    def write(self, work: Callable[[Any], None], **_: Any) -> Future[None]:
        del work
        if self.behaves == "full queue":
            raise StoreUnavailable("too much is waiting to be written")
        future: Future[None] = Future()
        if self.behaves == "well":
            future.set_result(None)
        elif self.behaves == "failing":
            future.set_exception(StoreUnavailable("no disk"))
        else:
            self.waiting.append(future)
        return future


class Process:
    def __init__(self) -> None:
        self.now, self.store, self.follows = 0.0, Store(), True
        context = Context(self.store, ServiceConfig(), Clock(), lambda: "id")  # type: ignore[arg-type]
        self.health = ProcessHealth(context, lambda: self.store.outage, lambda: self.now)

    def goes_on(self, seconds: float) -> list[bool]:
        """Whether it was healthy after each second."""
        told = []
        for _ in range(round(seconds)):
            self.now += 1.0
            if self.follows:
                self.health.set_followed()
            if self.now % PROBE_SECONDS == 0.0:
                self.health.probe()
            told.append(not self.health.unhealthy_reason())
        return told


@pytest.fixture
def process() -> Process:
    process = Process()
    assert process.health.unhealthy_reason() == "starting"
    process.health.set_ready()
    assert all(process.goes_on(60))
    return process


@pytest.mark.parametrize("behaves", ["failing", "hanging", "full queue"])
def test_a_store_that_takes_no_writes_is_told_within_ten_seconds_and_so_is_its_recovery(process: Process, behaves: str) -> None:
    process.store.behaves = behaves
    assert not process.goes_on(10)[-1]
    assert not any(process.goes_on(60))
    assert "takes no writes" in process.health.unhealthy_reason()
    process.store.behaves = "well"
    for future in process.store.waiting:
        future.set_result(None)
    assert process.goes_on(10)[-1]
    assert all(process.goes_on(60))


def test_only_one_probe_is_under_way(process: Process) -> None:
    process.store.behaves = "hanging"
    process.goes_on(60)
    assert len(process.store.waiting) == 1


def test_a_commit_that_failed_counts_though_the_small_probe_gets_through(process: Process) -> None:
    process.store.outage = process.now
    assert not process.goes_on(1)[-1]
    assert process.goes_on(10)[-1]


def test_memory_that_does_not_follow_is_told_but_not_for_the_length_of_a_rebuild(process: Process) -> None:
    process.follows = False
    assert all(process.goes_on(20))
    assert not process.goes_on(20)[-1]
    assert "has not kept up" in process.health.unhealthy_reason()
    process.follows = True
    assert process.goes_on(1)[-1]


def test_each_step_of_the_start_is_timed() -> None:
    process = Process()
    for step, seconds in (("compiling", 3.0), ("loading", 5.0)):
        with process.health.starting(step):
            assert process.health.not_ready_reason() == step
            process.now += seconds
    assert process.health.step_seconds == {"compiling": 3.0, "loading": 5.0}
