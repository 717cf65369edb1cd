"""The feed misses nothing and keeps what concerns one person in order, on every store; one process at a time has a lease."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.records import Delivery, OutboxMessage
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.matches import Matches
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.storage import SqlStore
from worlds.stores import open_store
from worlds.town import Town


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


def test_what_happened_is_told_in_order_until_it_is_acknowledged(town: Town) -> None:
    town.populate(4)
    assert town.swipe("p0", "p1").match is None
    match = town.swipe("p1", "p0").match
    assert match is not None
    Matches(town.context).unmatch("p0", match).result()
    feed = Feed(town.context)
    first = feed.read()
    topics = ["match.created", "match.created", "match.ended", "match.ended"]
    assert [one.topic for one in first] == topics
    assert feed.read(limit=3) == first[:3]
    assert feed.read(after=first[1].number) == first[2:]
    assert feed.acknowledge(first[1].number) == 2
    assert feed.acknowledge(first[1].number) == 0
    assert feed.read() == first[2:]
    assert feed.acknowledge(2**63 - 1) == 2
    assert feed.read() == []


def test_a_message_that_is_committed_late_is_not_missed(request: pytest.FixtureRequest, postgres_url: str) -> None:
    """On PostgreSQL numbers are given before commits: here the lower one is committed after the higher one was read."""
    slow = Town(SqlStore(postgres_url))
    quick = Town(SqlStore(postgres_url), before=slow)
    numbered, let_go = threading.Event(), threading.Event()
    database = slow.context.store.database  # type: ignore[attr-defined]
    append = database.append

    def stalled(connection: object, kind: type, rows: object) -> None:
        append(connection, kind, rows)
        if kind is OutboxMessage:
            numbered.set()
            let_go.wait(10)

    database.append = stalled
    try:
        thread = threading.Thread(target=slow.announce, args=("ann", 1))
        thread.start()
        assert numbered.wait(10)
        quick.announce("bob", 2)
        feed = Feed(quick.context)
        (seen,) = feed.read()
        assert seen.user == "bob"
        let_go.set()
        thread.join()
        (late,) = feed.read(after=seen.number)
        assert late.user == "ann"
        assert feed.acknowledge(seen.number) == 1
        assert feed.read() == [late]
    finally:
        let_go.set()
        slow.context.store.close()
        quick.context.store.close()


def test_many_writers_and_readers_miss_nothing(town: Town) -> None:
    writers, each = 4, 25
    feeds = [Feed(town.context) for _ in range(2)]
    done = threading.Event()
    seen: list[list[OutboxMessage]] = [[], []]

    def write(writer: int) -> None:
        for number in range(each):
            town.announce(f"user{writer}", number)

    def follow(reader: int) -> None:
        last = 0
        while True:
            over = done.is_set()
            page = feeds[reader].read(after=last, limit=7)
            seen[reader] += page
            last = page[-1].number if page else last
            if over and not page:
                return

    writing = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    reading = [threading.Thread(target=follow, args=(reader,)) for reader in range(2)]
    for thread in writing + reading:
        thread.start()
    for thread in writing:
        thread.join()
    done.set()
    for thread in reading:
        thread.join()
    for messages in seen:
        assert len(messages) == len({one.id for one in messages}) == writers * each
        for writer in range(writers):
            bodies = [one.body for one in messages if one.user == f"user{writer}"]
            assert bodies == sorted(bodies, key=lambda body: int(body.partition(":")[2].partition(",")[0]))
    assert seen[0] == seen[1]


def test_an_erased_person_is_in_no_message_but_the_last_which_goes_when_it_is_acknowledged(town: Town) -> None:
    scrubbed: list[int] = []
    town.populate(4)
    town.swipe("p0", "p1"), town.swipe("p1", "p0")
    feed = Feed(town.context)
    assert len(feed.read()) == 2
    scrubbing = Scrubbing(town.context, lambda _: scrubbed.append(1))
    erasure = Erasure(town.context, scrubbing, ErasedTokens(town.context, b"secret"))
    erasure.erase("p0")
    (last,) = feed.read()
    assert (last.topic, last.user) == ("profile.erased", "p0")
    assert scrubbed == [1]
    feed.acknowledge(last.number)
    erasure.resume()
    assert scrubbed == [1]  # a change names them still
    town.wait(hours=2)  # a process that has not read the change is given up after an hour
    Maintenance(town.context).run()
    erasure.resume()
    assert scrubbed == [1, 1]
    with town.context.store.read() as reader:
        assert reader.count(OutboxMessage) == 0


def test_posting_brings_nobody_back_who_was_erased_meanwhile(town: Town) -> None:
    town.populate(2)
    town.swipe("p0", "p1"), town.swipe("p1", "p0")
    write = town.context.store.write

    class Meanwhile:
        """Erases somebody after the poster has looked, before it writes."""

        erased = False

        def write(self, work, **options):  # type: ignore[no-untyped-def]
            if not self.erased:
                self.erased = True
                Erasure(town.context, Scrubbing(town.context), ErasedTokens(town.context, b"secret")).erase("p0")
            return write(work, **options)

        read = staticmethod(town.context.store.read)

    other = Context(Meanwhile(), town.context.config, town.context.clock, town.context.new_id)  # type: ignore[arg-type]
    assert [one.topic for one in Feed(other).read()] == ["profile.erased"]


def test_what_nobody_fetches_goes_after_its_time_with_its_delivery(town: Town) -> None:
    town.announce("ann", 1)
    (message,) = Feed(town.context).read()

    def work(transaction: Transaction) -> None:
        transaction.put(Delivery(message=message.id, attempts=3, next=None, status="failed"))

    town.context.store.write(work).result()
    town.wait(days=31)
    assert Maintenance(town.context).run()["messages dropped"] == 1
    with town.context.store.read() as reader:
        assert reader.count(Delivery) == 0


def test_a_lease_has_one_holder_and_passes_on_when_it_runs_out(town: Town) -> None:
    one, two = Lease(town.context, "work"), Lease(town.context, "work")
    taken = threading.Barrier(2)
    answers: list[bool] = []

    def take(lease: Lease) -> None:
        taken.wait()
        answers.append(lease.take())

    threads = [threading.Thread(target=take, args=(lease,)) for lease in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, True]
    first, second = (one, two) if one.running else (two, one)
    town.wait(seconds=50)
    assert first.take()
    assert not second.take()
    town.wait(seconds=61)
    assert not first.running
    assert second.take()
    assert not first.take()
    second.let_go()
    assert first.take()


def test_a_lease_of_a_clock_that_was_ahead_is_worth_nothing(town: Town) -> None:
    one, two = Lease(town.context, "work"), Lease(town.context, "work")
    town.wait(days=2)
    assert one.take()
    town.wait(days=-2)
    assert two.take()
    assert not one.take()
