"""P1 and P4: a swipe that was acknowledged survives a killed process, and every state is the replay of its events."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import Event, Impression, PersonCounters
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import new_person, snapshot_of
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import SqlStore
from swiper import PEOPLE
from worlds.clock import NOON
from worlds.town import Town, about

KILLS = 50
CARD = {"at": NOON, "position": 0, "propensity": 1.0, "score": 1.0, "reason": "sampled"}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def nursery() -> Iterator[subprocess.Popen[str]]:
    script = Path(__file__).with_name("swiper.py")
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-W", "ignore", script], **pipes) as process:  # noqa: S603
        yield process
        process.stdin.close()  # type: ignore[union-attr]


def settle(town: Town) -> None:
    def work(transaction: Transaction) -> None:
        words = town.world.recommender.index.vocabulary
        for place in range(PEOPLE):
            for me in (f"w{place}", f"m{place}"):
                person = new_person(me, about(me, man=me[0] == "m"), words, town.context.config.schema, NOON, None)
                transaction.put(person)
                transaction.put(snapshot_of(person))
                transaction.put(PersonCounters(user=me))

    town.context.store.write(work).result()


def deal(town: Town, cycle: int) -> None:
    """Everybody has everybody's card, in a deck of this cycle."""

    def work(transaction: Transaction) -> None:
        for woman in range(PEOPLE):
            for man in range(PEOPLE):
                for me, other in ((f"w{woman}", f"m{man}"), (f"m{man}", f"w{woman}")):
                    transaction.put(Impression(user=me, deck=f"d{cycle}", candidate=other, **CARD))  # type: ignore[arg-type]

    town.context.store.write(work).result()


def test_no_acknowledged_swipe_is_lost_in_fifty_kills(
    url: str, nursery: subprocess.Popen[str], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    moments = random.Random(1)  # noqa: S311
    ledger, acknowledged, unknown = tmp_path / "ledger", 0, 0
    with closing(SqlStore(url)) as store:
        town = Town(store)
        settle(town)
        deal(town, 0)
    for cycle in range(KILLS):
        ledger.unlink(missing_ok=True)
        nursery.stdin.write(f"{url} {ledger} {cycle}\n")  # type: ignore[union-attr]
        nursery.stdin.flush()  # type: ignore[union-attr]
        child = int(nursery.stdout.readline())  # type: ignore[union-attr]
        started = time.monotonic()
        while not ledger.exists() or not ledger.stat().st_size:
            assert time.monotonic() - started < 60, "nothing was acknowledged"
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.2))
        os.kill(child, signal.SIGKILL)
        assert nursery.stdout.readline() == "gone\n"  # type: ignore[union-attr]
        told = {tuple(line.split()) for line in ledger.read_text().splitlines()}
        with closing(SqlStore(url)) as store:
            town = Town(store)
            kept = {
                (one.user, one.id, one.candidate, one.decision) for one in town.find(Event) if one.id.startswith(f"c{cycle}-")
            }
            assert told <= kept, f"lost: {told - kept}"
            acknowledged, unknown = acknowledged + len(told), unknown + len(kept - told)
            verdict = verify(town.context)
            assert verdict.problems == ()
            assert verdict.close == 0
            deal(town, cycle + 1)
    words = f"{KILLS} kills, {acknowledged:,} acknowledged swipes, 0 lost; {unknown} committed that nobody had been told of"
    record_property("found", words)
    assert acknowledged > KILLS
