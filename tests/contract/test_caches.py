"""What a process keeps in memory is what is committed: after any work whose commit fails, it equals what a new process reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event as hooks
from sqlalchemy.exc import OperationalError

from kaczmatch.service.access.credentials import APP, Credentials
from kaczmatch.service.domain.catalogue import Catalogue, neutral_prior
from kaczmatch.service.domain.records import MatchSide, Person, PersonNumber, ServiceKey
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.storage import SqlStore
from worlds.snapshots import known
from worlds.stores import open_store
from worlds.town import Town, about

Act = Callable[[Town], Any]
ERASED = "m5"


def relearn(town: Town) -> None:
    if not town.relearning.resume():
        town.relearning.relearn("probit-diag", {"appeal": True}, neutral_prior_of(town))


def neutral_prior_of(town: Town) -> Any:
    """Another one than before."""
    with town.context.store.read() as reader:
        fold = town.context.catalogue.fold(reader, town.context.catalogue.current(reader).model)
    return neutral_prior(fold.learner, fold.prior.dimensions)


def turn_away(town: Town) -> None:
    town.wait(hours=1)
    Maintenance(town.context).run()


ACTS: dict[str, Act] = {
    "vocabulary": lambda town: town.models.change_vocabulary(lambda words: words.add([f"tag-{words.dimensions}"])),
    "another vocabulary": lambda town: town.models.change_vocabulary(lambda words: words.rename("jazz", "blues")),
    "new profile": lambda town: town.people.put("new", about(tags=["chess"])).result(),
    "changed profile": lambda town: town.people.put("w1", about(tags=["cooking", "chess"])).result(),
    "pause": lambda town: town.people.pause("m2", True).result(),
    "swipe": lambda town: town.swipe_outside("w2", "m1", "pass"),
    "match": lambda town: town.swipe_outside("m0", "w0"),
    "import": lambda town: town.import_swipe("w3", "m1"),
    "undo": lambda town: town.undoing.undo("w0", "first").result(),
    "reset": lambda town: town.undoing.reset("w0").result(),
    "session": lambda town: town.swiping.end_session("w1").result(),
    "deck": lambda town: town.deck("w3"),
    "block": lambda town: town.safety.block("w1", "m1").result(),
    "report": lambda town: town.safety.report("w1", "m0", "spam").result(),
    "unmatch": lambda town: town.matching.unmatch("w4", town.find(MatchSide, user="w4")[0].id).result(),
    "hold": lambda town: OperatorActions(town.context).hold("w2", "operator", True).result(),
    "feed": lambda town: Feed(town.context).acknowledge(Feed(town.context).read()[-1].number),
    "relearn": relearn,
    "erase": lambda town: town.erasing.erase(ERASED),
    "maintenance": turn_away,
}


@contextmanager
def commits_failing_from(store: SqlStore, first: int) -> Iterator[list[int]]:
    """As on a full disk: everything was written, and it is rolled back. Says how many have failed."""
    place, failed = 0, list[int]()
    full: Exception = psycopg.errors.DiskFull()
    if store.database.placeholder == "?":
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL  # type: ignore[attr-defined]

    def fail(_: object) -> None:
        nonlocal place
        place += 1
        if place > first:
            failed.append(place)
            raise OperationalError("COMMIT", None, full)

    hooks.listen(store.database.writer, "commit", fail)
    try:
        yield failed
    finally:
        hooks.remove(store.database.writer, "commit", fail)


@contextmanager
def accompanied(town: Town, store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With every work, others are committed that read what it has written: a profile, a swipe, a page of people."""
    write, companions = store.write, list[Future[Any]]()
    alone = False

    def with_others(work: Any, **how: Any) -> Future[Any]:
        nonlocal alone
        if alone:
            return write(work, **how)
        alone = True
        with store._group._changed:  # until it is let go, nothing is taken from the queue
            future = write(work, **how)
            number = next(town.numbers)
            swipe = Swipe(user="w5", id=f"c{number}", candidate="m1", decision="like", deck="")
            companions.append(town.people.put(f"guest{number}", about(tags=["chess"])))
            companions.append(town.swiping.import_swipe(swipe, town.now))
            companions.append(write(lambda tx: tx.find(Person, limit=1_000)))
        alone = False
        return future

    with monkeypatch.context() as patched:
        patched.setattr(store, "write", with_others)
        yield
    for one in companions:
        with suppress(StoreUnavailable, Refusal):
            one.result(60)


def equals_a_new_process(town: Town, store: SqlStore, credentials: Credentials) -> None:
    context = replace(town.context, catalogue=Catalogue())
    town.world.follow()
    kept, fresh = town.context.catalogue, context.catalogue
    with store.read() as reader:
        current = fresh.current(reader)
        assert kept.last == current
        assert kept._vocabularies == {version: fresh.vocabulary(reader, version) for version in kept._vocabularies}
        for number, fold in kept._folds.items():
            read = fresh.fold(reader, number)
            assert (read.learner, read.prior.to_bytes()) == (fold.learner, fold.prior.to_bytes())
            assert read.first_answers_only == fold.first_answers_only
        numbers = {hash(one.id): one.number for one in reader.find(PersonNumber)}
        assert store.database.places._numbers.items() <= numbers.items() | {(hash(ERASED), number) for number in GONE}
        for key, _ in credentials._cache.values():
            assert reader.get(ServiceKey, key.id) == key
    new = ServingIndex(context)
    new.load()
    assert [one.current.model for one in (new, town.world)] == [current.model] * 2
    assert [one.current.vocabulary for one in (new, town.world)] == [current.vocabulary] * 2
    mine, theirs = known(town.world, town, compact=False), known(new, town, compact=False)
    assert mine.keys() == theirs.keys()
    for user, (state, *others) in theirs.items():
        assert mine[user][0] == state
        assert [*mine[user][1:]] == approx(others)


def approx(values: Any) -> Any:
    """Appeal and exposure fade with time, and one process has read them later than the other."""
    return [approx(one) for one in values] if isinstance(values, list) else pytest.approx(values, abs=1e-3)


GONE: set[int] = set()  # the number of who was erased


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    with closing(open_store(request.param, request, tmp_path)) as opened:
        assert isinstance(opened, SqlStore)
        yield opened


def test_every_cache_is_what_a_new_process_reads_after_each_work_that_fails_at_its_commit(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = Town(store)
    town.couples(6)
    town.swipe("w0", "m0", id="first")
    town.swipe("w4", "m4")
    town.swipe("m4", "w4")
    town.swipe("w1", "m2", "pass")
    credentials = Credentials(town.context, b"secret")
    key, _ = credentials.create("key", [APP])
    acts = ACTS | {
        "key": lambda _: credentials.create("another", [APP]),
        "rotate": lambda _: credentials.rotate(key.id),
        "revoke": lambda _: credentials.revoke(key.id).result(),
    }
    with store.read() as reader:
        GONE.update(reader.numbers_of([ERASED]).values())
    for name, act in acts.items():
        for first in range(40):
            credentials.caller_of_key(key.id)
            with (
                commits_failing_from(store, first) as failed,
                accompanied(town, store, monkeypatch),
                suppress(StoreUnavailable, Refusal),
            ):
                act(town)
            equals_a_new_process(town, store, credentials)
            if not failed:
                break
        else:
            pytest.fail(f"{name} never came to its end")
