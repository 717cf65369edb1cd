"""Picks through the service: made from the store, published all at once, and shown as far as people can still meet."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kaczmatch.recommend.assignments.contract import AssignedPicks, PickMarket
from kaczmatch.recommend.assignments.picks import picks
from kaczmatch.recommend.assignments.registry import assignment
from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.recommend.people.filters import passes_all_filters
from kaczmatch.runner.local import LocalRunner
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.service.domain.records import MatchSide, OutboxMessage, Person, Pick, PublishedPicks, StoredDeck
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy
from kaczmatch.service.experiments.report import ExperimentReports
from kaczmatch.service.meeting.daily_picks import DailyPicks
from kaczmatch.service.meeting.profiles import columns_of, profile_of
from kaczmatch.service.operations.picks_job import GivenPicks, PicksJob
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town


def made(town: Town, k: int = 3, rule: str = "top") -> tuple[PickMarket, AssignedPicks]:
    return picks(PicksJob(town.context).columns(), k, assignment(rule), runner=LocalRunner(1))


def publish(town: Town, k: int = 3, rule: str = "top") -> int:
    return PicksJob(town.context).publish(GivenPicks(*made(town, k, rule)), rule)


def shown(town: Town, user: str) -> list[str]:
    return [card.person.id for card in DailyPicks(town.context, town.decks).of(user).cards]


def deck_of(town: Town, user: str) -> str:
    deck = DailyPicks(town.context, town.decks).of(user).deck
    assert deck is not None
    return deck.id


def test_picks_pass_every_filter_and_leave_out_what_decks_leave_out(town: Town) -> None:
    town.couples(8)
    town.people.pause("m0", True).result()
    town.safety.block("w1", "m1").result()
    town.swipe("w2", "m2", "like")
    town.swipe("m2", "w2", "like")
    town.swipe("w3", "m3", "pass")
    town.swipe("w4", "m4", "skip")
    town.wait(days=20)
    town.swipe("w5", "m5", "skip")
    given = dict(GivenPicks(*made(town, 10)))
    pairs = {(user, other) for user, cards in given.items() for other, _ in cards}
    with town.context.store.read() as reader:
        people = {one.id: one for one in reader.find(Person)}
        vocabulary = town.context.catalogue.vocabulary(reader, 1)
    for user, other in pairs:
        profile = profile_of(people[user], vocabulary, town.context.config.schema)
        columns = columns_of([people[other]], town.context.config.schema)
        assert passes_all_filters(profile, columns, town.now.date()).all()
    assert "m0" not in {other for _, other in pairs}
    for apart in (("w1", "m1"), ("w2", "m2"), ("w3", "m3"), ("w5", "m5")):
        assert apart not in pairs
        assert apart[::-1] not in pairs
    assert ("w4", "m4") in pairs  # a skip is no answer, and its cooldown is over


def test_who_was_passed_is_picked_again_where_repeats_are_allowed_and_the_cooldown_is_over() -> None:
    town = Town(MemoryStore(), repeats=True)
    town.couples(2)
    town.swipe("w0", "m0", "pass")
    assert "m0" not in dict(dict(GivenPicks(*made(town)))["w0"])
    town.wait(days=20)
    assert "m0" in dict(dict(GivenPicks(*made(town)))["w0"])


def test_picks_are_shown_with_reasons_by_the_viewers_own_liking_and_without_probabilities(town: Town) -> None:
    town.couples(6)
    for other in ("m1", "m2"):
        town.swipe("w0", other, "like")
    publish(town, 4)
    cards = DailyPicks(town.context, town.decks).of("w0").cards
    assert len(cards) == 4
    assert {card.how_dealt for card in cards} == {"picked"}
    assert all(card.reason.text for card in cards)
    with town.context.store.read() as reader:
        stored = sorted(reader.find(Pick, user="w0"), key=lambda pick: pick.place)
    assert [card.person.id for card in cards] == [pick.candidate for pick in stored]
    logged = town.cards(user="w0", id=deck_of(town, "w0"))
    assert [card.propensity for card in logged] == [None] * 4
    assert shown(town, "w0") == [card.person.id for card in cards]  # a reload opens no second deck
    assert len([deck for deck in town.find(StoredDeck) if deck.policy == "picked"]) == 1


def test_a_swipe_on_a_pick_is_an_ordinary_swipe_and_the_card_is_gone(town: Town) -> None:
    town.couples(4)
    publish(town)
    first = shown(town, "w0")[0]
    town.swipe("w0", first, "like", deck=deck_of(town, "w0"))
    assert first not in shown(town, "w0")
    town.swipe(first, "w0", "like", deck=deck_of(town, first))
    assert town.find(MatchSide, user=first)


def test_the_other_deck_stays_open_beside_the_picks(town: Town) -> None:
    town.couples(8)
    hand = town.deck("w0")
    publish(town)
    assert shown(town, "w0")
    assert town.deck("w0").deck == hand.deck


@pytest.mark.parametrize("how", ["erased", "paused", "blocked", "blocks"])
def test_who_is_gone_is_in_nobodys_picks_a_moment_later(town: Town, how: str) -> None:
    town.couples(4)
    publish(town)
    before = shown(town, "w0")
    gone = before[0]
    if how == "erased":
        town.erasing.erase(gone)
    elif how == "paused":
        town.people.pause(gone, True).result()
    else:
        town.safety.block(*(("w0", gone) if how == "blocked" else (gone, "w0"))).result()
    assert shown(town, "w0") == before[1:]
    if how == "erased":
        assert town.find(Pick, candidate=gone) == town.find(Pick, user=gone) == []
        assert all(gone not in shown(town, f"w{place}") for place in range(4))


def test_who_is_erased_while_picks_are_published_stays_erased(town: Town) -> None:
    town.couples(3)
    given = GivenPicks(*made(town))
    town.erasing.erase("m1")
    PicksJob(town.context).publish(given, "top")
    assert town.find(Pick, candidate="m1") == town.find(Pick, user="m1") == []
    assert shown(town, "w0")


def test_a_new_edition_takes_the_place_of_the_old_one_and_the_app_is_told(town: Town) -> None:
    town.couples(4)
    assert publish(town) == 1
    first = shown(town, "w0")
    for other in first:
        town.swipe("w0", other, "pass", deck=deck_of(town, "w0"))
    town.wait(days=1)
    assert publish(town, rule="fair") == 2
    assert set(first).isdisjoint(shown(town, "w0"))
    assert {pick.edition for pick in town.find(Pick)} == {2}
    told = [one for one in town.find(OutboxMessage) if one.topic == "picks.published"]
    assert len(told) == 2
    assert '"edition": 2' in told[-1].body


def test_without_an_edition_or_with_an_old_one_nobody_is_picked(town: Town) -> None:
    town.couples(2)
    daily = DailyPicks(town.context, town.decks)
    assert daily.of("w0").empty_code == "no-picks"
    publish(town)
    assert daily.of("w0").cards
    town.wait(days=2)
    assert daily.of("w0").empty_code == "no-picks"
    with pytest.raises(NotFound):
        daily.of("nobody")
    town.people.pause("w0", True).result()
    with pytest.raises(Conflict, match="paused"):
        daily.of("w0")


def test_an_edition_that_was_interrupted_is_not_shown_and_goes_with_the_next(town: Town) -> None:
    town.couples(4)
    publish(town)
    before = shown(town, "w0")
    job, writes = PicksJob(town.context), 0
    store = town.context.store

    class Interrupted:
        read = staticmethod(store.read)

        def write(self, *given: object, **options: object) -> object:
            nonlocal writes
            writes += 1
            if writes == 3:
                raise KeyboardInterrupt
            return store.write(*given, **options)  # type: ignore[arg-type]

    broken = PicksJob(replace(town.context, store=Interrupted()))  # type: ignore[arg-type]
    given = GivenPicks(*made(town))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kaczmatch.service.operations.picks_job._USERS", 1)
        with pytest.raises(KeyboardInterrupt):
            broken.publish(given, "top")
    assert {pick.edition for pick in town.find(Pick)} == {1, 2}
    assert shown(town, "w0") == before
    with pytest.raises(Conflict, match="another process"):
        job.publish(given, "top")
    town.wait(minutes=2)
    assert job.publish(given, "top") == 3
    assert {pick.edition for pick in town.find(Pick)} == {3}


def test_the_service_publishes_once_a_day_from_its_hour_on(town: Town) -> None:
    town.couples(3)
    town.wait(hours=(24 - town.now.hour) % 24)
    job = PicksJob(town.context)

    def make() -> int:
        return job.make(2, assignment("stable"))

    assert job.run_if_due(6, make) is None
    town.wait(hours=6)
    assert job.run_if_due(6, make) == 1
    assert job.run_if_due(6, make) is None
    town.wait(hours=12)
    assert job.run_if_due(6, make) is None
    town.wait(hours=12)
    assert job.run_if_due(6, make) == 2
    assert [one.assignment for one in town.find(PublishedPicks)] == ["stable"]


def test_picks_are_left_out_of_off_policy_estimates(town: Town) -> None:
    town.couples(6)
    publish(town)
    for user in ("w0", "w1"):
        for other in shown(town, user):
            town.swipe(user, other, "like", deck=deck_of(town, user))
    hand = town.deck("w2")
    assert hand.deck is not None
    town.swipe("w2", hand.cards[0].person.id, "pass", deck=hand.deck.id)
    town.wait(hours=2)
    logged = OffPolicyEvaluation(town.context).logged_cards(TargetPolicy(MutualPolicy()), town.rng)
    assert len(logged.min_propensity) == 1
    assert logged.not_drawn == 6


def test_a_policy_mixes_picks_into_decks_and_the_rest_is_drawn_without_them() -> None:
    policy = MutualPolicy(pick_share=0.5)
    town = Town(MemoryStore(), policy=policy)
    town.couples(8)
    assert all(card.impression.propensity for card in town.deck("w1").cards)  # nothing is published yet
    publish(town, 3)
    picked = [pick.candidate for pick in sorted(town.find(Pick, user="w0"), key=lambda pick: pick.place)]
    hand = town.deck("w0")
    assert hand.deck is not None
    assert [card.person.id for card in hand.cards[:2]] == picked[:2]
    assert [card.impression.propensity is None for card in hand.cards] == [True, True, False, False]
    assert len({card.person.id for card in hand.cards}) == 4
    for card in hand.cards:
        town.swipe("w0", card.person.id, "like", deck=hand.deck.id)
    town.wait(hours=2)
    logged = OffPolicyEvaluation(town.context).logged_cards(TargetPolicy(policy), town.rng)
    assert logged.not_drawn == 2
    assert sorted(logged.size.tolist()) == [2.0, 4.0]
    assert logged.weight == pytest.approx(1.0, abs=0.5)  # the same policy as was in use, dealt a few times


def test_an_experiment_judges_picks_as_an_arm() -> None:
    """Only that arm's decks have cards that were not drawn, and the outcomes of both arms are counted."""
    arms = (Arm("draws", MutualPolicy()), Arm("picks", MutualPolicy(pick_share=0.5)))
    town = Town(MemoryStore(), experiment=Experiment(name="trial", arms=arms, salt="s", window=timedelta(days=4)))
    town.couples(12)
    publish(town, 3)
    not_drawn: dict[str, set[int]] = {"draws": set(), "picks": set()}
    for user in (f"w{place}" for place in range(12)):
        hand = town.deck(user)
        assert hand.deck is not None
        not_drawn[hand.deck.arm].add(sum(card.impression.propensity is None for card in hand.cards))
        for card in hand.cards:
            town.swipe(user, card.person.id, "like", deck=hand.deck.id)
    assert not_drawn == {"draws": {0}, "picks": {2}}
    town.wait(days=7)
    report = ExperimentReports(town.context).report()
    assert {arm.name: arm.decks > 0 for arm in report.arms} == {"draws": True, "picks": True}
    assert sum(arm.units for arm in report.arms) == 12


def test_a_market_with_one_side_has_picks_too(town: Town) -> None:
    for place in range(6):
        town.move_in(f"n{place}", i_am=frozenset(["non-binary"]), i_look_for=frozenset(["non-binary"]))
    for rule in ("top", "stable", "fair"):
        town.wait(hours=1)
        publish(town, 2, rule)
        assert len(shown(town, "n0")) == 2
