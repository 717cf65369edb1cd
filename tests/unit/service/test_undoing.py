"""Undo is exact; a reset starts anew."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import timedelta
from threading import Event as Signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.learners.prior import Prior
from kaczmatch.service.domain import refolding
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import Event, LatestDecision, PersonCounters
from kaczmatch.service.domain.refolding import FoldedLog
from kaczmatch.service.domain.refusals import Conflict, NotFound, TooMany
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.town import TAGS, Town


def everything(town: Town) -> tuple[object, ...]:
    """All that a swipe may change, but for the log itself and the clock's last look at a state."""
    learned = town.learned("w0")
    known = None if learned is None else (learned.state, learned.swipes, learned.at)
    pairs = [
        (one.user, one.candidate, one.decision, one.at, one.swipe, round(one.excess, 12)) for one in town.find(LatestDecision)
    ]
    standings = [
        (one.user, one.swipes, one.likes, round(one.excess, 12), round(one.information, 12), one.last_swipe_at)
        for one in town.find(PersonCounters)
    ]
    return (
        known,
        sorted(pairs),
        sorted(standings),
        {candidate: swipe and swipe.decision for candidate, swipe in town.answers(user="w0").items()},
    )


@pytest.mark.parametrize("decision", ["like", "pass", "skip"])
def test_undo_takes_back_everything_exactly(town: Town, decision: str) -> None:
    town.couples(4)
    deck = town.shown("w0", "m0")
    for other, said in (("m0", "like"), ("m1", "pass")):
        town.swipe("w0", other, said, deck=deck)
    before = everything(town)
    town.swipe("w0", "m2", decision, id="oops", deck=deck)
    assert everything(town) != before
    town.undoing.undo("w0", "oops").result()
    assert everything(town) == before
    assert verify(town.context).problems == ()
    town.swipe("w0", "m2", "like", deck=deck)


def test_a_later_decision_undone_gives_back_the_one_before(town: Town) -> None:
    town.couples(1)
    town.swipe("w0", "m0", "like")
    town.wait(days=15)
    before = [one for one in town.find(LatestDecision) if one.user == "w0"]
    town.import_swipe("w0", "m0", "pass", id="oops")
    town.undoing.undo("w0", "oops").result()
    after = [one for one in town.find(LatestDecision) if one.user == "w0"]
    assert [(one.decision, one.at, one.swipe) for one in after] == [(one.decision, one.at, one.swipe) for one in before]
    assert town.swipe("m0", "w0", "like").match is not None


def test_an_undone_swipe_costs_no_quota_and_undoing_has_a_quota_of_its_own() -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(2, timedelta(days=1)))
    town.couples(4)
    deck = town.shown("w0", "m0")
    for attempt in range(2):
        town.swipe("w0", "m0", id=f"oops{attempt}", deck=deck)
        town.undoing.undo("w0", f"oops{attempt}").result()
    town.swipe("w0", "m0", deck=deck)
    town.swipe("w0", "m1", id="last", deck=deck)
    with pytest.raises(TooMany, match="2 swipes"):
        town.swipe("w0", "m2", deck=deck)
    with pytest.raises(TooMany, match="2 undos"):
        town.undoing.undo("w0", "last").result()
    answer = town.answers()["m1"]
    assert answer is not None
    assert answer.id == "last"


def test_an_undo_gives_nothing_back_for_a_window_that_is_over() -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(2, timedelta(hours=1)), deck_life=timedelta(hours=9))
    town.couples(4)
    deck = town.shown("w0", "m0")
    town.swipe("w0", "m0", id="early", deck=deck)
    town.wait(hours=1)
    town.undoing.undo("w0", "early").result()
    for candidate in ("m1", "m2"):
        town.swipe("w0", candidate, deck=deck)
    with pytest.raises(TooMany):
        town.swipe("w0", "m3", deck=deck)


def test_undoing_twice_is_undoing_once(town: Town) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    town.swipe("w0", "m0", deck=deck)
    town.swipe("w0", "m1", id="oops", deck=deck)
    first = town.undoing.undo("w0", "oops").result()
    assert town.undoing.undo("w0", "oops").result().at == first.at
    assert [event.kind for event in town.events("w0")] == ["swiped", "swiped", "undone"]


def test_only_the_last_swipe_can_be_undone(town: Town) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    town.swipe("w0", "m0", id="first", deck=deck)
    town.swipe("w0", "m1", id="second", deck=deck)
    with pytest.raises(Conflict, match="last"):
        town.undoing.undo("w0", "first").result()
    with pytest.raises(NotFound):
        town.undoing.undo("w0", "third").result()
    with pytest.raises(NotFound):
        town.undoing.undo("m0", "second").result()


