"""People in every store: they are known by a number, which is never given again, and pages go on after whoever was erased."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kaczmatch.service.domain.records import (
    Block,
    ErasedId,
    Event,
    HeldPerson,
    MatchSide,
    Person,
    PersonCounters,
    PersonNumber,
    part_of,
)
from kaczmatch.service.domain.store import Store, Transaction
from kaczmatch.storage import SqlStore
from worlds.stores import NOW, PERSON, event, open_store, put


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(request.param, request, tmp_path)) as kept:
        yield kept


def number_of(store: Store, person: str) -> int:
    with store.read() as reader:
        found = reader.get(PersonNumber, part_of(person), person)
    assert found is not None
    return found.number


def forget(store: Store, *people: str) -> None:
    def work(transaction: Transaction) -> None:
        for person in people:
            transaction.drop(HeldPerson, person)
            transaction.drop(PersonNumber, part_of(person), person)

    store.write(work).result()


def test_people_are_found_whether_or_not_the_reader_knows_their_numbers(store: Store) -> None:
    users = [f"p{place}" for place in range(5)]
    put(store, *(replace(PERSON, id=user) for user in users), PersonCounters(user="p1", swipes=7), PersonCounters(user="alone"))
    with store.read() as reader:
        numbers = reader.numbers_of(["p1", "alone"])
        keys = [(user,) for user in ("p3", "p1", "alone", "nobody", "p0")]
        assert reader.many(Person, keys) == {(user,): replace(PERSON, id=user) for user in ("p3", "p1", "p0")}
        assert reader.numbers_of(["p3", "p1"])["p1"] == numbers["p1"]
        assert {user: one.swipes for (user,), one in reader.many(PersonCounters, keys).items()} == {"p1": 7, "alone": 0}
        assert reader.with_profile(reader.numbers_of(users).values()) == set(reader.numbers_of(users).values())
        assert reader.with_profile([*numbers.values(), 1]) == {numbers["p1"]}
        assert reader.with_profile([]) == set()


def test_who_is_named_with_somebody_is_found_over_several_kinds(store: Store) -> None:
    put(store, *(MatchSide(user=user, other=other, id="m", at=NOW) for user, other in (("ann", "bob"), ("bob", "ann"))))
    put(store, *(Block(user=user, other=other, at=NOW) for user, other in (("ann", "cas"), ("dan", "ann"), ("eve", "cas"))))
    fields = ((MatchSide, "user", "other"), (Block, "user", "other"), (Block, "other", "user"))
    with store.read() as reader:
        assert reader.named_with("ann", fields) == {"bob", "cas", "dan"}
        assert reader.named_with("cas", fields) == {"ann", "eve"}
        assert reader.named_with("nobody", fields) == frozenset()


def test_a_person_gets_one_number_which_is_never_given_again(store: Store) -> None:
    put(store, HeldPerson(user="ann", actor="1"))
    first = number_of(store, "ann")
    put(store, event("bob", "1", candidate="ann"), HeldPerson(user="ann", actor="2"))
    assert number_of(store, "ann") == first < number_of(store, "bob")
    forget(store, "bob")
    store.write(lambda tx: tx.drop(Event, "~no number", "1")).result()
    highest = number_of(store, "ann")
    put(store, HeldPerson(user="bob", actor="1"))
    assert number_of(store, "bob") > highest


def test_who_comes_again_in_the_commit_that_forgot_them_has_a_new_number(store: Store) -> None:
    put(store, HeldPerson(user="ann", actor="1"))
    before = number_of(store, "ann")

    def again(transaction: Transaction) -> None:
        transaction.drop(HeldPerson, "ann")
        transaction.drop(PersonNumber, part_of("ann"), "ann")
        transaction.append(event("ann", "1"))

    store.write(again, prefetch=[(HeldPerson, ("ann",)), (PersonNumber, (part_of("ann"), "ann"))]).result()
    assert number_of(store, "ann") > before
    with store.read() as reader:
        assert [line.user for line in reader.find(Event, user="ann")] == ["ann"]
        assert reader.find(HeldPerson) == []


def test_a_page_of_fields_goes_on_after_somebody_who_was_erased(store: Store) -> None:
    put(store, *(PersonCounters(user=user, last_swipe_at=NOW) for user in "cadbe"))
    names = PersonCounters.listed_by()
    with store.read() as reader:
        page = reader.values(PersonCounters, names, limit=2)
        assert [user for _, user in page] == ["c", "a"]
    store.write(lambda tx: (tx.drop(PersonCounters, "a"), tx.drop(PersonNumber, part_of("a"), "a"))).result()
    with store.read() as reader:
        assert [user for _, user in reader.values(PersonCounters, names, after=page[-1], limit=2)] == ["d", "b"]
        assert reader.count_of_nobody(PersonCounters) == 4
        assert reader.count_of_nobody(PersonCounters, user="d", swipes=0) == 1
        assert reader.count_of_nobody(PersonCounters, user="d", swipes=1) == 0


def test_a_page_that_ended_with_somebody_who_was_erased_is_gone_on_from(store: Store) -> None:
    put(store, *(HeldPerson(user=name, actor="1") for name in "ebdac"))
    with store.read() as reader:
        page = reader.find(HeldPerson, limit=2)
    assert [held.user for held in page] == ["e", "b"]
    forget(store, "e", "b")
    with store.read() as reader:
        assert [held.user for held in reader.find(HeldPerson, after=("b",), limit=2)] == ["d", "a"]


@pytest.mark.parametrize("same_process", [True, False])
def test_nobody_is_left_out_after_somebody_who_was_erased_and_whose_erasure_is_told(store: Store, same_process: bool) -> None:
    """What tells of it names the id by a new number, which comes after everybody's."""
    put(store, *(HeldPerson(user=f"p{one}", actor="k") for one in range(6)))
    with store.read() as reader:
        page = reader.find(HeldPerson, limit=3)
    store.write(lambda tx: (tx.drop(HeldPerson, "p2"), tx.drop(PersonNumber, part_of("p2"), "p2"))).result()
    put(store, ErasedId(user="p2"))
    other = (
        SqlStore(str(store.database.writer.url.render_as_string(hide_password=False)))
        if isinstance(store, SqlStore) and not same_process
        else None
    )
    with (other or store).read() as reader:
        rest = [one.user for one in reader.find(HeldPerson, after=(page[-1].user,), limit=10)]
    assert rest[-3:] == ["p3", "p4", "p5"]
    assert len(rest) == (3 if other is None else 5)
    if other is not None:
        other.close()


def test_who_came_back_while_their_erasure_was_still_told_is_passed_over_by_the_next_page(store: Store) -> None:
    put(store, ErasedId(user="p0"), *(HeldPerson(user=f"p{one}", actor="k") for one in range(3)))
    with store.read() as reader:
        [first] = reader.find(HeldPerson, limit=1)
        assert [one.user for one in reader.find(HeldPerson, after=(first.user,), limit=1)] == ["p1"]


def test_after_somebody_unknown_some_may_come_again_and_none_is_left_out(store: Store) -> None:
    put(store, *(Block(user="me", other=name, at=NOW + timedelta(days=name > "b")) for name in "abcd"))
    with store.read() as reader:
        after = reader.find(Block, after=(NOW + timedelta(days=1), "me", "nobody"))
        assert [block.other for block in after] == ["c", "d"]
        newest = reader.find(Block, after=(NOW, "me", "nobody"), newest=True)
        assert [block.other for block in newest] == ["b", "a"]
        assert len(reader.find(Block, after=(NOW, "nobody", "a"))) == 4
