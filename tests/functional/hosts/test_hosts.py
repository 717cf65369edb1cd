"""The service on several machines (docs/several-machines.md): network namespaces, HAProxy, PgBouncer and PostgreSQL.

`benchmarks/hosts.py` does the same by the hundred.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
import psycopg
import pytest

from kaczmatch.service.domain.appearances import exposure_counts
from kaczmatch.service.domain.catalogue import model_learner, neutral_prior
from kaczmatch.service.domain.impressions import people_shown
from kaczmatch.service.domain.records import StoredDeck
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.storage import SqlStore
from kaczmatch.storage.connecting import connected
from kaczmatch.storage.migrating import migrate
from survival import survived, town_of
from worlds.hosts import Hosts, profile
from worlds.network import Machine, network, program, wait_until
from worlds.receiver import Receiver, receiver
from worlds.release_after import last_revision, release_after

BLOCKS = 4


class World(NamedTuple):
    """Two machines, and an app that is told of matches. The second machine reaches PostgreSQL through PgBouncer."""

    hosts: Hosts
    received: Receiver
    settings: dict[str, str]
    pooled: str

    def serve(self, *machines: Machine, code: Path | None = None) -> None:
        """What is not served yet, until it is ready."""
        for machine in machines:
            if not machine.processes:
                database = self.pooled if machine is self.hosts.hosts[1] else self.hosts.url
                self.hosts.serve(machine, code, database=database, **self.settings)
        self.hosts.wait_ready(*machines)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    for name in ("haproxy", "pgbouncer"):
        program(name)
    with network() as net, ExitStack() as running:
        folder = Path(running.enter_context(TemporaryDirectory(prefix="kaczmatch-hosts-")))
        folder.chmod(0o755)  # HAProxy and PgBouncer read their files as somebody else
        hosts = Hosts(net, folder, blocks_a_day=str(BLOCKS))
        running.callback(hosts.remove)
        with hosts.app.inside():
            address, received = running.enter_context(receiver(hosts.app.address))
            pooled = hosts.pool()
        told = {"webhook_url": address, "webhook_trusting": "true", "webhook_secret": f"whsec_{'A' * 43}="}
        yield World(hosts, received, told, pooled)


@pytest.fixture
def served(world: World) -> World:
    """Ready, with the tables of this release."""
    with world.hosts.app.inside():
        migrate(world.hosts.url)
    world.hosts.key()  # without one, nobody listens where others can reach it
    world.serve(*world.hosts.hosts)
    return world


def forget_migration(url: str) -> None:
    """The tables are those of this release again, which what was added does not bother."""
    database = connected(url)
    with closing(database), database.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = %s", (last_revision(),))


def command(hosts: Hosts, *words: str, code: Path | None = None) -> str:
    """`kaczmatch`, on the app's machine."""
    program = [sys.executable, "-W", "ignore", "-c", "from kaczmatch.cli.main import main; main()", *words]
    options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120}
    with hosts.app.inside():
        done = subprocess.run(program, env=hosts.environment(hosts.app, code), check=False, **options)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def ended_if_it_fails(hosts: Hosts) -> Iterator[None]:
    """Other tests would go on with machines that serve another release."""
    try:
        yield
    except BaseException:
        for host in hosts.hosts:
            host.end()
        raise


