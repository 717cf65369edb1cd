"""Undo is exact; a reset starts anew."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import Event, LatestDecision, PersonCounters
from kaczmatch.service.domain.refusals import Conflict, NotFound, TooMany
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town


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


def test_a_swipe_that_comes_while_its_undo_is_on_the_way_stays(town: Town) -> None:
    """Whom it is about was not known when the undo asked for its locks."""
    town.couples(1)
    deck, store = town.shown("w0", "m0"), town.context.store

    class Overtaken:
        read = staticmethod(store.read)

        def write(self, work: Callable[[Transaction], Any], locks: Collection[str]) -> Any:
            town.swipe("w0", "m0", id="s", deck=deck)
            assert list(locks) == ["w0"]
            return store.write(work, locks=locks)

    undoing = Undo(replace(town.context, store=Overtaken()))
    with pytest.raises(NotFound):
        undoing.undo("w0", "s").result()
    assert [event.kind for event in town.events("w0")] == ["swiped"]
    town.undoing.undo("w0", "s").result()
