"""What invented people did before the demo began: admirers, matches, finished sessions and reports are there from the start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from kaczmatch.app.demo.population import DemoPopulation
from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.profile import MAX_AGE, Profile
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.meeting.swipes import Swipe

_ACTIVE = 0.4  # share of people who swiped
_SESSIONS, _SWIPES = 3, 8  # of each of them, a session a day
_COMPLAINTS = (("spam", "Sends the same message to everybody."), ("rude", "Was unkind when I said no."), ("fake", ""))


def past_swipes(invented: DemoPopulation, seed: int, now: datetime, schema: Schema) -> Iterator[tuple[Swipe, datetime]]:
    """Swipes by their hidden tastes on people they could meet, long enough ago that nobody's cooldown hides anybody."""
    rng = np.random.default_rng([seed, 1])
    ids = list(invented.people)
    profiles = [profile(identifier, about, schema) for identifier, about in invented.people.items()]
    candidates = FilterColumns.from_profiles(profiles, schema)
    day = now.astimezone(UTC).date()
    for row in np.flatnonzero(rng.random(len(ids)) < _ACTIVE).tolist():
        fitting = np.flatnonzero(passes_all_filters(profiles[row], candidates, day))
        fitting = fitting[fitting != row]
        chosen = rng.permutation(fitting)[: _SESSIONS * _SWIPES]
        odds = 1.0 / (1.0 + np.exp(-invented.like_log_odds(row, invented.tags[chosen])))
        began = now - timedelta(days=float(rng.uniform(30, 60)) + _SESSIONS)
        for place, (other, liked) in enumerate(zip(chosen.tolist(), (rng.random(len(chosen)) < odds).tolist(), strict=True)):
            decision = "like" if liked else "pass"
            swipe = Swipe(user=ids[row], id=f"past-{place}", candidate=ids[other], decision=decision, deck="")
            yield swipe, began + timedelta(days=place // _SWIPES, seconds=7 * (place % _SWIPES))


def past_reports(swipes: Iterable[Swipe]) -> Iterator[tuple[str, str, str, str]]:
    """Who complains about whom, why and in which words: some about somebody they passed on."""
    passed = {swipe.user: swipe.candidate for swipe in swipes if swipe.decision == "pass"}
    for (user, other), said in zip(passed.items(), _COMPLAINTS, strict=False):
        yield user, other, *said


def profile(identifier: str, about: ProfileInput, schema: Schema) -> Profile:
    """As the filters see somebody; their tags do not matter there."""
    return Profile(
        id=identifier,
        i_am=about.i_am,
        i_look_for=about.i_look_for,
        born=about.born,
        features=np.zeros(1),
        ages=(about.youngest or 0, MAX_AGE if about.oldest is None else about.oldest),
        location=None if about.location is None else Location.from_coordinates(about.location.latitude, about.location.longitude),
        within_km=float("inf") if about.within_km is None else about.within_km,
        schema=schema,
    )
