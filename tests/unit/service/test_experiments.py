"""Experiments: sticky arms, decks dealt by them, outcomes counted once, and reports that find what is there and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kaczmatch import InvalidInput
from kaczmatch.recommend.decks.policy import MutualPolicy, PaperPolicy
from kaczmatch.schemas.experiments import ExperimentReport, SequentialEstimate
from kaczmatch.service.domain.experiment import Arm, Assigned, Experiment
from kaczmatch.service.domain.records import Person, StoredDeck
from kaczmatch.service.experiments.report import OUTCOMES, ExperimentReports
from kaczmatch.storage import MemoryStore
from worlds.clock import NOON
from worlds.simulated import SimulatedTown
from worlds.town import Town

SAME = (Arm("a", MutualPolicy()), Arm("b", MutualPolicy()))
UNLIKE = (Arm("chance", MutualPolicy(uniform_floor=1.0, admirer_quota=0.0)), Arm("mutual", MutualPolicy(admirer_quota=0.0)))


def trial(arms: tuple[Arm, ...] = SAME, **more: Any) -> Experiment:
    return Experiment(**{"name": "trial", "arms": arms, "salt": "s", "window": timedelta(days=4)} | more)


def somebody(identifier: str = "x", row: int | None = None, column: int | None = None) -> Person:
    town = Town(MemoryStore())
    town.move_in("x")
    return replace(town.find(Person)[0], id=identifier, row=row, column=column)


def report(town: Town) -> ExperimentReport:
    return ExperimentReports(town.context).report()


def test_arms_are_sticky_shared_out_and_drawn_anew_by_name_and_salt() -> None:
    experiment = trial((Arm("a", MutualPolicy(), 3.0), Arm("b", PaperPolicy(), 1.0)))
    x = somebody()
    people = [replace(x, id=f"user{number}") for number in range(4_000)]
    arms = [experiment.assign(person, NOON).arm.name for person in people]
    assert arms == [experiment.assign(person, NOON + timedelta(days=99)).arm.name for person in people]
    assert Counter(arms)["b"] == pytest.approx(1_000, abs=4.0 * (4_000 * 0.25 * 0.75) ** 0.5)
    for other in (replace(experiment, name="next"), replace(experiment, salt="t")):
        both = sum(other.assign(person, NOON).arm.name == arm for person, arm in zip(people, arms, strict=True))
        assert both / 4_000 == pytest.approx(0.75**2 + 0.25**2, abs=0.03)  # as independent draws agree


def test_a_region_or_a_block_of_time_gets_one_arm() -> None:
    x = somebody()
    regions = trial(assigned=Assigned.CLUSTER, region_km=100.0)
    near, far = replace(x, row=1_000, column=500), replace(x, row=1_300, column=500)
    assert regions.assign(near, NOON) == regions.assign(replace(near, id="y", column=503), NOON + timedelta(days=9))
    assert regions.assign(near, NOON).unit != regions.assign(far, NOON).unit
    assert regions.assign(x, NOON).unit == "nowhere"
    assert {regions.assign(replace(x, row=row, column=5), NOON).arm.name for row in range(0, 1_800, 9)} == {"a", "b"}
    blocks = trial(assigned=Assigned.TIME, block=timedelta(hours=6))
    assert blocks.assign(x, NOON) == blocks.assign(far, NOON + timedelta(hours=5))
    assert blocks.assign(x, NOON).unit != blocks.assign(x, NOON + timedelta(hours=6)).unit
    assert blocks.over(blocks.assign(x, NOON).unit, NOON) == NOON + timedelta(hours=6)


def test_an_experiment_needs_two_arms() -> None:
    for arms in ((), SAME[:1], (SAME[0], SAME[0])):
        with pytest.raises(InvalidInput, match="two arms or more"):
            trial(arms)


def test_decks_are_dealt_by_the_arm_and_say_so() -> None:
    arms = (Arm("paper", PaperPolicy()), Arm("mutual", MutualPolicy()))
    town = Town(MemoryStore(), experiment=trial(arms))
    town.couples(12)
    for place in range(12):
        town.deck(f"w{place}")
    decks = town.find(StoredDeck)
    assert {(deck.experiment, deck.arm, deck.policy, deck.unit) for deck in decks} == {
        ("trial", "paper", "paper", ""),
        ("trial", "mutual", "mutual", ""),
    }
    assert {deck.arm for deck in town.find(StoredDeck, experiment="trial")} == {"paper", "mutual"}
    assert report(Town(MemoryStore())).arms == ()
    with pytest.raises(InvalidInput, match="needs a learner that knows"):
        Town(MemoryStore(), learner="tk", settings={}, policy=PaperPolicy(), experiment=trial(arms))


def jazz(town: SimulatedTown) -> Any:
    """Everybody likes who has the first tag, and next to nobody else."""
    return lambda _, other: 0.85 if town.tags[other][0] else 0.15


def study(arms: tuple[Arm, ...], seed: int = 0, **more: Any) -> SimulatedTown:
    town = SimulatedTown(seed, couples=40, experiment=trial(arms, **more))
    for _ in range(3):
        town.day(likes=jazz(town))
    return town


@pytest.fixture(scope="module")
def unlike() -> SimulatedTown:
    return study(UNLIKE)


def test_a_study_of_two_policies_finds_the_better_one(unlike: SimulatedTown) -> None:
    """People use the service for three days; a week later their likes are counted, arm by arm."""
    early = report(unlike)
    assert [arm.units for arm in early.arms] == [0, 0]
    assert sum(arm.waiting for arm in early.arms) == 80
    assert all(outcome.mean is None for arm in early.arms for outcome in arm.outcomes)  # nothing is said of a few
    unlike.wait(days=7)
    found = report(unlike)
    assert sum(arm.units for arm in found.arms) == 80
    assert sum(arm.decks for arm in found.arms) == 240
    likes, matches = found.contrasts
    assert (likes.outcome, matches.outcome) == OUTCOMES
    assert likes.difference is not None
    assert likes.difference.low > 0.0
    last = likes.course[-1]
    assert SequentialEstimate(value=last.value, low=last.low, high=last.high) == likes.difference
    assert found.balance is not None
    assert found.balance > 0.01
    by_hand = outcomes(unlike)
    for arm in found.arms:
        assert arm.outcomes[0].mean is not None
        assert arm.outcomes[0].mean.value == pytest.approx(by_hand[arm.name])


def outcomes(town: SimulatedTown) -> dict[str, float]:
    """Likes a card of each arm from the events alone: the mean over its people."""
    arms = {deck.user: deck.arm for deck in town.find(StoredDeck)}
    rates: dict[str, list[float]] = {}
    for user, arm in arms.items():
        swipes = [event.decision for event in town.events(user) if event.decision]
        rates.setdefault(arm, []).append(swipes.count("like") / len(swipes))
    return {arm: sum(some) / len(some) for arm, some in rates.items()}


def test_a_study_of_one_policy_under_two_names_finds_nothing() -> None:
    town = study(SAME, seed=1)
    town.wait(days=7)
    for one in report(town).contrasts:
        assert one.difference is not None
        assert one.difference.low <= 0.0 <= one.difference.high


def test_erasing_somebody_erases_their_exposure_and_outcomes(unlike: SimulatedTown) -> None:
    unlike.wait(days=7)
    before = report(unlike)
    arm = next(deck.arm for deck in unlike.find(StoredDeck) if deck.user == "w3")
    unlike.erasing.erase("w3")
    after = report(unlike)
    assert unlike.find(StoredDeck, user="w3") == []
    for old, new in zip(before.arms, after.arms, strict=True):
        assert new.units == old.units - (old.name == arm)
        assert new.decks == old.decks - 3 * (old.name == arm)
        assert new.cards < old.cards  # theirs, and those that showed them


def test_what_comes_after_the_window_does_not_count() -> None:
    town = SimulatedTown(2, couples=8, experiment=trial(window=timedelta(days=2)))
    for _ in range(2):
        town.day()
    inside = [(arm.decks, arm.cards) for arm in report(town).arms]
    town.wait(days=3)
    town.day()
    assert [(arm.decks, arm.cards) for arm in report(town).arms] == inside
    assert sum(decks for decks, _ in inside) == 32


def test_arms_in_blocks_of_time_are_counted_by_the_block() -> None:
    town = SimulatedTown(3, couples=6, deck_size=1, experiment=trial(assigned=Assigned.TIME, block=timedelta(days=1)))
    for _ in range(4):
        town.day()
    town.wait(days=2)
    found = report(town)
    assert found.assigned == "time"
    assert sum(arm.units for arm in found.arms) == len({deck.unit for deck in town.find(StoredDeck)}) >= 4


def test_an_answer_that_comes_when_a_unit_has_been_counted_changes_nothing() -> None:
    """Cards can be answered for ever, but what has been looked at must not move."""
    town = SimulatedTown(4, couples=40, experiment=trial(window=timedelta(hours=2)))
    hands = {user: town.deck(user) for user in town.ids}

    def answer(place: int) -> None:
        for user, hand in hands.items():
            card, person = hand.cards[place].impression, hand.cards[place].person
            town.swipe(user, person.id, "like" if town.tags[person.id][0] else "pass", deck=card.deck)

    answer(0)
    town.wait(minutes=150)  # the decks have expired; the units are still open, as a deck of their last minute would be
    answer(1)
    town.wait(hours=1)
    before = report(town)
    assert all(arm.outcomes[0].mean is not None for arm in before.arms)
    swipes = [event for user in town.ids for event in town.events(user) if event.decision == "like"]
    counted = sum(arm.units * arm.outcomes[0].mean.value * 6 for arm in before.arms if arm.outcomes[0].mean is not None)
    assert counted == pytest.approx(len(swipes))
    answer(2)
    assert report(town).model_copy(update={"at": before.at}) == before


@pytest.mark.parametrize(
    "change",
    [
        {"assigned": Assigned.TIME},
        {"assigned": Assigned.CLUSTER},
        {"arms": (Arm("new", MutualPolicy()), Arm("b", MutualPolicy()))},
        {"arms": (Arm("a", PaperPolicy()), Arm("b", PaperPolicy()))},
        {"arms": (Arm("a", MutualPolicy(), 0.001), Arm("b", MutualPolicy()))},
    ],
    ids=["by-time", "by-cluster", "renamed", "another-policy", "other-shares"],
)
def test_decks_of_other_settings_under_the_same_name_are_told_apart(change: dict[str, Any]) -> None:
    town = SimulatedTown(5, couples=8, experiment=trial())
    town.day()
    town.wait(days=7)
    alike = {deck.user for deck in town.find(StoredDeck) if deck.arm == "b"}
    changed = replace(town.context, config=replace(town.context.config, experiment=trial(**change)))
    found = ExperimentReports(changed).report()
    stay = len(alike) if "arms" in change and change["arms"][0].policy != PaperPolicy() else 0
    assert found.strays == 16 - stay > 0
    assert sum(arm.decks for arm in found.arms) == stay
    assert report(town).strays == 0


def test_blocks_of_another_length_are_told_apart() -> None:
    town = SimulatedTown(6, couples=4, experiment=trial(assigned=Assigned.TIME, block=timedelta(days=1)))
    town.day()
    town.wait(days=7)
    changed = replace(
        town.context, config=replace(town.context.config, experiment=trial(assigned=Assigned.TIME, block=timedelta(hours=12)))
    )
    found = ExperimentReports(changed).report()
    assert (found.strays, sum(arm.units + arm.waiting for arm in found.arms)) == (8, 0)


def test_decks_that_were_assigned_otherwise_under_the_same_name_do_not_count() -> None:
    town = Town(MemoryStore(), experiment=trial())
    town.couples(2)
    town.deck("w0")
    by_time = {"assigned": Assigned.TIME}
    for way in ({"assigned": Assigned.CLUSTER}, by_time, by_time | {"block": timedelta(days=9_999)}, {"assigned": Assigned.USER}):
        town.wait(hours=2)
        town = Town(town.context.store, before=town, experiment=trial(**way))
        before = sum(arm.decks for arm in report(town).arms)
        town.deck("w0")
        assert (before, sum(arm.decks for arm in report(town).arms)) == ((1, 2) if way["assigned"] is Assigned.USER else (0, 1))
