"""The first answer to somebody teaches. Later ones change the decision and the match, and nothing that was learned."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.counting import swipes_learned_from
from kaczmatch.service.domain.records import LatestDecision, Model, StoredState
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town


def bits(town: Town, user: str = "w0") -> tuple[bytes, int]:
    learned = town.learned(user) or pytest.fail("nothing was learned")
    return learned.state, learned.swipes


def check(town: Town) -> None:
    found = verify(town.context)
    assert (found.problems, found.identical) == ((), found.people)


@pytest.fixture
def town() -> Town:
    town = Town(MemoryStore())
    town.couples(3)
    town.swipe("w0", "m0", "pass", id="first")
    return town


def test_a_second_answer_changes_the_decision_and_the_match_alone(town: Town) -> None:
    learned, appeal, growth = bits(town), town.standing("m0").excess, town.preferences.of("w0")
    town.swipe("m0", "w0", "like")
    again = town.import_swipe("w0", "m0", "like")
    assert again.match is not None
    assert (bits(town), town.standing("m0").excess) == (learned, appeal)
    assert town.preferences.growth("w0")[-1][1] == growth
    assert [pair.decision for pair in town.find(LatestDecision, user="w0")] == ["like"]
    assert [event.id for event in swipes_learned_from(town.events("w0"), first_answers_only=True)] == ["first"]
    check(town)


def test_a_skip_in_between_makes_no_difference(town: Town) -> None:
    learned = bits(town)
    town.import_swipe("w0", "m0", "skip")
    town.import_swipe("w0", "m0", "like")
    assert bits(town) == learned
    check(town)


def test_after_the_first_answer_was_undone_the_second_teaches(town: Town) -> None:
    learned, appeal = bits(town), town.standing("m0")
    town.undoing.undo("w0", "first").result()
    assert town.standing("m0").information == 0.0
    town.import_swipe("w0", "m0", "pass", id="second")
    assert bits(town) == learned
    assert town.standing("m0").excess == pytest.approx(appeal.excess)
    check(town)
    town.import_swipe("w0", "m0", "like", id="third")
    town.undoing.undo("w0", "third").result()
    assert bits(town) == learned
    check(town)


def test_after_a_reset_the_next_answer_teaches_again(town: Town) -> None:
    learned, appeal = bits(town), town.standing("m0").excess
    town.undoing.reset("w0").result()
    town.import_swipe("w0", "m0", "pass", id="anew")
    assert bits(town)[1] == 1
    assert town.standing("m0").excess == pytest.approx(appeal)  # which nobody has forgotten
    town.import_swipe("w0", "m0", "like")
    assert bits(town)[1] == learned[1] == 1
    town.undoing.reset("w0").result()
    check(town)


def test_an_erasure_leaves_what_a_replay_gives(town: Town) -> None:
    town.swipe("w0", "m1", "like")
    town.import_swipe("w0", "m0", "like")
    town.import_swipe("w0", "m1", "pass")
    town.erasing.erase("m0")
    assert bits(town)[1] == 1
    check(town)


def test_a_model_learns_as_its_settings_say(town: Town) -> None:
    town.import_swipe("w0", "m0", "like")
    with town.context.store.read() as reader:
        prior = town.context.catalogue.fold(reader, 1).prior
    every: dict[str, Any] = {"appeal": True, "first_answers_only": False}
    town.relearning.relearn("probit-diag", every, prior)
    assert bits(town)[1] == 2
    check(town)
    town.import_swipe("w0", "m0", "pass")
    assert bits(town)[1] == 3
    check(town)
    town.relearning.relearn("probit-diag", {"appeal": True}, prior)
    assert bits(town)[1] == 1
    check(town)
    with pytest.raises(InvalidInput, match="first_answers_only: must be true or false"):
        town.relearning.relearn("probit-diag", {"first_answers_only": "no"}, prior)


def test_a_model_from_before_this_setting_learned_from_every_answer() -> None:
    """Its states still replay, and a refit keeps to it."""
    town = Town(MemoryStore())
    [model] = town.find(Model)
    old = replace(model, settings=json.dumps({"appeal": True}))
    town.context.store.write(lambda transaction: transaction.put(old)).result()
    town = Town(town.context.store, before=town)
    town.couples(40)
    for place in range(40):
        for _ in range(2):
            town.import_swipe(f"w{place}", "m0", "like")
    assert bits(town)[1] == 2
    check(town)
    assert Refit(town.context).run() is not None
    assert {state.swipes for state in town.find(StoredState) if state.user.startswith("w")} == {2}
    check(town)
