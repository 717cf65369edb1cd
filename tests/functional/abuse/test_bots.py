"""A bot that likes everybody, and a profile with every tag: both gain next to nothing."""

from __future__ import annotations

import math

from kaczmatch.schemas.operators import SuspiciousAccount
from kaczmatch.service.domain.appeal import appeal_to
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.storage.memory import MemoryStore
from worlds.town import TAGS, Town, about

SWIPES = 120


def appeal(town: Town, user: str) -> float:
    return appeal_to(town.standing(user), None, town.now, town.context.config.appeal)


def swiped_through(town: Town, bot: str, decision: str) -> None:
    """Everybody in turn, three times."""
    for place in range(SWIPES):
        town.wait(seconds=1)
        swipe = Swipe(user=bot, id=f"b{place}", candidate=f"w{place % 40}", decision=decision, deck="")
        town.swiping.import_swipe(swipe, town.now).result()


def crowd() -> Town:
    town = Town(MemoryStore())
    for place in range(40):
        town.people.put(f"w{place}", about(f"W{place}", tags=[TAGS[place % 6]])).result()
    town.move_in("bot", "fussy", "m0", man=True)
    return town


def test_a_bot_that_likes_everybody_moves_no_state_and_hardly_an_appeal() -> None:
    town = crowd()
    for place in range(20):
        town.swipe(f"w{place}", "m0", "like" if place % 2 else "pass")
    states = {f"w{place}": town.learned(f"w{place}") for place in range(40)}
    swiped_through(town, "bot", "like")
    assert {user: town.learned(user) for user in states} == states
    assert town.learned("m0") is None
    moved = [abs(appeal(town, user)) for user in states]
    # Only its first likes count, before it is known as somebody who likes everybody: as much as any newcomer's.
    assert max(moved) == moved[0] < 0.45
    assert max(moved[10:]) < 0.12
    assert max(moved[30:]) < 0.06


def test_a_bot_is_listed_among_the_operators_figures() -> None:
    town = crowd()
    for place in range(SWIPES):
        town.swipe_outside("bot", f"w{place % 40}", "like")
    town.swipe("fussy", "w1", "pass")
    assert OperatorActions(town.context).overview().like_everybody == (
        SuspiciousAccount(user="bot", swipes=SWIPES, likes=SWIPES),
    )


def test_stuffed_tags_buy_no_more_than_the_cap_and_no_tags_are_still_shown() -> None:
    town = Town(MemoryStore(), deck_size=4)
    for place in range(60):
        town.people.put(f"w{place}", about(f"W{place}", tags=[TAGS[place % 6], TAGS[(place + 1) % 6]])).result()
    town.people.put("stuffed", about("Stuffed", tags=TAGS)).result()
    town.people.put("empty", about("Empty", tags=())).result()
    town.move_in(*(f"m{place}" for place in range(30)), man=True, tags=TAGS[:3])
    shown: dict[str, int] = {}
    decks = 0
    for _ in range(12):
        for place in range(30):
            decks += 1
            for card in town.deck(f"m{place}").cards:
                shown[card.person.id] = shown.get(card.person.id, 0) + 1
        town.wait(hours=2)
    average = sum(shown.values()) / 62
    assert shown["stuffed"] <= town.context.config.exposure_cap * (average + 1.0) + math.sqrt(average)
    assert shown["empty"] > 0
    assert decks == 360
