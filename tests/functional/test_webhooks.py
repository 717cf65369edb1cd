"""Webhooks against a real receiver: signed, at least once, in order per person, never into our own network."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from kaczmatch.adapters.webhooks import WebhookSender
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Delivery, OutboxMessage
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.messages.sender import RetrySchedule, SendResult
from kaczmatch.service.messages.webhook_delivery import WebhookDelivery
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.storage import SqlStore
from worlds.clock import NOON
from worlds.receiver import Receiver, receiver
from worlds.stores import open_store
from worlds.town import Town

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()


@pytest.fixture(params=["memory", "sqlite"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


@pytest.fixture
def app() -> Iterator[tuple[str, Receiver]]:
    with receiver() as running:
        yield running


def deliverer(context: Context, url: str, *, timeout: float = 5.0, secrets: Sequence[str] = (SECRET,)) -> WebhookDelivery:
    sender = WebhookSender(url, secrets, trusting=True, timeout=timeout)
    return WebhookDelivery(context, Feed(context), sender, np.random.default_rng(0))


def status(context: Context) -> list[tuple[str, int]]:
    with context.store.read() as reader:
        return [(one.status, one.attempts) for one in reader.find(Delivery)]


def verified(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """As the standard tells receivers to do."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    right = base64.b64encode(hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(f"v1,{right}", one) for one in headers["webhook-signature"].split(" "))


