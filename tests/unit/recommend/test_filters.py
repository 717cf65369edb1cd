"""Hard filters against a brute-force oracle, in both directions."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.recommend.people.filters import FilterColumns, all_filters, passes_all_filters
from kaczmatch.recommend.people.location import NO_LIMIT, NOWHERE, NOWHERE_ELSE, Location, max_squared_chord
from kaczmatch.recommend.people.profile import Profile, age_on
from kaczmatch.recommend.people.schema import DATING, MENTORING, Schema

TODAY = date(2026, 11, 15)


def person(identifier: int = 0, **changes: Any) -> Profile:
    settings: dict[str, Any] = {
        "id": identifier,
        "i_am": {"woman"},
        "i_look_for": {"woman"},
        "born": date(1990, 5, 4),
        "features": np.ones(2),
    }
    return Profile(**settings | changes)


def kilometres(one: Location, other: Location) -> float:
    """The great circle between two places, by the spherical law of cosines' stable form, away from the code under test."""
    a, b = np.radians([one.latitude, one.longitude]), np.radians([other.latitude, other.longitude])
    u, v = ([math.cos(x) * math.cos(y), math.cos(x) * math.sin(y), math.sin(x)] for x, y in (a, b))
    return 2.0 * 6371.0088 * math.asin(min(1.0, math.dist(u, v) / 2.0))


kinds = st.sets(st.sampled_from(DATING.kinds), min_size=1)
places = st.one_of(st.none(), st.builds(Location.from_coordinates, st.floats(50.0, 51.0), st.floats(8.0, 9.0)))


AGES_OPTIONAL = Schema(DATING.kinds, age_required=False)


@st.composite
def people(draw: Any, identifier: int = 0, schema: Schema = DATING) -> Profile:
    place = draw(places)
    youngest = draw(st.integers(0, 60))
    return person(
        identifier,
        i_am=draw(kinds),
        i_look_for=draw(kinds),
        born=draw(st.one_of(st.none(), st.dates(date(1950, 1, 1), date(2012, 1, 1)))),
        schema=schema,
        ages=(youngest, draw(st.integers(youngest, 100))),
        location=place,
        within_km=math.inf if place is None else draw(st.sampled_from([math.inf, 1.0, 20.0, 60.0])),
    )


def may_meet(a: Profile, b: Profile) -> bool:
    """One pair, in plain words."""
    ages = [None if one.born is None else age_on(one.born, TODAY) for one in (a, b)]
    if a.id == b.id or any(a.schema.age_required if age is None else age < a.schema.minimum_age for age in ages):
        return False
    for one, other, age in ((a, b, ages[1]), (b, a, ages[0])):
        if not one.i_look_for & other.i_am or not (age is None or one.ages[0] <= age <= one.ages[1]):
            return False
        if one.within_km < math.inf:
            if one.location is None or other.location is None:
                return False
            if kilometres(one.location, other.location) > one.within_km:
                return False
    return True


@given(st.sampled_from([DATING, AGES_OPTIONAL]), st.data())
def test_the_filters_are_the_oracle_and_symmetric(schema: Schema, data: st.DataObject) -> None:
    viewer = data.draw(people(0, schema))
    others = data.draw(st.lists(st.integers(1, 9).flatmap(lambda number: people(number, schema)), max_size=12))
    found = passes_all_filters(viewer, FilterColumns.from_profiles(others, schema), TODAY)
    assert found.tolist() == [may_meet(viewer, other) for other in others]
    for other, passes in zip(others, found, strict=True):
        assert passes_all_filters(other, FilterColumns.from_profiles([viewer], schema), TODAY)[0] == passes


def test_each_filter_is_told_apart() -> None:
    others = {
        "self": person(0),
        "blocked": person(1),
        "minimum age": person(2, born=TODAY - timedelta(days=17 * 365)),
        "looks for": person(3, i_look_for={"man"}),
        "age": person(4, ages=(40, 50)),
        "distance": person(5, location=Location.from_coordinates(10, 10), within_km=5.0),
    }
    viewer = person(0, location=Location.from_coordinates(50, 8))
    found = all_filters(viewer, FilterColumns.from_profiles(list(others.values()), DATING), TODAY, blocked={1})
    for place, name in enumerate(others):
        assert [other for other in others if not found[other][place]] == [name]


def test_nobody_is_shown_before_their_birthday() -> None:
    for born, day, old in (
        (date(2008, 11, 15), TODAY, True),
        (date(2008, 11, 16), TODAY, False),
        (date(2008, 2, 29), date(2026, 2, 28), False),
        (date(2008, 2, 29), date(2026, 3, 1), True),
        (date(2008, 2, 29), date(2028, 2, 29), True),
    ):
        young = person(1, born=born)
        assert young.old_enough(day) is old
        assert bool(passes_all_filters(person(0), FilterColumns.from_profiles([young], DATING), day)[0]) is old


@given(st.dates(date(1900, 1, 1), date(2026, 1, 1)), st.dates(date(2026, 1, 1), date(2040, 1, 1)))
def test_ages_of_many_are_the_age_of_each(born: date, day: date) -> None:
    one = person(1, born=born, ages=(0, 150))
    viewer = person(0, born=date(1980, 1, 1), ages=(age_on(born, day), age_on(born, day)))
    assert all_filters(viewer, FilterColumns.from_profiles([one], DATING), day)["age"][0]


