"""A log that is folded again beside the commit thread: what is committed follows from the log as it is then."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from kaczmatch.service.domain import refolding
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Change, Event, PersonCounters, StoredState
from kaczmatch.service.domain.refolding import FoldedLog
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.service.operations.verification import verify
from worlds.town import Town


@pytest.fixture(autouse=True)
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refolding, "PAGE", 2)


def nothing(event: Event) -> bool:
    return False


def refold(
    context: Context, user: str, leave_out: Callable[[Event], bool], commit: Callable[[Transaction, FoldedLog], None]
) -> None:
    for _ in refolding.refolding(context, user, leave_out, commit):
        context.rest()


def recount(transaction: Transaction, log: FoldedLog) -> None:
    counters = transaction.get(PersonCounters, "w0")
    assert counters is not None
    transaction.put(log.recounted(counters))


def forget(other: str) -> tuple[Callable[[Event], bool], Callable[[Transaction, FoldedLog], None]]:
    """As an erasure does it."""

    def commit(transaction: Transaction, log: FoldedLog) -> None:
        recount(transaction, log)
        for key in log.left_out:
            transaction.drop(Event, *key)
        transaction.append(
            Change(id=f"change-{len(log.left_out)}", user="w0", at=log.recounted(PersonCounters(user="w0")).last_swipe_at)
        )

    return lambda event: event.candidate == other, commit


def lived(town: Town) -> None:
    """Swipes, a session that ended, an undo and a reset."""
    town.couples(6)
    for place in range(6):
        town.swipe("w0", f"m{place}", ("like", "pass", "skip")[place % 3], id=f"s{place}")
        if place in (1, 3):
            town.swiping.end_session("w0").result()
        if place == 2:
            town.undoing.undo("w0", "s2").result()
        if place == 3:
            town.undoing.reset("w0").result()


def once(act: Callable[[], Any], *, rests: int = 1) -> Callable[[], None]:
    """Something that happens at one rest, by default at the first."""
    passed = count(1)

    def rest() -> None:
        if next(passed) == rests:
            act()

    return rest


def rested(town: Town, rest: Callable[[], None]) -> Town:
    object.__setattr__(town.context, "rest", rest)
    return town


def test_what_is_folded_page_by_page_is_what_was_learned_live(town: Town) -> None:
    lived(town)
    before = (town.find(StoredState), town.find(PersonCounters))
    refold(town.context, "w0", nothing, recount)
    assert (town.find(StoredState), town.find(PersonCounters)) == before


def test_what_comes_while_it_is_folded_is_folded_too(town: Town) -> None:
    lived(town)
    rested(town, once(lambda: town.import_swipe("w0", "m0", id="late")))
    refold(town.context, "w0", nothing, recount)
    assert town.events("w0")[-1].id == "late"
    assert verify(town.context).problems == ()


def test_a_swipe_that_was_folded_and_is_undone_before_the_commit_is_not_in_the_state(town: Town) -> None:
    lived(town)
    pages = refolding.refolding(town.context, "w0", nothing, recount)
    for _ in range(len(town.events("w0")) // 2):  # whole pages; the last swipe is in one of them
        next(pages)
    town.undoing.undo("w0", "s5").result()
    for _ in pages:
        pass
    assert verify(town.context).problems == ()


def test_what_is_taken_out_of_the_log_meanwhile_is_not_folded(town: Town) -> None:
    """A skip teaches nothing, so that the state does not tell that it is gone."""
    lived(town)
    town.swiping.end_session("w0").result()
    town.swipe("w0", "m2", "skip", id="skipped")
    town.swiping.end_session("w0").result()
    leave_out, commit = forget("m2")
    pages = len(town.events("w0")) // 2  # all of them have been read then
    rested(town, once(lambda: refold(town.context, "w0", leave_out, commit), rests=pages))
    refold(town.context, "w0", nothing, recount)
    assert {event.id for event in town.events("w0")}.isdisjoint({"s2", "~undo:s2", "skipped"})
    counted = next(one for one in town.find(PersonCounters) if one.user == "w0")
    assert counted.session == "s4"


def test_what_is_left_out_goes_with_what_undid_it(town: Town) -> None:
    lived(town)
    leave_out, commit = forget("m2")
    refold(town.context, "w0", leave_out, commit)
    assert {event.id for event in town.events("w0")}.isdisjoint({"s2", "~undo:s2"})


def test_a_log_that_changes_all_the_time_is_given_up(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(town)
    read_page = FoldedLog.read_page

    def then_swipe(log: FoldedLog) -> bool:
        more = read_page(log)
        town.import_swipe("w0", "m0", "pass")
        return more

    monkeypatch.setattr(FoldedLog, "read_page", then_swipe)
    with pytest.raises(StoreUnavailable, match="try again"):
        refold(town.context, "w0", nothing, recount)
