"""The index as a test asks it, and who should be found by the filters themselves."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns, all_pass, profile_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING

TODAY = date(2026, 11, 15)
FILTERED = ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord")


def everybody(index: CandidateIndex, viewer: Profile, day: date = TODAY) -> list[Any]:
    with index.reading() as view:
        return sorted(view.ids(view.everybody(view.search_filter(viewer, day))))


def oracle(profiles: dict[Any, Profile], viewer: Profile, day: date = TODAY) -> list[Any]:
    others = list(profiles.values())
    passes = all_pass(profile_filters(viewer, FilterColumns.from_profiles(others, DATING), day))
    return sorted(other.id for other, ok in zip(others, passes, strict=True) if ok)


def learned_first(index: CandidateIndex) -> set[Any]:
    """Who is told to have learned something: the first rows of chunks, and nobody behind them."""
    table, found = index._table, set[Any]()
    for chunk in np.flatnonzero(table.used).tolist():
        flags, number = table.columns.learned[chunk, : table.used[chunk]], int(table.bounds.learned[chunk])
        assert flags[:number].all()
        assert not flags[number:].any()
        found |= {*index.ids_of(table.columns.person[chunk, :number])}
    return found
