"""What invented people decided before the demo began, so that there are admirers, appeal and matches from the start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from kaczmatch.app.demo.population import Invented
from kaczmatch.recommend.filters import Candidates, allowed
from kaczmatch.recommend.location import Location
from kaczmatch.recommend.profile import Profile
from kaczmatch.recommend.schema import Schema
from kaczmatch.service.people import About
from kaczmatch.service.swiping import Swipe

_ACTIVE = 0.4  # share of people who swiped
_EACH = 24


def past(invented: Invented, seed: int, now: datetime, schema: Schema) -> Iterator[tuple[Swipe, datetime]]:
    """Swipes by their hidden tastes on people they could meet, long enough ago that nobody's cooldown hides anybody."""
    rng = np.random.default_rng([seed, 1])
    ids = list(invented.people)
    profiles = [profile(identifier, about, schema) for identifier, about in invented.people.items()]
    candidates = Candidates.of(profiles, schema)
    day = now.astimezone(UTC).date()
    for row in np.flatnonzero(rng.random(len(ids)) < _ACTIVE).tolist():
        fitting = np.flatnonzero(allowed(profiles[row], candidates, day))
        fitting = fitting[fitting != row]
        chosen = rng.permutation(fitting)[:_EACH]
        odds = 1.0 / (1.0 + np.exp(-invented.likes(row, invented.tags[chosen])))
        began = now - timedelta(days=float(rng.uniform(30, 60)))
        for place, (other, liked) in enumerate(zip(chosen.tolist(), (rng.random(len(chosen)) < odds).tolist(), strict=True)):
            decision = "like" if liked else "pass"
            swipe = Swipe(user=ids[row], id=f"past-{place}", candidate=ids[other], decision=decision, deck="")
            yield swipe, began + timedelta(seconds=7 * place)


def profile(identifier: str, about: About, schema: Schema) -> Profile:
    """As the filters see somebody; their tags do not matter there."""
    located = about.latitude is not None and about.longitude is not None
    return Profile(
        id=identifier,
        i_am=about.i_am,
        i_look_for=about.i_look_for,
        born=about.born,
        features=np.zeros(1),
        ages=(about.youngest, about.oldest),
        location=Location.snapped(about.latitude or 0.0, about.longitude or 0.0) if located else None,
        within_km=float("inf") if about.within_km is None else about.within_km,
        schema=schema,
    )