def test_a_match_cannot_be_undone(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0", id="first")
    town.swipe("m0", "w0", id="yes")
    town.swipe("w0", "m1", "pass")
    for user, swipe in (("m0", "yes"), ("w0", "first")):  # the match is why, also where the swipe is not the last one
        with pytest.raises(Conflict, match="matched, so this swipe cannot be undone; end the match instead") as refused:
            town.undoing.undo(user, swipe).result()
        assert refused.value.code == "matched"
    town.matching.unmatch("m0", town.matching.matches("m0")[0].id).result()
    with pytest.raises(Conflict, match="it has ended, and the two do not meet again"):
        town.undoing.undo("m0", "yes").result()


def test_a_swipe_sent_again_after_its_undoing_stays_undone(town: Town) -> None:
    town.couples(1)
    deck = town.shown("w0", "m0")
    town.swipe("w0", "m0", id="oops", deck=deck)
    town.undoing.undo("w0", "oops").result()
    assert town.swipe("w0", "m0", id="oops", deck=deck).repeated
    learned = town.learned("w0")
    assert learned is not None
    assert learned.swipes == 0


def test_an_undo_reaches_over_the_end_of_a_session(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0")
    town.swipe("w0", "m1", id="oops")
    town.swiping.end_session("w0").result()
    town.undoing.undo("w0", "oops").result()
    assert verify(town.context).problems == ()


def test_a_reset_forgets_the_taste_and_keeps_decisions(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0", "like")
    town.undoing.reset("w0").result()
    learned = town.learned("w0")
    assert learned is not None
    assert learned.swipes == 0
    assert town.swipe("m0", "w0").match is not None
    assert len(town.events("w0")) == 2
    assert verify(town.context).problems == ()


@pytest.mark.slow
@given(st.lists(st.sampled_from(["like", "pass", "skip", "undo", "end", "reset", "wait"]), max_size=25))
def test_any_history_replays_to_the_state(steps: list[str]) -> None:
    town = Town(MemoryStore(), settings={"half_life_days": 1.0, "appeal": True})
    town.couples(6)
    last = ""
    for place, step in enumerate(steps):
        if step == "undo" and last:
            town.undoing.undo("w0", last).result()
            last = ""
        elif step == "end":
            town.swiping.end_session("w0").result()
        elif step == "reset":
            town.undoing.reset("w0").result()
            last = ""
        elif step == "wait":
            town.wait(days=20)
        elif step in ("like", "pass", "skip"):
            hand = town.deck("w0")
            if hand.cards and hand.deck is not None:
                last = f"s-{place}"
                town.swipe("w0", hand.cards[0].person.id, step, id=last, deck=hand.deck.id)
    assert verify(town.context).problems == ()
    assert len({event.number for event in town.find(Event)}) == len(town.find(Event))


def test_memory_weighs_a_candidate_again_after_an_undo(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0", id="mistake")
    town.world.follow()
    town.undoing.undo("w0", "mistake").result()
    assert town.world.follow() == 2  # both sides


def test_a_match_that_is_made_while_the_log_is_folded_stays(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.couples(1)
    town.swipe("w0", "m0", id="s")
    deck = town.shown("m0", "w0")
    read_page = FoldedLog.read_page

    def liked_back(log: FoldedLog) -> bool:
        more = read_page(log)
        town.swipe("m0", "w0", id="back", deck=deck)
        monkeypatch.undo()
        return more

    monkeypatch.setattr(FoldedLog, "read_page", liked_back)
    with pytest.raises(Conflict, match="have matched"):
        town.undoing.undo("w0", "s").result()
    assert [event.kind for event in town.events("w0")] == ["swiped"]
    assert verify(town.context).problems == ()


@pytest.mark.parametrize("refused", ["not the last", "matched", "nobody's", "another's"])
def test_a_refused_undo_counts_like_one_that_is_accepted(refused: str) -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(6, timedelta(days=1)))
    town.couples(2)
    town.swipe("w0", "m0", id="first")
    town.swipe("m0", "w0", id="other")
    town.swipe("w0", "m1", id="second")
    town.swipe("w0", "m1", "pass", id="third", deck="")
    swipe = {"not the last": "second", "matched": "first", "nobody's": "fourth", "another's": "other"}[refused]
    for _ in range(6):
        with pytest.raises((Conflict, NotFound)):
            town.undoing.undo("w0", swipe).result()
    for one in (swipe, "third"):
        with pytest.raises(TooMany, match="6 undos"):
            town.undoing.undo("w0", one).result()
    assert verify(town.context).problems == ()


def test_an_undo_that_was_done_is_not_counted_again() -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(1, timedelta(days=1)))
    town.couples(1)
    town.swipe("w0", "m0", id="oops")
    for _ in range(3):
        assert town.undoing.undo("w0", "oops").result().undoes == "oops"


def test_an_undo_looks_at_few_sessions(town: Town) -> None:
    """Sessions end without a swipe in between only where those were erased."""
    town.couples(10)
    town.swipe("w0", "m0", id="first")
    for place in range(1, 8):
        town.swiping.end_session("w0").result()
        town.swipe("w0", f"m{place}")
    town.swiping.end_session("w0").result()
    for place in range(1, 7):
        town.erasing.erase(f"m{place}")
    with pytest.raises(Conflict, match="last"):
        town.undoing.undo("w0", "first").result()
    town.erasing.erase("m7")
    assert {event.kind for event in town.events("w0")[1:]} == {"session-ended"}
    with pytest.raises(Conflict, match="last"):
        town.undoing.undo("w0", "first").result()  # 8 ends of sessions
    town.swipe("w0", "m8", id="last")
    town.undoing.undo("w0", "last").result()
    assert verify(town.context).problems == ()


def test_a_short_log_does_not_wait_for_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are folded in one thread, in turn."""
    monkeypatch.setattr(refolding, "PAGE", 2)
    order: list[str] = []
    long_one_is_on = Signal()
    town = Town(MemoryStore())
    town.couples(20)
    deck = town.shown("w0", "m0")
    for place in range(20):
        town.swipe("w0", f"m{place}", "pass", id=f"s{place}", deck=deck)
    town.swipe("w1", "m0", "pass", id="only")
    short: list[Future[Event]] = []

    def rest() -> None:
        if not long_one_is_on.is_set():
            long_one_is_on.set()
            short.append(town.undoing.undo("w1", "only"))
            short[0].add_done_callback(lambda _: order.append("short"))

    object.__setattr__(town.context, "rest", rest)
    undoing = Undo(town.context)
    town.undoing = undoing
    long = undoing.undo("w0", "s19")
    long.add_done_callback(lambda _: order.append("long"))
    long.result()
    assert order == ["short", "long"]
    assert verify(town.context).problems == ()


def test_an_undo_that_is_sent_again_on_the_way_is_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refolding, "PAGE", 1)
    town = Town(MemoryStore())
    town.couples(3)
    for place in range(3):
        town.swipe("w0", f"m{place}", "pass", id=f"s{place}")
    again: list[Future[Event]] = []
    object.__setattr__(town.context, "rest", lambda: again.append(undoing.undo("w0", "s2")))
    undoing = Undo(town.context)
    first = undoing.undo("w0", "s2").result()
    assert again
    assert {one.result() for one in again} == {first}
    assert [event.kind for event in town.events("w0")] == ["swiped"] * 3 + ["undone"]


def test_one_undo_of_a_person_is_done_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refolding, "PAGE", 1)
    town = Town(MemoryStore())
    town.couples(3)
    town.swipe("w0", "m0", "pass", id="first")
    others: list[Future[Event]] = []

    def swipe_and_undo() -> None:
        if not others:
            town.import_swipe("w0", "m1", "pass", id="second")
            others.append(undoing.undo("w0", "second"))

    object.__setattr__(town.context, "rest", swipe_and_undo)
    undoing = Undo(town.context)
    with pytest.raises(Conflict, match="last"):
        undoing.undo("w0", "first").result()  # it is the last one no more
    with pytest.raises(StoreUnavailable, match="try again"):
        others[0].result()
    assert undoing.undo("w0", "second").result().undoes == "second"
    assert verify(town.context).problems == ()


def test_a_reset_while_another_model_is_built_is_learned_by_it(town: Town) -> None:
    town.couples(3)
    town.swipe("w0", "m0")
    town.swipe("w0", "m1")

    def reset(done: int, total: int) -> None:
        if not any(event.kind == "reset" for event in town.events("w0")):
            town.undoing.reset("w0").result()

    town.relearning.relearn("probit-diag", {"half_life_days": 3.0}, Prior.ones(len(TAGS)), reset)
    assert verify(town.context).problems == ()
    learned = town.learned("w0")
    assert learned is not None
    assert learned.swipes == 0
