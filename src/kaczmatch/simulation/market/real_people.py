"""People drawn from a file of real profiles: sex, orientation, age and 0/1 tags, a row each."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.simulation.market.town import DAY
from kaczmatch.simulation.population import Rng

_ABOUT: Final = ("person_id", "sex", "orientation", "age", "status")
_YOUNGEST: Final = 18


def draw_people(path: Path, people: int, rng: Rng) -> tuple[list[str], list[Profile]]:
    """The names of the tags, and so many adults; birthdays and the ages they look for are made up."""
    import polars as pl  # the lab draws invented people, and the service alone does without it

    if not path.is_file():
        raise InvalidInput("people", f"there is no file {path}")
    table = pl.read_csv(path)
    missing = [name for name in ("sex", "orientation", "age") if name not in table.columns]
    if missing:
        raise InvalidInput("people", f"{path} has no column {missing[0]!r}")
    adults = table.filter(pl.col("age") >= _YOUNGEST)
    if len(adults) < people:
        raise InvalidInput("people", f"{path} has {len(adults)} adults, fewer than {people}")
    some = adults[np.sort(rng.choice(len(adults), people, replace=False)).tolist()]
    names = [name for name in some.columns if name not in _ABOUT]
    tags = some.select(names).to_numpy().astype(np.float64)
    days, wider = rng.integers(0, 365, people), rng.integers(3, 13, (2, people))
    profiles = []
    for place, (sex, orientation, age) in enumerate(some.select("sex", "orientation", "age").iter_rows()):
        own, other = ("man", "woman") if sex == "m" else ("woman", "man")
        looks_for = {"straight": {other}, "gay": {own}}.get(orientation, {"man", "woman"})
        profiles.append(
            Profile(
                id=place,
                i_am=frozenset({own}),
                i_look_for=frozenset(looks_for),
                born=DAY.replace(year=DAY.year - age) - timedelta(days=int(days[place])),
                features=tags[place],
                ages=(max(_YOUNGEST, int(age - wider[0, place])), int(age + wider[1, place])),
            )
        )
    return names, profiles
