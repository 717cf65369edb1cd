"""`verify` on every store: it finds nothing in what the service wrote, and every planted corruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.service.domain.records import Event, LatestDecision, MatchSide, PersonCounters, Record, StoredDeck, StoredState
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations.verification import verify
from worlds.stores import open_store
from worlds.town import Town


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


def lived(town: Town) -> None:
    """Decisions that were changed, undone, imported late; a match, and somebody who has left."""
    town.couples(4)
    for user, candidate in (("w0", "m0"), ("m0", "w0"), ("w1", "m0"), ("w2", "m3"), ("w0", "m3"), ("m1", "w0"), ("w3", "m1")):
        town.swipe(user, candidate)
    town.swipe("w0", "m1", "pass", id="taken-back")
    town.undoing.undo("w0", "taken-back").result()
    late = Swipe(user="w1", id="late", candidate="m0", decision="pass", deck="")
    town.swiping.import_swipe(late, town.now - timedelta(days=9)).result()
    town.swiping.end_session("w1").result()
    town.swipe("w1", "m2", "skip")
    town.erasing.erase("m3")


def put(record: Record) -> Callable[[Any], None]:
    return lambda tx: tx.put(record)


def drop(record: Record) -> Callable[[Any], None]:
    return lambda tx: tx.drop(type(record), *record.identity())


def one(town: Town, kind: type[Record], **equal: Any) -> Any:
    [found] = town.find(kind, **equal)
    return found


CORRUPTIONS: dict[str, tuple[Callable[[Town], Callable[[Any], None]], str]] = {
    "a state": (lambda t: put(replace(one(t, StoredState, user="w0"), swipes=7)), "the state of 'w0'"),
    "a state is gone": (lambda t: drop(one(t, StoredState, user="w0")), "the state of 'w0'"),
    "a decision": (lambda t: put(replace(one(t, LatestDecision, user="w3"), decision="pass")), "'w3' decided on 'm1'"),
    "its time": (lambda t: put(replace(one(t, LatestDecision, user="w3"), at=t.now)), "'w3' decided on 'm1'"),
    "its swipe": (lambda t: put(replace(one(t, LatestDecision, user="w3"), swipe="x")), "'w3' decided on 'm1'"),
    "a decision is gone": (lambda t: drop(one(t, LatestDecision, user="w3")), "'w3' decided on 'm1'"),
    "a decision nobody made": (lambda t: put(replace(one(t, LatestDecision, user="w3"), candidate="m2")), "'w3' decided on 'm2'"),
    "a decision of nobody": (lambda t: put(replace(one(t, LatestDecision, user="w3"), user="ghost")), "belong to nobody"),
    "a part in an appeal": (lambda t: put(replace(one(t, LatestDecision, user="w3"), excess=0.9)), "the appeal of 'm1'"),
    "an appeal": (lambda t: put(replace(t.standing("m1"), information=9.0)), "the appeal of 'm1'"),
    "a count": (lambda t: put(replace(t.standing("w0"), swipes=9)), "the counters of 'w0'"),
    "likes": (lambda t: put(replace(t.standing("w0"), likes=0)), "the counters of 'w0'"),
    "the last swipe": (lambda t: put(replace(t.standing("w0"), last_swipe_at=t.now)), "the counters of 'w0'"),
    "an open session": (lambda t: put(replace(t.standing("w0"), in_session=False)), "the counters of 'w0'"),
    "counters are gone": (lambda t: drop(t.standing("w0")), "the counters of 'w0'"),
    "a match nobody made": (lambda t: put(MatchSide(user="w3", other="m2", id="x", at=t.now)), "match 'x' of 'w3'"),
    "a match of another time": (lambda t: put(replace(one(t, MatchSide, user="w0"), at=t.now)), "of 'w0'"),
    "half a match": (lambda t: drop(one(t, MatchSide, user="w0")), "of 'm0' has no other side"),
    "a card that was answered": (lambda t: put(replace(one(t, StoredDeck, user="w3"), cards=b"")), "who is not in deck"),
    "an event of nobody": (lambda t: lambda tx: tx.append(replace(t.events("w3")[0], user="ghost")), "belong to nobody"),
}


def test_what_the_service_wrote_is_in_order_and_every_corruption_is_found(town: Town) -> None:
    lived(town)
    assert verify(town.context).problems == ()
    kinds = (StoredState, LatestDecision, PersonCounters, MatchSide, StoredDeck)
    before = {kind: town.find(kind) for kind in kinds}
    for name, (corrupt, words) in CORRUPTIONS.items():
        town.context.store.write(corrupt(town)).result()
        problems = verify(town.context).problems
        assert any(words in problem for problem in problems), (name, problems)

        def mend(transaction: Any) -> None:
            for kind, records in before.items():
                for record in set(town.find(kind)) - set(records):
                    transaction.drop(kind, *record.identity())
                for record in records:
                    transaction.put(record)
            for event in town.find(Event, user="ghost"):
                transaction.drop(Event, *event.identity())

        town.context.store.write(mend).result()
    assert verify(town.context).problems == ()


def test_both_sides_of_a_match_are_missed(town: Town) -> None:
    lived(town)
    for match in town.find(MatchSide):
        town.context.store.write(drop(match)).result()
    assert any("made match" in problem for problem in verify(town.context).problems)


def test_the_id_of_an_erased_swipe_can_be_used_again(town: Town) -> None:
    """Neither the end of its session nor its undoing is taken for one of the new swipe."""
    town.couples(5)
    town.swipe("w0", "m0", id="first")
    town.swipe("w0", "m1", "pass", id="second")
    town.swiping.end_session("w0").result()
    town.swipe("w0", "m2", id="undone")
    town.undoing.undo("w0", "undone").result()
    town.erasing.erase("m0")
    town.erasing.erase("m2")
    town.wait(days=1)
    town.swipe("w0", "m3", id="first")
    town.swiping.end_session("w0").result()
    assert verify(town.context).problems == ()
    town.wait(days=20)
    town.swipe("w0", "m4", id="undone")
    assert verify(town.context).problems == ()
    assert town.undoing.undo("w0", "undone").result().at == town.now
    assert verify(town.context).problems == ()
    learned = town.learned("w0")
    assert learned is not None
    assert learned.swipes == 2


def test_a_session_that_began_with_an_erased_swipe_is_ended_once(town: Town) -> None:
    town.couples(3)
    town.swipe("w0", "m0", id="first")
    town.swipe("w0", "m1", id="second")
    town.erasing.erase("m0")
    town.swipe("w0", "m2", id="first")
    town.undoing.undo("w0", "first").result()
    assert town.standing("w0").in_session  # by the second swipe
    assert town.swiping.end_session("w0").result()
    town.erasing.erase("m1")
    assert not town.standing("w0").in_session
    assert town.standing("w0").swipes == 0
    assert verify(town.context).problems == ()


def test_an_erasure_that_is_under_way_is_in_order_at_every_step(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a backup can be made at any moment."""
    town.couples(2)
    town.move_in("m9", man=True)
    for user in ("w0", "w1"):
        town.swipe("m9", user)
        town.swipe(user, "m9")
    write, found = town.context.store.write, []

    def checked(work: Any, **options: Any) -> Any:
        done = write(work, **options)
        done.result()
        found.append(verify(town.context).problems)
        return done

    monkeypatch.setattr(town.context.store, "write", checked)
    town.erasing.erase("m9")
    assert len(found) >= 4  # the person, two others, and that it is finished
    assert found == [()] * len(found)
