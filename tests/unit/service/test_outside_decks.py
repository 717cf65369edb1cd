"""People whom the app found itself: swipes without a deck, decks of ranked people, and reports that leave both out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.service.domain.records import StoredDeck
from kaczmatch.service.domain.refusals import Conflict, NotFound, TooMany
from kaczmatch.service.experiments.hindsight import Hindsight
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy
from kaczmatch.service.experiments.report import ExperimentReports
from kaczmatch.service.meeting.open_deck import OpenDeck
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.simulated import SimulatedTown, logged
from worlds.town import Town


def open_ranked(town: Town, user: str, *candidates: str) -> OpenDeck:
    return town.decks.open_ranked(user, town.ranking.rank(user, candidates))


def test_a_swipe_outside_a_deck_is_learned_from_and_marked(town: Town) -> None:
    town.couples(2)
    swiped = town.swipe_outside("w0", "m0", "like", id="s")
    assert (swiped.event.deck, swiped.event.imported, swiped.event.outside_deck) == (None, False, True)
    learned = town.learned("w0") or pytest.fail("nothing was learned")
    assert learned.swipes == 1
    assert town.swiping.swipe(Swipe(user="w0", id="s", candidate="m0", decision="like", deck="")).result().repeated
    assert town.swipe_outside("m0", "w0", "like").match is not None
    with pytest.raises(Conflict, match="have matched"):
        town.swipe_outside("w0", "m0", "pass")
    assert verify(town.context).problems == ()


def test_a_swipe_outside_a_deck_can_be_undone(town: Town) -> None:
    town.couples(1)
    town.swipe_outside("w0", "m0", "like", id="s")
    town.undoing.undo("w0", "s").result()
    assert [card.person.id for card in town.deck("w0").cards] == ["m0"]
    assert verify(town.context).problems == ()


def test_who_may_not_be_met_cannot_be_swiped_on_outside_a_deck_either(town: Town) -> None:
    """Blocked, paused, unfitting, erased people and people who never were look alike."""
    town.couples(4)
    town.safety.block("m0", "w0").result()
    town.people.pause("m1", paused=True).result()
    town.erasing.erase("m2")
    for other in ("m0", "m1", "m2", "w1", "nobody"):
        with pytest.raises(NotFound, match=f"there is nobody '{other}' to meet"):
            town.swipe_outside("w0", other, "like")
    town.people.pause("w0", paused=True).result()
    with pytest.raises(Conflict, match="paused"):
        town.swipe_outside("w0", "m3", "like")


def test_a_swipe_outside_a_deck_costs_quota() -> None:
    town = Town(MemoryStore(), swipes=QuotaLimit(1, timedelta(days=1)))
    town.couples(2)
    town.swipe_outside("w0", "m0")
    with pytest.raises(TooMany):
        town.swipe_outside("w0", "m1")


def test_who_was_answered_outside_leaves_the_open_deck(town: Town) -> None:
    town.couples(3)
    assert len(town.deck("w0").cards) == 3
    town.swipe_outside("w0", "m0", "like")
    town.swipe_outside("w0", "m1", "pass")
    assert [card.person.id for card in town.deck("w0").cards] == ["m2"]


def test_ranked_people_become_a_deck_whose_cards_were_not_drawn(town: Town) -> None:
    town.couples(6)
    drawn = town.deck("w0")
    town.safety.block("m1", "w0").result()
    hand = open_ranked(town, "w0", "m0", "m1", "m2", "w1")
    assert hand.deck is not None
    assert {card.person.id for card in hand.cards} == {"m0", "m2"}
    assert {card.how_dealt for card in hand.cards} == {"ranked"}
    [deck] = [one for one in town.find(StoredDeck) if one.id == hand.deck.id]
    assert (deck.policy, deck.min_propensity) == ("ranked", None)
    assert {card.propensity for card in town.cards(id=deck.id)} == {None}
    town.swipe("w0", "m0", "like", deck=deck.id)
    assert town.events("w0")[-1].deck == deck.id
    again = town.deck("w0")  # the deck that was drawn stays open beside it
    assert again.deck == drawn.deck
    assert "m0" not in {card.person.id for card in again.cards}
    assert "liked" in dict(town.ranking.rank("w0", ["m0"]).left_out)["m0"]
    assert verify(town.context).problems == ()


def test_a_deck_of_nobody_says_so(town: Town) -> None:
    town.couples(1)
    hand = open_ranked(town, "w0", "w0", "nobody")
    assert (hand.deck, hand.cards, hand.empty) == (None, (), "none of these people can be shown")
    assert town.find(StoredDeck) == []
    town.people.pause("w0", paused=True).result()
    with pytest.raises(Conflict, match="paused"):
        open_ranked(town, "w0", "m0")


def test_off_policy_estimates_leave_out_and_count_what_was_not_drawn() -> None:
    town = logged(0, couples=20, days=2)
    evaluation, policy = OffPolicyEvaluation(town.context), TargetPolicy(MutualPolicy())
    before = evaluation.evaluate(policy, np.random.default_rng(1))
    assert (before.not_drawn, before.unsupported_decks) == (0, 0)
    fresh = [f"m{place}" for place in range(20) if f"m{place}" not in {event.candidate for event in town.events("w0")}]
    hand = open_ranked(town, "w0", *fresh[:5])
    for card in hand.cards[:3]:
        town.swipe("w0", card.person.id, "like", deck=card.impression.deck)
    town.swipe_outside("w0", fresh[5], "like")
    town.wait(days=1)
    after = evaluation.evaluate(policy, np.random.default_rng(1))
    assert after.not_drawn == len(hand.cards) + 1 == 6
    assert replace(after, not_drawn=0) == before
    with town.context.store.read() as reader:
        last = list(Hindsight(town.context, reader, MutualPolicy()).past_decks())[-1]
    assert last.deck == hand.deck


def test_a_single_deck_without_support_does_not_refuse_the_report() -> None:
    town = logged(1, couples=20, days=2)
    greedy = replace(town.find(StoredDeck)[0], min_propensity=0.0)
    town.context.store.write(lambda transaction: transaction.put(greedy)).result()
    found = OffPolicyEvaluation(town.context).evaluate(TargetPolicy(MutualPolicy()), np.random.default_rng(1))
    assert (found.decks, found.unsupported_decks) == (79, 1)


def test_an_experiment_leaves_out_and_counts_cards_that_were_not_drawn() -> None:
    trial = Experiment(name="e", salt="s", arms=(Arm("a", MutualPolicy()), Arm("b", MutualPolicy(uniform_floor=0.5))))
    town = SimulatedTown(2, couples=10, experiment=trial)
    town.day()
    reports = ExperimentReports(town.context)
    before = reports.report()
    fresh = [f"m{place}" for place in range(10) if f"m{place}" not in {event.candidate for event in town.events("w0")}]
    hand = open_ranked(town, "w0", *fresh)
    town.swipe("w0", hand.cards[0].person.id, "like", deck=hand.cards[0].impression.deck)
    after = reports.report()
    assert after.not_drawn == len(hand.cards) == 4
    assert after.model_copy(update={"not_drawn": 0, "at": before.at}) == before


def test_admirers_are_those_whose_like_is_open_and_who_can_be_shown() -> None:
    town = Town(MemoryStore(), admirers_listed=True)
    town.couples(6)
    for place in (1, 2, 3, 4):
        town.swipe_outside(f"m{place}", "w0", "like")
    town.swipe_outside("m5", "w0", "pass")
    town.swipe_outside("w0", "m1", "like")  # a match
    town.safety.block("m2", "w0").result()
    town.people.pause("m3", paused=True).result()
    page, shown = town.preferences.admirers("w0")
    assert [like.user for like in page] == ["m4", "m3", "m2", "m1"]
    assert shown == ["m4"]
    with pytest.raises(NotFound):
        town.preferences.admirers("nobody")
    silent = Town(town.context.store, before=town)
    with pytest.raises(NotFound, match="admirers_listed is off"):
        silent.preferences.admirers("w0")


def test_a_reported_person_does_not_come_back_by_unblocking(town: Town) -> None:
    town.couples(2)
    town.safety.block("w0", "m0").result()
    town.safety.report("w0", "m0", "spam").result()
    with pytest.raises(Conflict, match="stays blocked"):
        town.safety.unblock("w0", "m0").result()
    town.safety.block("w0", "m0").result()
    with pytest.raises(Conflict, match="stays blocked"):
        town.safety.unblock("w0", "m0").result()
    assert [card.person.id for card in town.deck("w0").cards] == ["m1"]
    assert [card.person.id for card in town.deck("m0").cards] == ["w1"]
    town.safety.unblock("m0", "w0").result()  # the other side never knows