def test_a_match_is_told_to_both_sides_and_signed(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    town.populate(2)
    town.swipe("p0", "p1"), town.swipe("p1", "p0")
    with deliverer(town.context, url, secrets=[SECRET, OTHER]) as running:
        assert running.step() == 2
        assert running.step() == 0
    assert len(received.calls) == 2
    for headers, body in received.calls:
        assert verified(SECRET, headers, body)
        assert verified(OTHER, headers, body)
        assert not verified(SECRET, headers, body + b" ")
        assert headers["webhook-timestamp"] == str(int(town.now.timestamp()))
        told = json.loads(body)
        assert told["type"] == "match.created"
        assert told["timestamp"] == "2026-11-15T12:00:02Z"
        assert set(told["data"]) == {"match", "user", "other"}
    assert {json.loads(body)["data"]["user"] for _, body in received.calls} == {"p0", "p1"}
    assert status(town.context) == [("delivered", 1)] * 2
    assert len(Feed(town.context).read()) == 2  # the feed keeps them until they are acknowledged


def test_what_a_clock_that_was_ahead_has_written_is_sent_all_the_same(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    received.answer = lambda body: 503 if json.loads(body)["data"]["n"] == 1 and not received.calls else 204
    with deliverer(town.context, url) as running:
        town.wait(days=2)
        town.announce("ann", 1)
        running.step()
        town.announce("ann", 2)
        town.wait(days=-2)
        assert [running.step(), running.step()] == [1, 1]
    assert [json.loads(body)["data"]["n"] for _, body in received.calls] == [1, 1, 2]


def test_failures_hold_up_one_person_only_and_the_order_is_kept(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    failing = {"ann": 3}

    def answer(body: bytes) -> int:
        user = json.loads(body)["data"]["user"]
        if failing.get(user, 0) > 0:
            failing[user] -= 1
            return 500
        return 200

    received.answer = answer
    for number in range(4):
        for user in ("ann", "bob", "cid"):
            town.announce(user, number)
    with deliverer(town.context, url) as running:
        for _ in range(4):
            running.step()
        done = [json.loads(body)["data"] for _, body in received.calls]
        assert sum(one["user"] == "ann" for one in done) == 1
        assert sum(one["user"] != "ann" for one in done) == 8
        for _ in range(8):
            town.wait(minutes=2)
            running.step()
    numbers = defaultdict(list)
    ids = defaultdict(set)
    for headers, body in received.calls:
        data = json.loads(body)["data"]
        numbers[data["user"]].append(data["n"])
        ids[data["user"], data["n"]].add(headers["webhook-id"])
    assert numbers == {"ann": [0, 0, 0, 0, 1, 2, 3], "bob": [0, 1, 2, 3], "cid": [0, 1, 2, 3]}
    assert all(len(same) == 1 for same in ids.values())  # every try carries the same id
    assert sorted(status(town.context)) == [("delivered", 1)] * 11 + [("delivered", 4)]


def test_pauses_grow_with_jitter_up_to_a_limit_and_then_it_is_given_up() -> None:
    rng, plan = np.random.default_rng(1), RetrySchedule()
    message = OutboxMessage(id="m", topic="match.created", user="ann", at=NOON)
    no = SendResult(False)
    pauses = []
    for attempts in range(1, 16):
        at = plan.next(message, attempts, no, NOON, rng)
        assert at is not None
        pauses.append((at - NOON).total_seconds())
    for place, pause in enumerate(pauses):
        longest = min(5.0 * 2.0**place, 3600.0)
        assert longest / 2 <= pause <= longest
    assert len({round(pause / min(5.0 * 2.0**place, 3600.0), 3) for place, pause in enumerate(pauses)}) > 10
    asked = plan.next(message, 1, SendResult(False, wait=timedelta(minutes=10)), NOON, rng)
    assert asked is not None
    assert asked - NOON == timedelta(minutes=10)
    assert plan.next(message, 2, no, NOON + timedelta(days=3), rng) is None
    assert plan.next(message, 10_000, no, NOON, rng) is not None


def test_after_three_days_a_message_has_failed_and_the_next_is_sent(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    received.answer = lambda body: 500 if json.loads(body)["data"]["n"] == 0 else 200
    town.announce("ann", 0)
    with deliverer(town.context, url) as running:
        running.step()
        town.wait(days=2)
        town.announce("ann", 1)
        assert running.step() == 1
        assert all(json.loads(body)["data"]["n"] == 0 for _, body in received.calls)
        town.wait(days=1)
        running.step()
        running.step()
    assert json.loads(received.calls[-1][1])["data"]["n"] == 1
    assert sorted(one for one, _ in status(town.context)) == ["delivered", "failed"]
    assert len(Feed(town.context).read()) == 2  # what failed can still be polled
    told = OperatorActions(town.context).overview().webhooks
    assert (told.waiting, told.failed, told.last_error) == (0, 1, "match.created, try 3: status 500")
    assert told.last_error_at == town.now


def test_a_crash_between_sending_and_writing_it_down_sends_twice_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver() as (url, received):
        first = Town(SqlStore(f"sqlite:///{tmp_path}/store.db"))
        for number in range(3):
            first.announce("ann", number)
        running = deliverer(first.context, url)
        with monkeypatch.context() as broken:
            broken.setattr(WebhookDelivery, "_record", _die)
            with pytest.raises(SystemError):
                running.step()
        first.context.store.close()  # the process is gone: its lease is not given back
        again = Town(SqlStore(f"sqlite:///{tmp_path}/store.db"), before=first)
        with deliverer(again.context, url) as other:
            assert other.step() == 0
            again.wait(seconds=61)
            assert [other.step() for _ in range(4)] == [1, 1, 1, 0]
        again.context.store.close()
        running._loop.run(running.sender.close())
        running._loop.close()
        assert [json.loads(body)["data"]["n"] for _, body in received.calls] == [0, 0, 1, 2]
        assert received.calls[0][0]["webhook-id"] == received.calls[1][0]["webhook-id"]


def _die(self: WebhookDelivery, message: OutboxMessage, delivery: Delivery) -> None:
    raise SystemError("killed")


def test_who_lost_the_lease_writes_nothing_down(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    town.announce("ann", 0)
    with deliverer(town.context, url) as slow, deliverer(town.context, url) as quick:

        def overtaken(body: bytes) -> int:
            received.answer = lambda _: 200
            town.wait(seconds=61)
            assert quick.step() == 1
            return 500

        received.answer = overtaken
        slow.step()
        assert status(town.context) == [("delivered", 1)]
        assert slow.step() == 0


def test_only_so_many_are_sent_at_once(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app

    together = threading.Barrier(4)

    def four_by_four(body: bytes) -> int:
        together.wait(5)
        return 200

    received.answer = four_by_four
    for number in range(40):
        town.announce(f"user{number}", 0)
    with deliverer(town.context, url) as running:
        running.concurrency = 4
        assert running.step() == 40
    assert received.most_at_once == 4


def test_a_restart_goes_on_where_it_was(tmp_path: Path) -> None:
    with receiver() as (url, received):
        town = None
        for start in range(3):
            town = Town(SqlStore(f"sqlite:///{tmp_path}/store.db"), before=town)
            town.announce("ann", start)
            with deliverer(town.context, url) as running:
                assert running.step() == 1
                assert running.step() == 0
            town.context.store.close()
        assert [json.loads(body)["data"]["n"] for _, body in received.calls] == [0, 1, 2]


def test_an_erased_person_is_told_of_once_and_then_gone(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    town.populate(2)
    town.import_swipe("p0", "p1"), town.import_swipe("p1", "p0")
    received.answer = lambda _: 503
    with deliverer(town.context, url) as running:
        running.step()
        Erasure(town.context, Scrubbing(town.context), ErasedTokens(town.context, b"secret")).erase("p0")
        received.answer = lambda _: 200
        received.calls.clear()
        for _ in range(4):
            town.wait(minutes=1)
            running.step()
    assert [json.loads(body)["type"] for _, body in received.calls] == ["profile.erased"]
    with town.context.store.read() as reader:
        assert reader.count(OutboxMessage) == reader.count(Delivery) == 0


def test_acknowledged_in_the_feed_means_not_sent_any_more(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    received.answer = lambda _: 500
    town.announce("ann", 0), town.announce("ann", 1)
    with deliverer(town.context, url) as running:
        running.step()
        feed = Feed(town.context)
        feed.acknowledge(feed.read()[0].number)
        received.calls.clear()
        received.answer = lambda _: 200
        for _ in range(3):
            town.wait(minutes=1)
            running.step()
    assert [json.loads(body)["data"]["n"] for _, body in received.calls] == [1]
    assert status(town.context) == [("delivered", 1)]


def test_after_an_outage_of_the_store_it_looks_again_what_is_left_to_send(
    town: Town, app: tuple[str, Receiver], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, received = app
    town.announce("ann", 0), town.announce("ann", 1)

    def outage(*_: object) -> None:
        raise StoreUnavailable("no disk")

    with deliverer(town.context, url) as running:
        with monkeypatch.context() as broken:
            broken.setattr(WebhookDelivery, "_record", outage)
            with pytest.raises(StoreUnavailable):
                running.deliver_due(lambda: False)
        feed = Feed(town.context)
        feed.acknowledge(feed.read()[0].number)
        running.deliver_due(lambda: False)
    assert [json.loads(body)["data"]["n"] for _, body in received.calls] == [0, 1]


def test_it_stops_when_it_is_told_to(town: Town, app: tuple[str, Receiver]) -> None:
    url, received = app
    town.announce("ann", 0)
    with deliverer(town.context, url) as running:
        running.deliver_due(lambda: True)
    assert received.calls == []


def sent(sender: WebhookSender) -> SendResult:
    async def once() -> SendResult:
        try:
            return await sender.send(OutboxMessage(id="m", topic="match.created", user="ann", at=NOON), NOON)
        finally:
            await sender.close()

    return asyncio.run(once())


def test_redirects_are_not_followed_and_a_wish_to_wait_is_heard(app: tuple[str, Receiver]) -> None:
    url, received = app
    received.answer = lambda _: 307
    received.headers = {"location": url}
    assert sent(WebhookSender(url, [SECRET], trusting=True)) == SendResult(False, "status 307")
    received.answer, received.headers = (lambda _: 429), {"retry-after": "120"}
    assert sent(WebhookSender(url, [SECRET], trusting=True)).wait == timedelta(minutes=2)
    assert len(received.calls) == 2


def test_a_receiver_that_drips_is_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    for byte in b"HTTP/1.1 200 OK\r\nx: " + b"a" * 1_000:
                        connection.send(bytes([byte]))
                        time.sleep(0.05)
                except OSError:
                    pass

        thread = threading.Thread(target=drip)
        thread.start()
        reply = sent(WebhookSender(f"http://127.0.0.1:{server.getsockname()[1]}/", [SECRET], trusting=True, timeout=0.5))
        assert reply == SendResult(False, "no answer within 0.5 s")
        thread.join()


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["::1"], ["93.184.215.14", "192.168.0.1"]]
)
def test_names_of_private_addresses_are_refused(addresses: list[str]) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return addresses

    reply = sent(WebhookSender("https://hooks.example.com/", [SECRET], resolve=resolve))
    assert reply == SendResult(False, "the address is not a public one")


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f000001", "[::1]", "localhost", "[::ffff:127.0.0.1]"])
def test_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    assert sent(WebhookSender(f"https://{host}/", [SECRET])) == SendResult(False, "the address is not a public one")


def test_the_connection_goes_to_the_address_that_was_checked(app: tuple[str, Receiver]) -> None:
    """The name is looked up once a try, and the answer is pinned; the receiver still sees its name."""
    url, received = app
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    address = url.replace("127.0.0.1", "hooks.example.com")
    assert sent(WebhookSender(address, [SECRET], trusting=True, resolve=resolve)).accepted
    assert asked == ["hooks.example.com"]
    assert received.calls[0][0]["host"].startswith("hooks.example.com:")


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("http://hooks.example.com/", SECRET),
        ("ftp://hooks.example.com/", SECRET),
        ("https:///path", SECRET),
        ("https://user:word@hooks.example.com/", SECRET),
        ("https://hooks.example.com:99999/", SECRET),
        ("https://[::1/", SECRET),
        ("https://hooks.example.com/", "whsec_short"),
        ("https://hooks.example.com/", "whsec_" + base64.b64encode(b"few").decode()),
    ],
)
def test_wrong_settings_are_refused_at_once(url: str, secret: str) -> None:
    with pytest.raises(InvalidInput, match="webhook"):
        WebhookSender(url, [secret])


def test_without_a_secret_nothing_is_sent() -> None:
    with pytest.raises(InvalidInput, match="secret"):
        WebhookSender("https://hooks.example.com/", [])
    assert SECRET[6:] not in repr(WebhookSender("https://hooks.example.com/", [SECRET]))


def test_an_idle_deliverer_writes_nothing(tmp_path: Path, app: tuple[str, Receiver], monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    town = Town(store)
    town.announce("ann", 0)
    with deliverer(town.context, app[0]) as running, deliverer(town.context, app[0]) as other:
        assert [running.step(), running.step(), other.step()] == [1, 0, 0]
        with monkeypatch.context() as broken:
            broken.setattr(SqlStore, "write", None)
            assert [running.step(), other.step()] == [0, 0]
    store.close()


def test_an_answer_without_end_is_an_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def pour() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    while True:
                        connection.sendall(b"a" * 100_000)
                except OSError:
                    pass

        thread = threading.Thread(target=pour)
        thread.start()
        assert sent(WebhookSender(f"http://127.0.0.1:{server.getsockname()[1]}/", [SECRET], trusting=True)).accepted
        thread.join()