def test_a_rolling_upgrade_answers_every_request(
    world: World, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """From this release to one after it, which changes the tables."""
    hosts, after = world.hosts, release_after(tmp_path)
    command(hosts, "migrate")
    key = re.findall(r"kz_\w+", command(hosts, "keys", "create", "app", "--scope", "app"))[0]
    with ended_if_it_fails(hosts):
        world.serve(*hosts.hosts)
        with hosts.loaded(hosts.balance(), key, 0) as load:
            command(hosts, "migrate", code=after)
            for host in hosts.hosts:
                host.end()
                world.serve(host, code=after)
            so_far = len(load.told)
            wait_until(lambda: len(load.told) > so_far + 20, "nothing is acknowledged any more")
        for host in hosts.hosts:
            host.end()
    with hosts.app.inside():
        forget_migration(hosts.url)
    assert load.failed == []
    with hosts.app.inside():
        kept = survived(hosts.url, load.told, 0).acknowledged
    record_property("found", f"{load.answered:,} requests, {len(load.failed)} failed; {kept:,} acknowledged swipes, 0 lost")
    assert kept > 0


def together(*calls: Any) -> list[Any]:
    """Every call in a thread of its own, at once."""
    with ThreadPoolExecutor(len(calls)) as threads:
        return [one.result() for one in [threads.submit(call) for call in calls]]


def test_machines_agree(served: World) -> None:
    """On tokens, sessions, quotas, decks, matches, webhooks, models and exposure: each asked of both."""
    hosts, key = served.hosts, served.hosts.key()
    with ExitStack() as here:
        a, b = (here.enter_context(hosts.client(f"http://{host.address}:8000", key)) for host in hosts.hosts)

        # Somebody who was added on one machine is in the decks of the other.
        assert a.put("/v1/people/ada", json=profile("woman", 60.0)).status_code == 201
        assert b.put("/v1/people/bo", json=profile("man", 60.0)).status_code == 201
        wait_until(lambda: b.post("/v1/people/ada/deck", json={}).json()["cards"], "bo is not in a deck of the other machine")
        wait_until(lambda: a.post("/v1/people/bo/deck", json={}).json()["cards"], "ada is not in a deck of the other machine")
        for user in ("ada", "bo"):
            decks = together(
                *[lambda c=c, user=user: c.post(f"/v1/people/{user}/deck", json={}).json()["id"] for c in (a, b) * 3]
            )
            assert len(set(decks)) == 1, "an open deck is the same everywhere"

        # A token counts everywhere, and a quota once.
        token = a.post("/v1/tokens", json={"user": "ada", "seconds": 900}).json()["token"]
        mine = {"Authorization": f"Bearer {token}"}
        assert b.get("/v1/people/ada", headers=mine).status_code == 200
        for place in range(2 * BLOCKS):
            a.put(f"/v1/people/other-{place}", json=profile("man", 65.0))
        blocked = together(
            *[
                lambda c=c, place=place: c.put(f"/v1/people/ada/blocks/other-{place}", headers=mine).status_code
                for place, c in enumerate((a, b) * BLOCKS)
            ]
        )
        assert sorted(blocked) == [204] * BLOCKS + [429] * BLOCKS

        # So does a session of the console.
        cookie = a.post("/console/login", data={"key": key}).headers["set-cookie"].partition(";")[0]
        assert b.post("/console/token", headers={"Cookie": cookie}).status_code == 200

        # Two who like each other at the same moment on two machines have one match, which the app is told of once each.
        deck = {user: b.post(f"/v1/people/{user}/deck", json={}).json()["id"] for user in ("ada", "bo")}

        def like(client: httpx.Client, user: str, other: str) -> str | None:
            body = {"candidate": other, "decision": "like", "deck": deck[user]}
            return str(client.put(f"/v1/people/{user}/swipes/s1", json=body).json()["match"] or "")

        matches = together(lambda: like(a, "ada", "bo"), lambda: like(b, "bo", "ada"))
        assert sorted(map(bool, matches)) == [False, True]
        calls = served.received.calls
        wait_until(lambda: sum(b'"ada"' in body for _, body in calls) == 2, "the app was not told twice, once for each of them")
        assert len({headers["webhook-id"] for headers, _ in calls}) == len(calls), "the app was told twice"

        # Both deal by another model, once one process has made it; and all cards count, whoever dealt them.
        with closing(SqlStore(hosts.url)) as store:
            town = town_of(store, 0)
            dimensions = town.models.vocabulary().dimensions
            model = town.relearning.relearn("probit-diag", {}, neutral_prior(model_learner("probit-diag", {}), dimensions))
            for client, user in ((a, "cleo"), (b, "dora")):
                client.put(f"/v1/people/{user}", json=profile("woman", 65.0))

                def dealt_by_it(client: httpx.Client = client, user: str = user) -> bool:
                    deck = client.post(f"/v1/people/{user}/deck", json={"size": 1}).json()
                    for card in deck["cards"]:
                        body = {"candidate": card["id"], "decision": "skip", "deck": deck["id"]}
                        client.put(f"/v1/people/{user}/swipes/{deck['id']}", json=body)
                    with store.read() as reader:
                        return {one.model for one in reader.find(StoredDeck, user=user, newest=True, limit=1)} == {model}

                wait_until(dealt_by_it, "it deals by the old model")
            with store.read() as reader:
                cards = sum(len(people_shown(deck)) for deck in reader.find(StoredDeck))
                assert sum(sum(counts.values()) for counts, _ in exposure_counts(reader)) == pytest.approx(cards, rel=0.01)


def test_a_machine_that_vanishes_loses_nothing(served: World, record_property: Callable[[str, object], None]) -> None:
    """One at a time, while the other and the load balancer go on."""
    hosts, key, kept, answered = served.hosts, served.hosts.key(), 0, 0
    for cycle, host in enumerate(hosts.hosts, 1):
        served.serve(*hosts.hosts)
        with hosts.loaded(hosts.balance(), key, cycle) as load:
            host.vanish()
            so_far = len(load.told)
            wait_until(lambda load=load, so_far=so_far: len(load.told) > so_far + 20, "the other machine does not go on")
        assert load.failed[:5] == []
        with hosts.app.inside():
            kept += survived(hosts.url, load.told, cycle).acknowledged
        answered += load.answered
        host.plug_in()
    record_property("found", f"2 machines vanished, {answered:,} requests, 0 failed; {kept:,} acknowledged swipes, 0 lost")
    assert kept > 0


def test_locks_of_a_machine_that_vanished_are_let_go(world: World) -> None:
    """Nobody has closed its connection. Whoever waits for one of its locks gets it before giving up."""
    hosts, machine = world.hosts, world.hosts.hosts[0]
    machine.end()
    with hosts.app.inside():
        migrate(hosts.url)
    holding = (
        "import sys, time; from kaczmatch.storage import SqlStore\n"
        "store = SqlStore(sys.argv[1])\n"
        "def hold(transaction): print('held', flush=True); time.sleep(600)\n"
        "with store.read(): pass\n"
        "store.write(hold, locks=['ada']).result()"
    )
    process = machine.start([sys.executable, "-c", holding, hosts.url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    machine.vanish()
    process.stdout.close()
    try:
        with hosts.app.inside(), closing(SqlStore(hosts.url)) as store:
            store.write(lambda _: None, locks=["ada"]).result(25)
            clients = {str(address) for (address,) in hosts.server.ask("SELECT client_addr FROM pg_stat_activity")}
            assert machine.address not in clients, "connections that read are kept"
    finally:
        machine.plug_in()


def test_a_pooler_that_drops_settings_is_refused(world: World) -> None:
    """With the statement that helps."""
    hosts, url = world.hosts, world.pooled
    with hosts.app.inside():
        hosts.server.ask("ALTER ROLE tester RESET lock_timeout")
        try:
            with closing(psycopg.connect(url.replace("/kaczmatch", "/pgbouncer"), autocommit=True)) as console:
                console.execute("RECONNECT")
            with pytest.raises(StoreUnavailable, match=r"ALTER ROLE tester SET lock_timeout = '30s';$"):
                SqlStore(url)
        finally:
            hosts.server.ask("ALTER ROLE tester SET lock_timeout = '30s'")
