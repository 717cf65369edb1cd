"""What was acknowledged survives a killed process, and a server that stops at once."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import HeldPerson
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.storage import SqlStore
from processes import kept, verify, writer

KILLS = 20


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_killed_writer_loses_nothing_it_acknowledged(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = f"sqlite:///{tmp_path}/store.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    rng = random.Random(6)  # noqa: S311
    acknowledged: set[int] = set()
    SqlStore(url).close()
    with writer() as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for kill in range(KILLS):
            print(url, kill * 10**6, file=nursery.stdin, flush=True)
            child = int(nursery.stdout.readline().split()[1])
            assert nursery.stdout.readline() == "ready\n"
            said = [nursery.stdout.readline() for _ in range(rng.randint(6, 40))]  # however slow the machine is
            time.sleep(rng.uniform(0.0, 0.01))  # and then at any moment of a commit
            os.kill(child, signal.SIGKILL)
            acknowledged |= kept(said) | kept(iter(nursery.stdout.readline, "gone\n"))
            if kill % 10 == 9:
                verify(url, acknowledged)
        nursery.stdin.close()
    assert verify(url, acknowledged) >= len(acknowledged) > 5 * KILLS


def test_an_immediate_stop_of_the_server_is_an_outage_that_passes(postgres: Any, postgres_url: str) -> None:
    """SIGQUIT: PostgreSQL stops without a word and recovers from its log. The store says so, and works again afterwards."""
    store = SqlStore(postgres_url)
    acknowledged = {
        store.write(lambda transaction, i=i: (transaction.put(HeldPerson(user=str(i), actor="1")), str(i))[1]).result()
        for i in range(20)
    }
    try:
        postgres.stop(signal.SIGQUIT)
        with pytest.raises(StoreUnavailable):
            store.write(lambda tx: tx.put(HeldPerson(user="while it is away", actor="1"))).result(60)
        with pytest.raises(StoreUnavailable), store.read() as reader:
            reader.count(HeldPerson)
    finally:
        postgres.start()
    store.write(lambda tx: tx.put(HeldPerson(user="back", actor="1"))).result(60)
    with store.read() as reader:
        assert acknowledged | {"back"} == {held.user for held in reader.find(HeldPerson)}
    store.close()


def test_a_lost_connection_is_taken_up_again(postgres: Any, postgres_url: str) -> None:
    store = SqlStore(postgres_url)
    name = postgres_url.rpartition("/")[2]
    for i in range(3):
        store.write(lambda transaction, i=i: transaction.put(HeldPerson(user=str(i), actor="1"))).result(60)
        postgres.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608
    with store.read() as reader:
        assert reader.count(HeldPerson) == 3
    store.close()
