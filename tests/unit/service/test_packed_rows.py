"""Rows of an import as they go from process to process and wait to be written: nothing of them is lost."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.schemas.profiles import Coordinates, ProfileInput
from kaczmatch.service.transfer.profile_import import ProfileImport
from kaczmatch.service.transfer.rows import ProfileRow, SwipeRow
from kaczmatch.service.transfer.swipe_import import SwipeImport
from kaczmatch.storage import MemoryStore
from worlds.town import TAGS, Town

places = st.builds(Coordinates, latitude=st.floats(-90, 90), longitude=st.floats(-180, 180))
years = st.none() | st.integers(18, 60)
profiles = st.builds(
    ProfileInput,
    name=st.sampled_from(["Ada", "Bob K.", "Çelik", "李雷"]),
    born=st.dates(date(1960, 1, 1), date(2000, 1, 1)),
    i_am=st.just(frozenset(["woman"])),
    i_look_for=st.frozensets(st.sampled_from(["man", "woman", "non-binary"]), min_size=1),
    youngest=st.none() | st.just(18),
    oldest=years,
    capacity=years,
    location=places,
    within_km=st.none() | st.floats(0, 50_000),
    tags=st.frozensets(st.sampled_from(TAGS)),
    features=st.dictionaries(st.just("height"), st.floats(-10, 10).filter(lambda height: height == 0.0 or abs(height) > 1e-9)),
    data=st.dictionaries(st.text("ab", max_size=3), st.none() | st.integers() | st.lists(st.floats(0, 1), max_size=2)),
)


@given(profiles, st.none() | st.booleans())
def test_a_profile_is_written_as_if_it_had_been_put(profile: ProfileInput, paused: bool | None) -> None:
    town = Town(MemoryStore(), features=["height"])
    target = ProfileImport(town.context)
    item = pickle.loads(pickle.dumps(target.packed(ProfileRow(id="ada", profile=profile, paused=paused))))  # noqa: S301, our own
    found = target.write(item).result()
    put = town.people.put("bob", profile, paused=paused, limited=False).result()
    assert replace(found, id="bob") == put
    assert found.paused is bool(paused)


def test_a_swipe_without_an_id_gets_the_same_one_every_time() -> None:
    row = SwipeRow(user="ada", candidate="bob", decision="like", at=datetime(2026, 1, 2, 3, 4, 5, 678, UTC))
    target = SwipeImport(Town(MemoryStore()).context)
    item = target.packed(row)
    assert pickle.loads(pickle.dumps(item)) == item == target.packed(row)  # noqa: S301, our own
    assert (item.user, item.candidate, item.decision, item.at) == (row.user, row.candidate, row.decision, row.at)
    assert item.id.startswith("imported-")
    assert target.packed(row.model_copy(update={"id": "mine"})).id == "mine"
    assert target.packed(row.model_copy(update={"decision": "pass"})).id != item.id
