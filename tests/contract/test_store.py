"""What every store promises: in memory, on SQLite, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from kaczmatch.service.domain.records import (
    RECORDS,
    AbuseReport,
    AuditEntry,
    Block,
    Decision,
    ErasedId,
    Event,
    EventKind,
    HeldPerson,
    LatestDecision,
    LogRecord,
    MatchSide,
    Model,
    OutboxMessage,
    Person,
    PersonCounters,
    PersonNumber,
    StoredState,
    part_of,
)
from kaczmatch.service.domain.store import Store, StoreUnavailable, Transaction
from kaczmatch.storage import DuplicateKey, MemoryStore, SearchAfterWrite, SqlStore

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def event(user: str, id: str, **fields: Any) -> Event:
    return Event(**{"user": user, "id": id, "kind": "swiped", "at": NOW} | fields)


def message(id: str) -> OutboxMessage:
    return OutboxMessage(id=id, topic="match.created", user="ann", at=NOW)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kept: Store
    if request.param == "memory":
        kept = MemoryStore()
    elif request.param == "sqlite":
        kept = SqlStore(f"sqlite:///{tmp_path}/store.db")
    else:
        kept = SqlStore(request.getfixturevalue("postgres_url"))
    yield kept
    kept.close()


def put(store: Store, *records: Any) -> None:
    def work(transaction: Transaction) -> None:
        for record in records:
            transaction.append(record) if isinstance(record, LogRecord) else transaction.put(record)

    store.write(work).result()


def held_by(store: Store) -> dict[str, str]:
    with store.read() as reader:
        return {held.user: held.actor for held in reader.find(HeldPerson)}


PERSON = Person(
    id="ann", version=3, name="Ännchen 🙂 \u202e", i_am=("woman",), i_look_for=("man", "woman"), born=date(2000, 2, 29),
    youngest=18, oldest=99, row=-3, column=None, within_km=0.1, features=bytes(range(256)), features_version=2,
    paused=True, created=NOW, changed=NOW, seen=date(2026, 11, 15),
)  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        PERSON,
        replace(PERSON, name="", features=b"", within_km=None, row=2**62, paused=False, i_look_for=()),
        StoredState(
            model=1, user="ann", state=b"\0\xff" * 500, swipes=0, at=None, session_direction=b"", stability=(0.1, 1e-300, 1 / 3)
        ),
        MatchSide(
            user="a", other="b", id="m", at=datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), outcomes=("met", 'a"b')
        ),
        PersonCounters(user="ann", excess=-1.5e308, information=float("inf"), appeal_as_of=datetime.max.replace(tzinfo=UTC)),
    ],
    ids=str,
)
def test_a_record_comes_back_as_it_was(store: Store, record: Any) -> None:
    put(store, record)
    with store.read() as reader:
        found = reader.get(type(record), *record.identity())
    assert found == record
    assert repr(found) == repr(record)


def test_a_time_is_kept_in_utc_wherever_it_was_told(store: Store) -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    put(store, Block(user="ann", other="bo", at=there))
    with store.read() as reader:
        assert reader.find(Block, at=NOW, user="ann")[0].at == NOW


def test_there_is_nothing_in_a_new_store(store: Store) -> None:
    with store.read() as reader:
        assert all(reader.count(kind) == 0 and reader.find(kind) == [] for kind in RECORDS)
        assert reader.get(LatestDecision, "ann", "bob") is None
        assert reader.many(LatestDecision, [("ann", "bob"), ("bob", "ann")]) == {}
        assert reader.many(LatestDecision, []) == {}


def test_putting_replaces_and_dropping_removes(store: Store) -> None:
    put(store, HeldPerson(user="a", actor="1"), HeldPerson(user="b", actor="1"))
    put(store, HeldPerson(user="a", actor="2"))
    store.write(lambda tx: tx.drop(HeldPerson, "b")).result()
    store.write(lambda tx: tx.drop(HeldPerson, "never there")).result()
    assert held_by(store) == {"a": "2"}


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


def test_a_line_is_appended_once(store: Store) -> None:
    put(store, event("ann", "1"))
    with pytest.raises(DuplicateKey):
        put(store, HeldPerson(user="a", actor="1"), event("ann", "1", kind="reset"))
    with pytest.raises(DuplicateKey):
        put(store, event("ann", "2"), event("ann", "2"))
    with pytest.raises(DuplicateKey):
        store.write(lambda tx: tx.append(event("ann", "1")), prefetch=[(Event, ("ann", "1"))]).result()
    put(store, event("bob", "1"))
    with store.read() as reader:
        assert [(line.user, line.id, line.kind) for line in reader.find(Event)] == [
            ("ann", "1", "swiped"),
            ("bob", "1", "swiped"),
        ]
        assert reader.count(HeldPerson) == 0


def test_logs_are_appended_to_and_everything_else_is_put(store: Store) -> None:
    with pytest.raises(TypeError):
        store.write(lambda tx: tx.put(event("ann", "1"))).result()
    with pytest.raises(TypeError):
        store.write(lambda tx: tx.append(HeldPerson(user="a", actor="1"))).result()  # type: ignore[arg-type]


def test_numbers_rise_and_are_never_given_again(store: Store) -> None:
    put(store, event("ann", "z"), event("ann", "a"))
    put(store, event("ann", "m", number=1))
    with store.read() as reader:
        first = reader.find(Event, user="ann")
    assert [line.id for line in first] == ["z", "a", "m"]
    assert first[0].number < first[1].number < first[2].number
    store.write(lambda tx: tx.drop(Event, "ann", "m")).result()
    put(store, event("ann", "last"))
    with store.read() as reader:
        last = reader.get(Event, "ann", "last")
    assert last is not None
    assert last.number > first[2].number


def test_a_dropped_line_may_be_written_anew(store: Store) -> None:
    put(store, event("ann", "1"))

    def again(transaction: Transaction) -> None:
        transaction.drop(Event, "ann", "1")
        transaction.append(event("ann", "1", kind="reset"))

    def come_and_gone(transaction: Transaction) -> None:
        transaction.append(event("ann", "2"))
        transaction.drop(Event, "ann", "2")

    store.write(again).result()
    store.write(come_and_gone).result()
    with store.read() as reader:
        assert [line.kind for line in reader.find(Event)] == ["reset"]


def test_records_are_listed_in_their_order_from_any_place_on(store: Store) -> None:
    names = ["a", "B", "ä", "Z", "b", "", "_", "aa", "🙂", "\uffff"]
    put(
        store,
        *(
            LatestDecision(user="me", candidate=name, decision="like", at=NOW + timedelta(seconds=i % 3), swipe="s")
            for i, name in enumerate(names)
        ),
    )
    put(store, LatestDecision(user="you", candidate="a", decision="pass", at=NOW, swipe="s"))
    with store.read() as reader:
        everything = reader.find(LatestDecision)
        came = ["", "me", *names, "you"]  # people are in the order in which they were first written about
        assert everything == sorted(everything, key=lambda pair: (pair.at, came.index(pair.user), came.index(pair.candidate)))
        assert reader.find(LatestDecision, newest=True) == everything[::-1]
        mine = reader.find(LatestDecision, user="me")
        assert mine == [pair for pair in everything if pair.user == "me"]
        assert reader.find(LatestDecision, user="me", limit=3) == mine[:3]
        assert reader.find(LatestDecision, user="me", limit=0) == []
        place = (mine[4].at, mine[4].user, mine[4].candidate)
        assert reader.find(LatestDecision, user="me", after=place) == mine[5:]
        assert reader.find(LatestDecision, user="me", after=place, newest=True) == mine[3::-1]
        assert reader.find(LatestDecision, after=(NOW,)) == [pair for pair in everything if pair.at > NOW]
        assert reader.count(LatestDecision, user="me", decision="like") == len(names)
        assert reader.count(LatestDecision, decision="like", at=NOW) == 4
        by_user = {user: reader.find(LatestDecision, user=user) for user in ("you", "nobody", "me")}
        assert reader.of_people(LatestDecision, "user", ("you", "nobody", "me")) == by_user
        assert reader.of_people(LatestDecision, "candidate", names[:3]) == {
            name: reader.find(LatestDecision, candidate=name) for name in names[:3]
        }


def test_records_are_passed_over_without_being_loaded(store: Store) -> None:
    put(store, *(event("ann", f"e{place}") for place in range(5)))
    with store.read() as reader:
        found = [one.id for one in reader.find(Event)]
        assert [one.id for one in reader.find(Event, skip=2, limit=2)] == found[2:4]
        assert [one.id for one in reader.find(Event, skip=3)] == found[3:]
        assert [one.id for one in reader.find(Event, newest=True, skip=1, limit=1)] == found[3:4]
        assert reader.find(Event, skip=5, limit=1) == []


def test_some_fields_of_records_are_what_whole_records_have(store: Store) -> None:
    first = [
        LatestDecision(user="ann", candidate=f"c{one % 300}", decision="like" if one % 2 else "pass", at=at, swipe=f"s{one}")
        for one, at in enumerate(NOW + timedelta(minutes=place * 7 % 301) for place in range(300))
    ]
    put(store, *first, LatestDecision(user="bob", candidate="c1", decision="like", at=NOW, swipe="s"))
    put(store, AuditEntry(id="a", at=NOW, actor="k", action="looked"))
    names = ("candidate", "at", "appeal_as_of", "decision", "user")
    with store.read() as reader:
        for more in ({"user": "ann"}, {"decision": "like", "user": "ann"}, {"candidate": "c1"}, {"user": "nobody"}):
            for how in ({}, {"newest": True, "limit": 7}):
                whole = [tuple(getattr(one, name) for name in names) for one in reader.find(LatestDecision, **how, **more)]
                assert reader.values(LatestDecision, names, **how, **more) == whole
        assert reader.values(AuditEntry, ("user", "id")) == [("", "a")]
    store.write(lambda tx: tx.drop(PersonNumber, part_of("c1"), "c1")).result()
    with store.read() as reader:
        assert reader.values(LatestDecision, ("candidate",), user="bob") == [
            (one.candidate,) for one in reader.find(LatestDecision, user="bob")
        ]


def test_who_is_named_with_somebody_is_found_over_several_kinds(store: Store) -> None:
    put(store, *(MatchSide(user=user, other=other, id="m", at=NOW) for user, other in (("ann", "bob"), ("bob", "ann"))))
    put(store, *(Block(user=user, other=other, at=NOW) for user, other in (("ann", "cas"), ("dan", "ann"), ("eve", "cas"))))
    fields = ((MatchSide, "user", "other"), (Block, "user", "other"), (Block, "other", "user"))
    with store.read() as reader:
        assert reader.named_with("ann", fields) == {"bob", "cas", "dan"}
        assert reader.named_with("cas", fields) == {"ann", "eve"}
        assert reader.named_with("nobody", fields) == frozenset()


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


def test_everything_up_to_a_place_is_dropped_at_once(store: Store) -> None:
    put(store, *(event("ann", f"e{place}") for place in range(5)))
    sides = [MatchSide(user=user, other="z", id=f"m-{user}", at=NOW + timedelta(days=day)) for day, user in enumerate("abcde")]
    put(store, *sides)
    with store.read() as reader:
        numbers = [one.number for one in reader.find(Event)]

    def work(transaction: Transaction) -> None:
        transaction.put(replace(sides[4], ended=NOW))
        transaction.drop_through(Event, numbers[2])
        transaction.drop_through(MatchSide, sides[1].at, sides[1].id, sides[1].user)

    store.write(work).result()
    with store.read() as reader:
        assert [one.number for one in reader.find(Event)] == numbers[3:]
        assert reader.find(MatchSide) == [*sides[2:4], replace(sides[4], ended=NOW)]

    def by_the_first_field(transaction: Transaction) -> None:
        transaction.drop_through(MatchSide, sides[3].at)

    store.write(by_the_first_field).result()
    with store.read() as reader:
        assert reader.get(MatchSide, "d", "z") is None
        assert reader.count(MatchSide) == 1


def test_a_range_is_dropped_with_its_work_or_not_at_all(store: Store) -> None:
    put(store, event("ann", "e1"))

    def fails(transaction: Transaction) -> None:
        transaction.drop_through(Event, 10**6)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.write(fails).result()
    with pytest.raises(TypeError):
        store.write(lambda tx: tx.drop_through(Event, 1, 2)).result()
    with store.read() as reader:
        assert reader.count(Event) == 1


def test_text_is_in_the_order_of_its_characters(store: Store) -> None:
    names = ["a", "B", "ä", "Z", "b", "", "_", "aa", "🙂", "\uffff"]
    put(store, *(AbuseReport(id=name, user="ann", other="bob", reason="rude", text="", at=NOW) for name in names))
    with store.read() as reader:
        assert [report.id for report in reader.find(AbuseReport)] == sorted(names)


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


def test_a_field_without_a_value_can_be_searched_for(store: Store) -> None:
    report = AbuseReport(id="1", user="ann", other="bob", reason="rude", text="", at=NOW)
    put(store, report, replace(report, id="2", closed=NOW))
    with store.read() as reader:
        assert [found.id for found in reader.find(AbuseReport, closed=None)] == ["1"]
        assert reader.count(AbuseReport, closed=None, user="ann") == 1
        assert reader.count(AbuseReport, closed=NOW) == 1


def test_many_keys_are_looked_up_at_once(store: Store) -> None:
    pairs = [LatestDecision(user=f"u{i % 40}", candidate=f"o{i}", decision="like", at=NOW, swipe="s") for i in range(900)]
    put(store, *pairs)
    wanted = [pair.identity() for pair in pairs] + [("nobody", "else")]
    with store.read() as reader:
        assert reader.many(LatestDecision, wanted) == {pair.identity(): pair for pair in pairs}
    assert store.write(lambda tx: len(tx.many(LatestDecision, wanted))).result() == 900
    assert (
        store.write(lambda tx: len(tx.many(LatestDecision, wanted)), prefetch=[(LatestDecision, key) for key in wanted]).result()
        == 900
    )

    def remove(transaction: Transaction) -> None:
        for pair in pairs[:-1]:
            transaction.drop(LatestDecision, *pair.identity())

    store.write(remove).result()
    with store.read() as reader:
        assert reader.find(LatestDecision) == pairs[-1:]


def test_a_reader_stays_at_its_moment(store: Store) -> None:
    put(store, HeldPerson(user="a", actor="1"))
    with store.read() as reader:
        assert reader.get(HeldPerson, "a") == HeldPerson(user="a", actor="1")
        put(store, HeldPerson(user="a", actor="2"), HeldPerson(user="b", actor="2"))
        assert reader.find(HeldPerson) == [HeldPerson(user="a", actor="1")]
    assert held_by(store) == {"a": "2", "b": "2"}


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


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"excess": float("nan")}, ValueError),
        ({"weighed": NOW.replace(tzinfo=None)}, TypeError),
        ({"swipes": 2**63}, ValueError),
        ({"swipes": None}, TypeError),
        ({"swipes": 1.5}, TypeError),
        ({"deck": 5}, TypeError),
    ],
)
def test_values_that_would_not_come_back_are_refused(store: Store, fields: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        put(store, PersonCounters(**{"user": "ann"} | fields))


def test_wrong_keys_and_fields_are_errors(store: Store) -> None:
    with store.read() as reader:
        with pytest.raises(TypeError):
            reader.get(LatestDecision, "ann")
        with pytest.raises(TypeError):
            reader.find(LatestDecision, nonsense=1)
        with pytest.raises(TypeError):
            reader.count(LatestDecision, nonsense=1)
    with pytest.raises(TypeError):
        store.write(lambda tx: tx.drop(LatestDecision, "ann")).result()


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


def test_integer_keys(store: Store) -> None:
    put(store, *(Model(id=i, learner="tk", settings="{}", prior="ones", status="retired", created=NOW) for i in (3, 1, 2)))
    with store.read() as reader:
        assert [model.id for model in reader.find(Model)] == [1, 2, 3]
        assert reader.get(Model, 2) is not None


def test_a_value_that_is_none_of_its_kind_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="EventKind is one of swiped, session-ended, undone, reset"):
        put(store, event("ann", "1", kind="other"))
    put(store, event("ann", "1", kind="reset", decision="like"))
    with store.read() as reader:
        [found] = reader.find(Event, decision=Decision.LIKE)
        assert (found.kind, found.decision) == (EventKind.RESET, Decision.LIKE) == ("reset", "like")
        if not isinstance(store, MemoryStore):
            assert isinstance(found.decision, Decision)
