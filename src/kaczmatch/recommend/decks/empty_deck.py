"""Why a deck is empty, and what the viewer could do about it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from kaczmatch.recommend.decks.deck import FilterHint
from kaczmatch.recommend.decks.eligible import EligiblePeople
from kaczmatch.recommend.people.profile import MAX_AGE


def explain_empty(eligible: EligiblePeople) -> tuple[str, str, tuple[FilterHint, ...]]:
    """A code, the reason, and how many people each of the viewer's own filters costs; all together if none alone helps.

    The text never depends on who blocked whom.
    """
    profile = eligible.profile
    if not profile.old_enough(eligible.day):
        if profile.born is None:
            return "no-age", "one must say when one was born", ()
        return "too-young", f"one must be {profile.schema.minimum_age} to take part", ()
    if not len(eligible.view) or eligible.view.ids(eligible.view.all_numbers()) == [profile.id]:
        return "nobody-here", "there is nobody else here yet", ()
    wider: dict[str, dict[str, Any]] = {
        "looks for": {"i_look_for": frozenset(profile.schema.kinds)},
        "age": {"ages": (0, MAX_AGE)},
        "distance": {"within_km": math.inf},
    }

    def people(change: dict[str, Any]) -> int:
        return len(eligible.everybody_for(replace(profile, **change)))

    kinds = sorted(profile.schema.kinds)
    widened: dict[str, dict[str, Any]] = {
        "looks for": {"i_look_for": kinds},
        "age": {"youngest": None, "oldest": None},
        "distance": {"within_km": None},
    }
    single = [FilterHint(name, people(change), widened[name]) for name, change in wider.items()]
    helpful = sorted((hint for hint in single if hint.people), key=lambda hint: -hint.people)
    answered = eligible.everybody_was_answered()
    code, why = (
        ("all-answered", "everybody who fits has been answered") if answered else ("nobody-fits", "nobody passes the filters")
    )
    if helpful:
        return code, f"{why}; widening {helpful[0].filter!r} would help most", tuple(helpful)
    together = people({name: value for change in wider.values() for name, value in change.items()})
    if together:
        return (
            code,
            f"{why}; only widening several of them would help",
            (FilterHint("several", together, {field: value for change in widened.values() for field, value in change.items()}),),
        )
    return code, why if answered else "nobody is left who fits and looks for somebody like you", ()
