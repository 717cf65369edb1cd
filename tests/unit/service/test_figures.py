"""The whole in figures, against sums done by hand."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from kaczmatch.service.domain.records import StoredState
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations import overview as figures
from kaczmatch.service.operations.overview import overview
from worlds.clock import NOON
from worlds.town import Town


def imported(town: Town, user: str, candidate: str, id: str, decision: str = "like") -> None:
    swipe = Swipe(user=user, id=id, candidate=candidate, decision=decision, deck="")
    town.swiping.import_swipe(swipe, town.now).result()


def test_where_nothing_has_happened_rates_are_unknown(town: Town) -> None:
    town.couples(2)
    told = overview(town.context)
    assert (told.people, told.paused, told.matches, told.open_reports) == (4, 0, 0, 0)
    assert told.like_rate is told.match_rate is told.exposure_gini is told.exposure_top is None
    assert (told.policies, told.stability, told.conditions, told.lorenz, told.like_everybody) == ((), (), (), (), ())
    assert len(told.minutes) == 61
    assert all((one.swipes, one.likes, one.decks) == (0, 0, 0) for one in told.minutes)


def test_rates_are_of_decisions_made_here_within_the_hour(town: Town) -> None:
    town.couples(4)
    town.swipe("w3", "m3")
    town.wait(hours=1, seconds=1)
    town.swipe("m3", "w3")  # a match
    town.swipe("w0", "m0")
    town.swipe("w0", "m1", "pass")
    town.swipe("w0", "m2", "skip")
    imported(town, "w1", "m1", "from-elsewhere")
    told = overview(town.context)
    assert told.like_rate == pytest.approx(2 / 3)
    assert told.match_rate == pytest.approx(1 / 2)
    assert told.matches == 1
    assert sum(one.swipes for one in told.minutes) == 3
    assert sum(one.likes for one in told.minutes) == 2


def test_a_minute_counts_what_happened_in_it(town: Town) -> None:
    town.couples(3)
    town.wait(minutes=10)
    town.swipe("w0", "m0")
    town.swipe("w0", "m1")
    town.wait(minutes=5)
    town.swipe("w1", "m1", "pass")
    found = {one.at: (one.swipes, one.likes, one.decks) for one in overview(town.context).minutes if one.swipes or one.decks}
    assert found == {NOON + timedelta(minutes=10): (2, 2, 1), NOON + timedelta(minutes=15): (1, 0, 1)}


def test_where_there_are_too_many_decks_the_newest_are_looked_at(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_MOST", 2)
    town.couples(4)
    for user in ("w0", "w1", "w2", "w3"):
        town.deck(user)
        town.wait(minutes=1)
    told = [one.at for one in overview(town.context).minutes if one.decks]
    assert told == [NOON + timedelta(minutes=2), NOON + timedelta(minutes=3)]


def test_policies_say_what_decided_every_deck(town: Town) -> None:
    town.couples(4)
    for user in ("w0", "w1", "m0"):
        town.deck(user)
    told = overview(town.context).policies
    assert sum(use.decks for use in told) == 3
    assert all(use.policy and use.sampler and use.reason for use in told)


def test_the_lorenz_curve_and_gini_agree(town: Town) -> None:
    """Gini is one minus twice the area under the curve; the curve is exact where ten people share a hundred parts."""
    town.couples(5)
    for user, size in (("w0", 1), ("w1", 3), ("w2", 5), ("m0", 2)):
        town.deck(user, size)
    told = overview(town.context)
    assert (told.lorenz[0], told.lorenz[-1]) == (0.0, 1.0)
    assert told.exposure_gini == pytest.approx(1.0 - 2.0 * np.trapezoid(told.lorenz, dx=0.01), abs=1e-3)
    assert all(np.diff(told.lorenz, 2) >= -2e-4)  # convex, up to rounding
    assert told.sample.cards == 11
    assert told.exposure_top == pytest.approx((1.0 - told.lorenz[-11]), abs=1e-3)  # of ten people, one at least


def test_kappa_of_people_who_were_shown_the_same_again_and_again(town: Town) -> None:
    """Eight times the same tag: AAᵀ is eight by eight ones, so κ of AAᵀ + I is 9, and without I there is none."""
    town.move_in("ann")
    town.move_in("bob", man=True, tags=["chess"])
    for place in range(7):
        imported(town, "ann", "bob", f"s{place}", "pass")
    assert overview(town.context).conditions == ()  # too few to say
    imported(town, "ann", "bob", "s7", "pass")
    told = overview(town.context)
    assert told.conditions == (9.0,)
    assert (told.singular, told.sample.people) == (1, 1)


def test_stability_is_the_cosine_of_what_was_known_after_two_sessions(town: Town) -> None:
    town.couples(6)
    directions = []
    for session in range(2):
        for place in range(4):
            imported(town, "w0", f"m{place + 2 * session}", f"s{session}-{place}", "like" if place % 2 else "pass")
        town.swiping.end_session("w0").result()
        with town.context.store.read() as reader:
            current = town.context.catalogue.current(reader)
            fold = town.context.catalogue.fold(reader, current.model)
            directions.append(fold.learner.direction(fold.decode(reader.get(StoredState, current.model, "w0")).state))
        town.wait(hours=1)
    assert overview(town.context).stability == (pytest.approx(float(directions[0] @ directions[1]), abs=1e-3),)


def test_whoever_likes_nearly_everybody_is_named_while_they_do(town: Town) -> None:
    town.couples(2)
    for user, passes in (("w0", 0), ("w1", 20)):
        for place in range(99):
            imported(town, user, "m0", f"old-{place}", "pass" if place < passes else "like")
    assert overview(town.context).like_everybody == ()  # not here
    town.swipe("w0", "m1")
    town.swipe("w1", "m1")
    (found,) = overview(town.context).like_everybody
    assert (found.user, found.swipes, found.likes) == ("w0", 100, 100)
    town.wait(hours=2)
    assert overview(town.context).like_everybody == ()
