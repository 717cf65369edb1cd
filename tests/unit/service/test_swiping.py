"""A swipe, its answer, and everything that follows from it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.records import Event, EventKind, LatestDecision, MatchSide, OutboxMessage
from kaczmatch.service.domain.refusals import Conflict, NotFound, Reused, TooMany
from kaczmatch.service.domain.sparse_features import packed, unpacked
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town, about


def test_a_swipe_is_an_event_with_what_was_seen_and_a_new_state(town: Town) -> None:
    town.move_in("ann")
    town.move_in("bob", man=True, tags=["chess"])
    answer = town.swipe("ann", "bob", "pass")
    [event] = town.events("ann")
    assert (event.kind, event.candidate, event.decision) == ("swiped", "bob", "pass")
    assert unpacked(event.features, 6).tolist() == [0, 1, 0, 0, 0, 0]
    assert event.number > 0
    assert event == replace(answer.event, number=event.number)  # the store gives the number
    learned = town.learned("ann")
    assert learned is not None
    assert learned.swipes == 1
    assert verify(town.context).problems == ()


def test_the_same_swipe_again_gets_the_same_answer_and_has_no_effect(town: Town) -> None:
    town.couples(1)
    deck = town.shown("w0", "m0")
    first = town.swipe("w0", "m0", id="one", deck=deck)
    before = town.learned("w0"), town.find(Event), town.standing("m0")
    again = town.swipe("w0", "m0", id="one", deck=deck)
    assert again.repeated
    assert again.match == first.match
    assert (town.learned("w0"), town.find(Event), town.standing("m0")) == before


@pytest.mark.parametrize("change", [{"decision": "pass"}, {"candidate": "m1"}, {"deck": "other"}])
def test_another_swipe_under_a_used_id_is_refused(town: Town, change: dict[str, str]) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    said = {"user": "w0", "id": "one", "candidate": "m0", "decision": "like", "deck": deck}
    town.swiping.swipe(Swipe(**said)).result()
    with pytest.raises(Reused):
        town.swiping.swipe(Swipe(**(said | change))).result()


def test_two_people_may_use_the_same_id(town: Town) -> None:
    town.couples(1)
    town.swipe("w0", "m0", id="one")
    assert not town.swipe("m0", "w0", id="one").repeated


def test_mutual_likes_make_one_match_and_tell_both(town: Town) -> None:
    town.couples(1)
    assert town.swipe("w0", "m0").match is None
    match = town.swipe("m0", "w0").match
    assert match is not None
    assert {(one.user, one.other, one.id) for one in town.find(MatchSide)} == {("w0", "m0", match), ("m0", "w0", match)}
    assert [(one.topic, one.user) for one in town.find(OutboxMessage)] == [("match.created", "m0"), ("match.created", "w0")]


@pytest.mark.parametrize(("first", "second"), [("like", "pass"), ("pass", "like"), ("skip", "like"), ("like", "skip")])
def test_anything_else_makes_none(town: Town, first: str, second: str) -> None:
    town.couples(1)
    town.swipe("w0", "m0", first)
    assert town.swipe("m0", "w0", second).match is None
    assert town.find(MatchSide) == []


def test_the_latest_decision_stands(town: Town) -> None:
    town.couples(1)
    town.swipe("w0", "m0", "like")
    town.wait(days=15)
    town.import_swipe("w0", "m0", "pass")
    assert town.swipe("m0", "w0", "like").match is None
    [pair] = [one for one in town.find(LatestDecision) if one.user == "w0"]
    assert pair.decision == "pass"


def test_a_skip_is_logged_and_teaches_nothing(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0", "like")
    before, standing = town.learned("w0"), town.standing("m1")
    town.swipe("w0", "m1", "skip")
    after = town.learned("w0")
    assert before is not None
    assert after is not None
    assert (after.state, after.swipes) == (before.state, before.swipes)
    assert town.standing("m1") == standing
    assert len(town.events("w0")) == 2


def test_who_was_never_shown_cannot_be_swiped_on(town: Town) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    for candidate, of in (("w1", deck), ("nobody", deck), ("m0", "no-deck")):
        with pytest.raises(NotFound):
            town.swipe("w0", candidate, deck=of)


def test_blocked_erased_and_unfitting_people_look_like_people_who_never_were(town: Town) -> None:
    town.couples(4)
    deck = town.shown("w0", "m0")
    town.safety.block("m0", "w0").result()
    town.safety.block("w0", "m1").result()
    town.erasing.erase("m2")
    town.wait(seconds=1)
    town.people.put("m3", about("M3", man=True, i_look_for=frozenset({"man"}))).result()
    problems = set()
    for candidate in ("m0", "m1", "m2", "m3", "nobody"):
        with pytest.raises(NotFound) as refused:
            town.swipe("w0", candidate, deck=deck)
        problems.add(refused.value.problem.replace(candidate, "X"))
    assert len(problems) == 1


def test_who_is_held_back_by_an_operator_gets_no_match_from_decks_that_were_dealt_before(town: Town) -> None:
    town.couples(2)
    town.swipe("m0", "w0")
    town.swipe("m1", "w0")
    deck = town.shown("w0", "m0")
    town.people.pause("m1", True).result()  # of their own accord
    OperatorActions(town.context).hold("m0", "operator", True).result()
    with pytest.raises(NotFound, match="there is no card"):
        town.swipe("w0", "m0", deck=deck)
    assert town.swipe("w0", "m1", deck=deck).match is not None
    OperatorActions(town.context).hold("m0", "operator", False).result()
    assert town.swipe("w0", "m0", deck=deck).match is not None


def test_nobody_swipes_on_themselves_or_with_another_word(town: Town) -> None:
    town.couples(1)
    with pytest.raises(InvalidInput, match="themselves"):
        town.swipe("w0", "w0", deck="d")
    with pytest.raises(InvalidInput, match="like, pass or skip"):
        town.swipe("w0", "m0", "love", deck="d")


def test_a_card_is_answered_once(town: Town) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    town.swipe("w0", "m0", "pass", deck=deck)
    with pytest.raises(Conflict, match="answered"):
        town.swipe("w0", "m0", "like", deck=deck)
    answer = town.answers(user="w0")["m0"]
    assert answer is not None
    assert answer.decision == "pass"


def test_after_a_match_there_is_nothing_to_decide(town: Town) -> None:
    town.couples(1)
    deck, other = town.shown("w0", "m0"), town.shown("m0", "w0")
    town.swipe("w0", "m0", deck=deck)
    town.swipe("m0", "w0", deck=other)
    with pytest.raises(Conflict, match="matched"):
        town.swipe("w0", "m0", "pass", deck=deck)


def test_a_quota_ends_swiping_until_its_window_is_over() -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(2, timedelta(hours=1)))
    town.couples(4)
    deck = town.shown("w0", "m0")
    for candidate in ("m0", "m1"):
        town.swipe("w0", candidate, deck=deck)
    with pytest.raises(TooMany) as refused:
        town.swipe("w0", "m2", deck=deck)
    assert timedelta(0) < refused.value.wait <= timedelta(hours=1)
    town.wait(hours=1)
    town.swipe("w0", "m2", deck=deck)


def test_a_clock_that_steps_back_over_midnight_gives_no_second_quota() -> None:
    """Two processes whose clocks differ by a moment do so every night."""
    town = Town(MemoryStore(), swipes=QuotaLimit(2, timedelta(days=1)))
    town.couples(5)
    deck = town.shown("w0", "m0")
    town.clock.now = town.now.replace(hour=23, minute=59, second=58)
    for place in range(5):
        town.wait(seconds=2 if place % 2 == 0 else -4)  # and one more for the swipe itself
        with pytest.raises(TooMany) if place >= 2 else nullcontext():
            town.swipe("w0", f"m{place}", deck=deck)


def test_silence_ends_a_session(town: Town) -> None:
    town.couples(3)
    town.swipe("w0", "m0")
    town.wait(minutes=29)
    town.swipe("w0", "m1")
    town.wait(minutes=31)
    town.swipe("w0", "m2")
    assert [event.kind for event in town.events("w0")] == ["swiped", "swiped", EventKind.SESSION_ENDED, "swiped"]
    assert verify(town.context).problems == ()


def test_block_rules_learn_when_the_session_ends() -> None:
    from kaczmatch import Always, DeckPlan, sampler

    policy = Always(deck_plan=DeckPlan(sampler=sampler("uniform"), reason="test"))
    town = Town(MemoryStore(), learner="block-nk", settings={}, policy=policy)
    town.couples(3)
    for other in ("m0", "m1"):
        town.swipe("w0", other)
    fold, prior = town.world.recommender.index.learner, town.world.recommender.index.prior
    pending = town.learned("w0")
    assert town.swiping.end_session("w0").result()
    assert not town.swiping.end_session("w0").result()
    solved = town.learned("w0")
    assert pending is not None
    assert solved is not None
    before, after = (fold.from_bytes(one.state, prior).cells[:6] for one in (pending, solved))
    assert not np.array_equal(before, after)
    assert verify(town.context).problems == ()


def test_a_rule_that_ended_a_session_says_how_far_the_taste_moved(town: Town) -> None:
    town.couples(6)
    for sessions in range(3):
        for other in range(2):
            town.swipe("w0", f"m{2 * sessions + other}", "like" if other else "pass")
        town.swiping.end_session("w0").result()
    learned = town.learned("w0")
    assert learned is not None
    assert len(learned.stability) == 2
    assert all(-1.0 <= value <= 1.0 for value in learned.stability)


def test_appeal_as_seen_is_what_others_decided_before(town: Town) -> None:
    town.couples(3)
    town.swipe("w0", "m0", "like")
    town.swipe("w1", "m0", "like")
    town.swipe("w2", "m0", "like")
    seen = [town.events(f"w{place}")[0].appeal for place in range(3)]
    assert seen[0] == 0.0
    assert 0.0 < seen[1] < seen[2]


def test_nobody_sees_their_own_part_of_an_appeal(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0", "like")
    town.wait(days=15)
    town.import_swipe("w0", "m0", "like")
    assert [event.appeal for event in town.events("w0") if event.decision] == pytest.approx([0.0, 0.0])


@given(st.permutations([(user, other) for user in ("w0", "w1", "w2") for other in ("m0", "m1")]))
def test_nobodys_swipes_change_what_others_have_learned(order: list[tuple[str, str]]) -> None:
    """Appeal, a statistic of the population, apart: it is switched off here."""
    town = Town(MemoryStore(), settings={})
    town.couples(3)
    decks = {user: town.shown(user, "m0") for user in ("w0", "w1", "w2")}
    for user, other in order:
        liked = (user, other) in {("w0", "m0"), ("w1", "m1"), ("w2", "m0")}
        swipe = Swipe(user=user, id=other, candidate=other, decision="like" if liked else "pass", deck=decks[user])
        town.swiping.swipe(swipe).result()
    fold = town.world.recommender.index.learner
    for user in decks:
        alone = fold.start(town.world.recommender.index.prior)
        for mine, other in order:
            if mine == user:
                features = unpacked(next(event.features for event in town.events(user) if event.candidate == other), 6)
                liked = (user, other) in {("w0", "m0"), ("w1", "m1"), ("w2", "m0")}
                alone = fold.swipe(alone, features, 1 if liked else -1)
        learned = town.learned(user)
        assert learned is not None
        assert learned.state == alone.to_bytes()


@given(st.lists(st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False)), max_size=40))
def test_vectors_are_stored_exactly(values: list[float]) -> None:
    vector = np.array(values)
    assert unpacked(packed(vector), len(vector)).tolist() == vector.tolist()
    grown = unpacked(packed(vector), len(vector) + 3)
    assert grown.tolist() == [*vector.tolist(), 0.0, 0.0, 0.0]


def test_an_import_does_not_overrule_a_later_decision(town: Town) -> None:
    town.couples(1)
    town.swipe("m0", "w0", "like")
    town.swipe("w0", "m0", "pass")
    old = Swipe(user="w0", id="old", candidate="m0", decision="like", deck="")
    assert town.swiping.import_swipe(old, town.now - timedelta(days=100)).result().match is None
    assert [pair.decision for pair in town.find(LatestDecision, user="w0")] == ["pass"]
    town.undoing.undo("w0", "old").result()
    assert [pair.decision for pair in town.find(LatestDecision, user="w0")] == ["pass"]
    assert verify(town.context).problems == ()


def test_what_was_exported_can_be_imported_where_it_is_from(town: Town) -> None:
    town.couples(1)
    event = town.swipe("w0", "m0", id="mine").event
    same = Swipe(user="w0", id="mine", candidate="m0", decision="like", deck="")
    assert town.swiping.import_swipe(same, event.at).result().repeated
    with pytest.raises(Reused):
        town.swiping.import_swipe(replace(same, decision="pass"), event.at).result()
