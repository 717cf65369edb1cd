"""Random works on SQLite and PostgreSQL, alone and many a commit, with restarts: answered and kept as in memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Signal
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from kaczmatch.service.domain.records import Event, HeldPerson, LatestDecision, LogRecord, OutboxMessage, Record
from kaczmatch.service.domain.store import Transaction
from kaczmatch.storage import DuplicateKey, MemoryStore, SqlStore

pytestmark = pytest.mark.slow  # many random histories

KINDS: tuple[type[Record], ...] = (HeldPerson, LatestDecision, Event, OutboxMessage)
NOW = datetime(2026, 1, 2, tzinfo=UTC)

people = st.sampled_from(["ann", "Ça", ""])
moments = st.integers(0, 3).map(lambda days: NOW + timedelta(days=days))
records = st.one_of(
    st.builds(HeldPerson, user=people, actor=st.sampled_from("xyz")),
    st.builds(
        LatestDecision, user=people, candidate=people, decision=st.sampled_from(["like", "pass"]), at=moments, swipe=st.just("s")
    ),
    st.builds(Event, user=people, id=st.sampled_from("123"), kind=st.just("swiped"), at=moments, candidate=people | st.none()),
    st.builds(OutboxMessage, id=people, topic=st.just("t"), user=people, at=moments),
)
searches = st.sampled_from(
    [
        (HeldPerson, {}),
        (HeldPerson, {"actor": "x", "newest": True}),
        (LatestDecision, {"user": "ann"}),
        (LatestDecision, {"candidate": "Ça", "newest": True, "limit": 2}),
        (LatestDecision, {"after": (NOW, "ann", "b")}),
        (Event, {"user": "Ça"}),
        (Event, {"candidate": None, "limit": 3}),
        (OutboxMessage, {"newest": True}),
    ]
)
steps = st.one_of(
    st.tuples(st.just("write"), records),
    st.tuples(st.just("write"), records),
    st.tuples(st.just("drop"), records),
    st.tuples(st.just("drop"), records),
    st.tuples(st.just("get"), records),
    st.tuples(st.just("many"), records),
    st.tuples(st.just("find"), searches),
    st.tuples(st.just("count"), searches),
    st.tuples(st.just("raise"), st.none()),
)
works = st.lists(steps, max_size=6)


def plain(answer: Any) -> Any:
    """Numbers may differ from store to store; that they rise shows in the order."""
    if isinstance(answer, LogRecord):
        return replace(answer, number=0)
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    return {key: plain(one) for key, one in answer.items()} if isinstance(answer, dict) else answer


def step(transaction: Transaction, what: str, given: Any) -> Any:
    if what == "raise":
        raise LookupError("as it was told")
    if what == "write":
        return transaction.append(given) if isinstance(given, LogRecord) else transaction.put(given)
    if what == "find":
        return transaction.find(given[0], **given[1])
    if what == "count":
        return transaction.count(
            given[0], **{name: value for name, value in given[1].items() if name in ("user", "value", "candidate")}
        )
    if what == "many":
        return transaction.many(type(given), [given.identity()])
    return getattr(transaction, what)(type(given), *given.identity())


def work_of(todo: list[Any]) -> Callable[[Transaction], Any]:
    return lambda tx: [plain(step(tx, what, given)) for what, given in todo]


def reads_of(todo: list[Any]) -> list[Any]:
    return [(type(given), given.identity()) for what, given in todo if what in ("get", "write", "drop")]


def outcome(future: Any) -> Any:
    error = future.exception()
    return type(error) if error else future.result()


def same(found: Any, expected: Any) -> bool:
    """A line that is there already may be noticed at the end of a work, which has perhaps failed otherwise until then."""
    return bool(found == expected or (expected is DuplicateKey and isinstance(found, type)))


class Machine(RuleBasedStateMachine):
    """A store beside its model."""

    address: ClassVar[Callable[[], str]]

    @initialize()
    def start(self) -> None:
        self.model = MemoryStore()
        self.url = type(self).address()
        self.store = SqlStore(self.url, together=4)

    @rule(todo=works, ahead=st.booleans())
    def alone(self, todo: list[Any], ahead: bool) -> None:
        future = self.store.write(work_of(todo), locks=["ann"], prefetch=reads_of(todo) if ahead else [])
        assert same(outcome(future), outcome(self.model.write(work_of(todo))))

    @rule(many=st.lists(st.tuples(works, st.booleans()), min_size=2, max_size=6))
    def together(self, many: list[Any]) -> None:
        go = Signal()
        held = self.store.write(lambda _: go.wait(30))
        futures = [self.store.write(work_of(todo), prefetch=reads_of(todo) if ahead else []) for todo, ahead in many]
        go.set()
        held.result()
        for (todo, _), future in zip(many, futures, strict=True):
            assert same(outcome(future), outcome(self.model.write(work_of(todo))))

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = SqlStore(self.url, together=4)

    @invariant()
    def the_same_is_kept(self) -> None:
        with self.store.read() as kept, self.model.read() as expected:
            for kind in KINDS:
                assert plain(kept.find(kind)) == plain(expected.find(kind))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()


def rounds(most: int) -> settings:
    """Failures are not made smaller: every try syncs to disk."""
    checks = list(HealthCheck)
    return settings(
        max_examples=most, stateful_step_count=12, deadline=None, suppress_health_check=checks, phases=[Phase.generate]
    )


def run_on_sqlite(tmp_path: Path, most: int) -> None:
    empty = tmp_path / "empty.db"
    SqlStore(f"sqlite:///{empty}").close()
    files = iter(range(10**6))

    def new() -> str:
        return f"sqlite:///{shutil.copy(empty, tmp_path / f'{next(files)}.db')}"

    run_state_machine_as_test(type("SqliteMachine", (Machine,), {"address": staticmethod(new)}), settings=rounds(most))


def test_sqlite_is_like_memory(tmp_path: Path) -> None:
    run_on_sqlite(tmp_path, 25)


def test_postgres_is_like_memory(postgres_url: str, postgres: Any) -> None:
    def emptied() -> str:
        postgres.clear(postgres_url)
        return postgres_url

    run_state_machine_as_test(type("PostgresMachine", (Machine,), {"address": staticmethod(emptied)}), settings=rounds(8))


def test_the_machine_would_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that forgets drops is found out."""
    monkeypatch.setattr("kaczmatch.storage.batch.CommitBatch.drop", lambda *_: None)
    with pytest.raises(AssertionError):
        run_on_sqlite(tmp_path, 200)
