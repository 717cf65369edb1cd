"""What every store promises: in memory, on SQLite, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import (
    RECORDS,
    AbuseReport,
    AuditEntry,
    Block,
    Decision,
    Event,
    EventKind,
    HeldPerson,
    LatestDecision,
    MatchSide,
    Model,
    OutboxMessage,
    PersonCounters,
    PersonNumber,
    StoredState,
    part_of,
)
from kaczmatch.service.domain.store import Store, Transaction
from kaczmatch.storage import DuplicateKey, MemoryStore
from worlds.stores import NOW, PERSON, event, open_store, put


def message(id: str) -> OutboxMessage:
    return OutboxMessage(id=id, topic="match.created", user="ann", at=NOW)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(request.param, request, tmp_path)) as kept:
        yield kept


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
    with store.read() as reader:
        assert reader.find(HeldPerson) == [HeldPerson(user="a", actor="2")]


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