def test_mentoring_is_just_another_schema() -> None:
    mentor = person(0, schema=MENTORING, i_am={"mentor"}, i_look_for={"mentee"})
    mentee = person(1, schema=MENTORING, i_am={"mentee"}, i_look_for={"mentor"}, born=date(2010, 1, 1))
    both = person(2, schema=MENTORING, i_am={"mentor", "mentee"}, i_look_for={"mentor"})
    assert passes_all_filters(mentor, FilterColumns.from_profiles([mentor, mentee, both], MENTORING), TODAY).tolist() == [
        False,
        True,
        True,
    ]
    with pytest.raises(InvalidInput, match="schema"):
        all_filters(mentor, FilterColumns.from_profiles([person(1)], DATING), TODAY)
    with pytest.raises(InvalidInput, match="schema: 1 belongs to another schema"):
        FilterColumns.from_profiles([mentee], DATING)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"i_am": {"womn"}}, "i_am", "did you mean 'woman'"),
        ({"i_look_for": set()}, "i_look_for", "at least one"),
        ({"i_am": "woman"}, "i_am", "a set of kinds"),
        ({"born": "1990-01-01"}, "born", "must be a date"),
        ({"ages": (40, 30)}, "ages", "from the younger to the older"),
        ({"ages": (-1, 30)}, "ages", "whole number"),
        ({"ages": 30}, "ages", "youngest and the oldest"),
        ({"ages": (1, 2, 3)}, "ages", "youngest and the oldest"),
        ({"location": (1.0, 2.0)}, "location", "Location.from_coordinates"),
        ({"identifier": None}, "id", "must be given"),
        ({"within_km": 10.0}, "location", "is needed"),
        ({"within_km": -1.0}, "within_km", "at least 0"),
        ({"features": [np.nan]}, "features", "finite"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(changes: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        person(**changes)
    assert caught.value.field == field


def test_whom_kinds_look_for_and_how_many_they_take() -> None:
    schema = Schema(
        ("mentor", "mentee", "coach"),
        looks_for={"mentor": frozenset({"mentee"}), "mentee": frozenset({"mentor", "coach"})},
        capacity={"mentor": 3, "coach": 5},
    )
    assert schema.usually_looks_for({"mentor", "mentee"}) == {"mentor", "mentee", "coach"}
    assert schema.usually_looks_for({"coach"}) == frozenset()
    assert [schema.usual_capacity(kinds) for kinds in ({"mentor", "coach"}, {"coach", "mentee"}, {"mentee"})] == [3, 5, None]
    for bad, field in (
        ({"looks_for": {"mentr": frozenset({"mentee"})}}, "looks_for"),
        ({"looks_for": {"mentor": frozenset({"mente"})}}, "looks_for"),
        ({"looks_for": {"mentor": frozenset[str]()}}, "looks_for"),
        ({"capacity": {"mente": 1}}, "capacity"),
        ({"capacity": {"mentee": 0}}, "capacity"),
    ):
        with pytest.raises(InvalidInput) as caught:
            Schema(("mentor", "mentee"), **bad)
        assert caught.value.field == field


def test_schemas_have_up_to_thirty_two_kinds() -> None:
    assert Schema(tuple(map(str, range(32)))).mask({"31"}, "i_am") == 2**31
    for bad in ((), ("a", "a"), tuple(map(str, range(33)))):
        with pytest.raises(InvalidInput, match="kinds"):
            Schema(bad)


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_a_place_is_known_to_a_grid_cell_only(latitude: float, longitude: float) -> None:
    cell = Location.from_coordinates(latitude, longitude)
    assert Location.from_coordinates(cell.latitude, cell.longitude) == cell
    assert abs(cell.latitude - latitude) <= 0.0500001
    assert min(abs(cell.longitude - longitude), 360 - abs(cell.longitude - longitude)) <= 0.0500001


@given(*[st.floats(-90, 90), st.floats(-180, 180)] * 2, st.floats(0.0, 25_000.0))
def test_near_means_within_the_great_circle(a: float, b: float, c: float, e: float, within: float) -> None:
    here, there = Location.from_coordinates(a, b), Location.from_coordinates(c, e)
    away = kilometres(here, there)
    chord = sum((a - b) ** 2 for a, b in zip(here.point, there.point, strict=True))
    if abs(away - within) > 0.01 + 1e-3 * within:  # float32: a metre where it matters, more at the other side of the world
        assert (chord <= max_squared_chord(within)) == (away < within)
    assert (chord == 0.0) == (here == there)


def test_nowhere_is_near_only_without_a_limit() -> None:
    for one, other in ((NOWHERE, NOWHERE_ELSE), (NOWHERE, Location.from_coordinates(1.0, 2.0).point)):
        chord = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        assert max_squared_chord(20_015.0) < chord < NO_LIMIT == max_squared_chord(math.inf)


@pytest.mark.parametrize("bad", [(91.0, 0.0), (0.0, float("nan"))])
def test_a_place_off_the_globe_is_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="itude"):
        Location.from_coordinates(*bad)
