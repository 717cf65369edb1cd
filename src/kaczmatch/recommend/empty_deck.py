"""Why a deck is empty, and what the viewer could do about it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from kaczmatch.recommend.deck import FilterHint
from kaczmatch.recommend.eligible import Eligible
from kaczmatch.recommend.profile import OLDEST


def explain_empty(who: Eligible) -> tuple[str, tuple[FilterHint, ...]]:
    """The reason, and what each of the viewer's own filters costs; all of them together if none alone helps.

    Whether somebody is blocked, or blocked the viewer, makes no difference to the words.
    """
    profile = who.profile
    if not profile.old_enough(who.day):
        return f"one must be {profile.schema.minimum_age} to take part", ()
    if not len(who.view) or who.view.ids(who.view.all()) == [profile.id]:
        return "there is nobody else here yet", ()
    wider: dict[str, dict[str, Any]] = {
        "looks for": {"i_look_for": frozenset(profile.schema.kinds)},
        "age": {"ages": (0, OLDEST)},
        "distance": {"within_km": math.inf},
    }

    def people(change: dict[str, Any]) -> int:
        return len(who.everybody_with(replace(profile, **change)))

    single = [FilterHint(name, people(change)) for name, change in wider.items()]
    helpful = sorted((one for one in single if one.people), key=lambda one: -one.people)
    if helpful:
        return f"nobody passes the filters; widening {helpful[0].filter!r} would help most", tuple(helpful)
    together = people({name: value for change in wider.values() for name, value in change.items()})
    if together:
        return "nobody passes the filters; only widening several of them would help", (FilterHint("several", together),)
    return "nobody is left who fits and looks for somebody like you", ()
