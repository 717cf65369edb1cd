"""Works in every store: each is done as a whole or not at all, in the order they came, unseen by others until then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from kaczmatch.service.domain.records import (
    Event,
    HeldPerson,
    PersonCounters,
)
from kaczmatch.service.domain.store import Store, StoreUnavailable, Transaction
from kaczmatch.storage import SearchAfterWrite
from worlds.stores import event, open_store, put


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(request.param, request, tmp_path)) as kept:
        yield kept


def held_by(store: Store) -> dict[str, str]:
    with store.read() as reader:
        return {held.user: held.actor for held in reader.find(HeldPerson)}


def test_a_work_sees_what_it_has_written_and_nobody_else_does(store: Store) -> None:
    put(store, HeldPerson(user="gone", actor="1"))
    seen: list[Any] = []

    def work(transaction: Transaction) -> str:
        transaction.put(HeldPerson(user="a", actor="1"))
        transaction.put(HeldPerson(user="a", actor="2"))
        transaction.drop(HeldPerson, "gone")
        transaction.append(event("ann", "1"))
        seen[:] = [
            transaction.get(HeldPerson, "a"),
            transaction.get(HeldPerson, "gone"),
            transaction.get(Event, "ann", "1"),
            transaction.many(HeldPerson, [("a",), ("gone",)]),
        ]
        seen.append(held_by(store))
        return "done"

    assert store.write(work).result() == "done"
    new = HeldPerson(user="a", actor="2")
    assert seen == [new, None, event("ann", "1"), {("a",): new}, {"gone": "1"}]


def test_a_work_that_raises_leaves_nothing_and_its_error_is_its_answer(store: Store) -> None:
    def work(transaction: Transaction) -> None:
        transaction.put(HeldPerson(user="a", actor="1"))
        transaction.append(event("ann", "1"))
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        store.write(work).result()
    with store.read() as reader:
        assert reader.count(HeldPerson) == reader.count(Event) == 0


def test_a_work_cannot_search_once_it_has_written(store: Store) -> None:
    def found(transaction: Transaction) -> Any:
        before = transaction.find(HeldPerson), transaction.count(HeldPerson)
        transaction.put(HeldPerson(user="a", actor="1"))
        return before, transaction.find(HeldPerson)

    def counted(transaction: Transaction) -> Any:
        transaction.drop(HeldPerson, "a")
        return transaction.count(HeldPerson)

    for work in (found, counted):
        with pytest.raises(SearchAfterWrite):
            store.write(work).result()
    assert held_by(store) == {}


@pytest.mark.parametrize("bad", ["a\0b", "\ud800"], ids=["NUL", "lone surrogate"])
def test_text_that_cannot_be_stored_is_an_error_of_that_work_alone(store: Store, bad: str) -> None:
    good = [store.write(lambda transaction, i=i: transaction.put(HeldPerson(user=f"good {i}", actor="1"))) for i in range(5)]
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        store.write(lambda tx: tx.put(HeldPerson(user="bad", actor=bad))).result()
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        store.write(lambda tx: tx.get(HeldPerson, bad)).result()
    with store.read() as reader, pytest.raises(ValueError, match=r"NUL|surrogate"):
        reader.find(HeldPerson, actor=bad)
    for future in good:
        future.result()
    assert len(held_by(store)) == 5


def test_counting_in_many_threads_loses_nothing(store: Store) -> None:
    people, threads, times = ["ann", "bob", "cem"], 8, 25
    barrier = Barrier(threads)

    def count(mine: int) -> None:
        barrier.wait()
        futures = []
        for i in range(times):
            person = people[(mine + i) % len(people)]

            def work(transaction: Transaction, person: str = person, id: str = f"{mine}-{i}") -> None:
                standing = transaction.get(PersonCounters, person) or PersonCounters(user=person)
                transaction.append(event(person, id, vocabulary=standing.swipes))
                transaction.put(replace(standing, swipes=standing.swipes + 1))

            futures.append(store.write(work, locks=[person], prefetch=[(PersonCounters, (person,))] if i % 2 else []))
        for future in futures:
            future.result()

    workers = [Thread(target=count, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with store.read() as reader:
        assert sum(standing.swipes for standing in reader.find(PersonCounters)) == threads * times
        for person in people:
            lines = reader.find(Event, user=person)
            assert [line.vocabulary for line in lines] == list(range(len(lines)))


def test_works_run_in_the_order_they_came(store: Store) -> None:
    def work(transaction: Transaction, i: int) -> None:
        transaction.append(event("ann", str(i)))

    for future in [store.write(lambda transaction, i=i: work(transaction, i), locks=["ann"]) for i in range(300)]:
        future.result()
    with store.read() as reader:
        assert [line.id for line in reader.find(Event)] == [str(i) for i in range(300)]


def test_a_closed_store_takes_nothing_more(store: Store) -> None:
    futures = [store.write(lambda transaction, i=i: transaction.put(HeldPerson(user=str(i), actor="1"))) for i in range(50)]
    store.close()
    assert all(future.result(0) is None for future in futures)
    with pytest.raises(StoreUnavailable):
        store.write(lambda tx: tx.put(HeldPerson(user="late", actor="1")))
    store.close()


def test_a_reader_stays_at_its_moment(store: Store) -> None:
    put(store, HeldPerson(user="a", actor="1"))
    with store.read() as reader:
        assert reader.get(HeldPerson, "a") == HeldPerson(user="a", actor="1")
        put(store, HeldPerson(user="a", actor="2"), HeldPerson(user="b", actor="2"))
        assert reader.find(HeldPerson) == [HeldPerson(user="a", actor="1")]
    assert held_by(store) == {"a": "2", "b": "2"}
