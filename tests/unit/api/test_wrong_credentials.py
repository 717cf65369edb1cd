"""Wrong credentials are answered ever more slowly, by address, in bounded memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kaczmatch.api import wrong_credentials
from kaczmatch.api.problems import TooManyWrong
from kaczmatch.api.wrong_credentials import WrongCredentials


class Time:
    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def sent(limit: WrongCredentials, address: str, times: int) -> list[int | None]:
    """What was said to each: nothing, or how long to wait."""

    async def one() -> int | None:
        try:
            await limit.hold_back(address)
        except TooManyWrong as refusal:
            return refusal.seconds
        return None

    async def all_of_them() -> list[int | None]:
        return [await one() for _ in range(times)]

    return asyncio.run(all_of_them())


def test_some_are_free_then_each_waits_longer_then_they_are_turned_away() -> None:
    time = Time()
    limit = WrongCredentials(30, time, time.sleep)
    assert sent(limit, "192.0.2.1", 30) == [None] * 30
    assert time.slept == []
    assert sent(limit, "192.0.2.1", 4) == [None, None, 6, 6]
    assert time.slept == [2.0, 4.0]
    assert sent(limit, "192.0.2.2", 1) == [None]
    assert time.slept == [2.0, 4.0], "another address is not slowed"
    time.now = 60.0
    assert sent(limit, "192.0.2.1", 1) == [None]
    assert time.slept == [2.0, 4.0], "a minute of silence is enough"


def test_no_limit_is_no_limit() -> None:
    time = Time()
    assert sent(WrongCredentials(None, time, time.sleep), "192.0.2.1", 1_000) == [None] * 1_000
    assert time.slept == []


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_credentials, "_MOST_ADDRESSES", 10)
    limit = WrongCredentials(30, Time(), Time().sleep)
    for place in range(100):
        sent(limit, f"192.0.2.{place}", 1)
    assert len(limit._paid_until) == 10


def test_few_answers_wait_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_credentials, "_MOST_HELD", 2)

    async def run() -> list[Any]:
        awake = asyncio.Event()

        async def sleep(seconds: float) -> None:
            del seconds
            await awake.wait()

        limit = WrongCredentials(1, Time(), sleep)
        monkeypatch.setattr(wrong_credentials, "_LONGEST_SECONDS", 600.0)
        await limit.hold_back("192.0.2.1")
        waiting = [asyncio.create_task(limit.hold_back("192.0.2.1")) for _ in range(4)]
        await asyncio.sleep(0)
        awake.set()
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    assert [type(one).__name__ for one in asyncio.run(run())] == ["NoneType", "NoneType", "TooManyWrong", "TooManyWrong"]
