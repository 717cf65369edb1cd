"""The index through changes: people come, move, change what they look for, and leave; chunks split, merge and empty."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kaczmatch import learner
from kaczmatch.recommend.index import columns
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns, all_pass, profile_filters
from kaczmatch.recommend.people.location import NOWHERE, Location, max_squared_chord
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer
from worlds.index_oracle import FILTERED, TODAY, everybody, learned_first, oracle

WHERE = ((52.5, 13.4), 40.0), ((48.1, 11.6), 450.0), (None, np.inf)


class Changes(RuleBasedStateMachine):
    """Random puts, changes and removals leave the index as a plain dictionary would be."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(0)
        self.rule = learner("tk")
        self.index = CandidateIndex(Vocabulary.of(["a", "b", "c"], ["x"]), self.rule)
        self.model: dict[Any, Profile] = {}
        self.liked: dict[Any, np.ndarray] = {}

    def somebody(self, identifier: int, data: Any) -> Profile:
        kinds = st.sets(st.sampled_from(DATING.kinds), min_size=1)
        return Profile(
            id=identifier,
            i_am=data.draw(kinds),
            i_look_for=data.draw(kinds),
            born=data.draw(st.dates(date(1980, 1, 1), date(1980, 1, 9))),  # many on one day
            features=np.append(data.draw(st.tuples(*[st.sampled_from([0.0, 1.0])] * 3)), 0.5),
        )

    @rule(data=st.data(), ids=st.lists(st.integers(0, 30), min_size=1, max_size=12))
    def put(self, data: Any, ids: list[int]) -> None:
        profiles = [self.somebody(identifier, data) for identifier in ids]
        self.index.upsert(*profiles)
        for profile in profiles:
            self.model[profile.id] = profile
            self.liked.setdefault(profile.id, np.ones(4))

    @rule(ids=st.lists(st.integers(0, 30), min_size=1, max_size=6))
    def remove(self, ids: list[int]) -> None:
        self.index.remove(*ids)
        for identifier in ids:
            self.model.pop(identifier, None)
            self.liked.pop(identifier, None)

    @rule(ids=st.lists(st.integers(0, 30), min_size=1, max_size=6), seed=st.integers(0, 99))
    def prefer(self, ids: list[int], seed: int) -> None:
        taste = np.random.default_rng(seed).normal(size=4)
        self.index.set_states({identifier: self.rule.start(taste) for identifier in ids})
        for identifier in set(ids) & self.model.keys():
            self.liked[identifier] = taste

    @rule()
    def save_and_open(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.index.save(Path(folder) / "index")
            self.index = CandidateIndex.open(Path(folder) / "index", self.rule)

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert len(self.index) == len(self.model)
        for kind in ({"woman"}, {"man", "non-binary"}, set(DATING.kinds)):
            me = Profile(id=-1, i_am={"woman"}, i_look_for=kind, born=date(1980, 1, 5), features=np.ones(4), ages=(40, 60))
            assert everybody(self.index, me) == oracle(self.model, me)
        with self.index.reading() as view:
            numbers = view.numbers(self.model)
            assert view.ids(numbers) == list(self.model)
            rows = view.rows(numbers)
            features = view.features(numbers)
        for j, identifier in enumerate(self.model):
            assert features[j].tolist() == self.model[identifier].features.tolist()
            taste = self.liked[identifier] / np.linalg.norm(self.liked[identifier])
            np.testing.assert_allclose(rows.mean[:, j] * rows.mean_scale[j], taste, atol=1 / 200)
        assert learned_first(self.index) == {one for one, taste in self.liked.items() if not np.all(taste == 1.0)}


Changes.TestCase.settings = settings(max_examples=40, stateful_step_count=20)


@pytest.mark.slow
class TestChanges(Changes.TestCase):  # type: ignore[misc,name-defined]
    pass


def test_whoever_changes_what_they_look_for_is_filtered_at_once_though_all_their_neighbours_pass() -> None:
    place = Location.from_coordinates(52.5, 13.4)
    index, base = CandidateIndex(Vocabulary.of(["a"]), learner("tk")), {"i_am": {"woman"}, "born": date(1990, 1, 1)}
    people = [Profile(id=one, i_look_for={"man"}, features=np.ones(1), location=place, **base) for one in range(20)]
    index.upsert(*people)
    me = replace(people[0], id=-1, i_am={"man"}, i_look_for={"woman"}, location=Location.from_coordinates(52.5, 13.9))
    assert everybody(index, me) == [*range(20)]
    index.upsert(
        replace(people[3], i_look_for={"woman"}),
        replace(people[7], ages=(18, 25)),
        replace(people[11], within_km=5.0),
        replace(people[15], ages=(60, 70)),
    )
    assert everybody(index, me) == [one for one in range(20) if one not in (3, 7, 11, 15)]
    index.upsert(*people)
    assert everybody(index, me) == [*range(20)]


def chunks(index: CandidateIndex, viewer: Profile) -> int:
    """How many a query for everybody reads."""
    with index.reading() as view:
        return len(view.search_filter(replace(viewer, ages=(0, 150)), TODAY).chunks)


def test_chunks_split_merge_and_empty() -> None:
    """More people of one kind, many of them born on one day, than a chunk holds; then all of them leave."""
    rng = np.random.default_rng(3)
    n = 3 * columns.CHUNK
    index = CandidateIndex(Vocabulary.of(["a"]), learner("tk"))
    born = np.where(rng.random(n) < 0.5, 19800101, 19000101 + rng.integers(0, 100, n) * 10_000).astype(np.int32)
    ones = np.ones(n)

    def part(rows: np.ndarray) -> FilterColumns:
        return FilterColumns(
            DATING,
            rows.tolist(),
            *(np.full(len(rows), 1, np.uint32) for _ in range(2)),
            born[rows],
            np.zeros(len(rows), np.uint8),
            np.full(len(rows), 150, np.uint8),
            *(np.zeros(len(rows), np.float32) for _ in range(3)),
            np.full(len(rows), 1e9, np.float32),
        )

    for rows in np.array_split(rng.permutation(n), 7):
        index.upsert_columns(part(rows), ones[rows, None])
    me = Profile(id=-1, i_am={"woman"}, i_look_for={"woman"}, born=date(1980, 1, 1), features=np.ones(1), ages=(46, 46))
    for ages in ((46, 46), (30, 60), (47, 126), (0, 150)):
        viewer = replace(me, ages=ages)
        years = (20261115 - born) // 10_000
        expected = np.flatnonzero((years >= max(18, ages[0])) & (years <= ages[1]))
        assert everybody(index, viewer) == expected.tolist()
    full = chunks(index, me)
    assert full >= 4
    index.remove(*rng.permutation(n)[: n - 5].tolist())
    assert len(index) == 5
    assert chunks(index, me) < full
    old_enough = [i for i in range(n) if i in index and (20261115 - born[i]) // 10_000 >= 18]
    assert everybody(index, replace(me, ages=(0, 150))) == old_enough
    index.remove(*range(n))
    assert len(index) == 0
    assert chunks(index, me) == 0
    index.upsert_columns(part(np.arange(10)), ones[:10, None])
    assert len(index) == 10


def scattered(rng: np.random.Generator, ids: np.ndarray) -> FilterColumns:
    """People in three towns and some nowhere, of all ages, who look near or far, for one kind or another."""
    n = len(ids)
    towns = [Location.from_coordinates(*place).point for place in ((52.5, 13.4), (48.1, 11.6), (53.6, 10.0))]
    points = np.array([*towns, NOWHERE], np.float32)[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    youngest = rng.integers(18, 50, n).astype(np.uint8)
    return FilterColumns(
        DATING,
        ids.tolist(),
        rng.choice([1, 1, 1, 2, 3], n).astype(np.uint32),
        rng.choice([1, 2, 2, 7], n).astype(np.uint32),
        (19400101 + rng.integers(0, 75, n) * 10_000 + rng.integers(0, 12, n) * 100).astype(np.int32),
        youngest,
        (youngest + rng.integers(5, 60, n)).astype(np.uint8),
        *points.T.copy(),
        np.array([max_squared_chord(km) for km in (60.0, 400.0, 30_000.0)])[rng.integers(0, 3, n)],
    )


@pytest.mark.slow
def test_chunks_of_people_who_are_close_are_passed_over_or_taken_as_a_whole() -> None:
    """Whatever people do: they come, move, change what they look for, and leave."""
    rng, rule = np.random.default_rng(5), learner("tk")
    n, index, read = 4 * columns.CHUNK, CandidateIndex(Vocabulary.of(["a"]), rule), list[int]()
    everyone, here = scattered(rng, np.arange(n)), np.zeros(n, bool)
    for step in range(3):
        some = rng.choice(n, n // 4, replace=False) if step else np.arange(n)
        changed = scattered(rng, some)
        index.upsert_columns(changed, np.ones((len(some), 1)))
        for name in FILTERED:
            getattr(everyone, name)[some] = getattr(changed, name)
        gone = rng.choice(n, 200, replace=False)
        index.remove(*gone.tolist())
        here[some], here[gone] = True, False
        for (place, km), ages, kinds in product(WHERE, ((30, 35), (18, 120)), ({"woman"}, {"woman", "man"})):
            viewer = Profile(
                id=-1,
                i_am={"man"},
                i_look_for=kinds,
                born=date(1990, 1, 1),
                features=np.ones(1),
                ages=ages,
                location=Location.from_coordinates(*place) if place else None,
                within_km=km,
            )
            expected = np.flatnonzero(here & all_pass(profile_filters(viewer, everyone, TODAY))).tolist()
            assert everybody(index, viewer) == expected
            weights = index.viewer_weights(Viewer(viewer, rule, rule.start([1.0])), "forward")
            with index.reading() as view:
                found = view.search(view.search_filter(viewer, TODAY), weights, 10, rng)
            assert found.size == len(expected)
            read.append(len(found.counts))
    assert min(read) <= max(read) / 3  # few chunks hold people of one age in one town


def test_editing_a_profile_a_thousand_times_takes_no_room(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(5)
    people.index.save(tmp_path / "before")
    for _ in range(1000):
        people.index.upsert(people.profiles[3])
    people.index.save(tmp_path / "after")
    with people.index.reading() as view:
        assert len(view.all_numbers()) == len(people.index) == 5
        assert view.numbers([0, 1, 2, 3, 4]).max() < 10  # a number that was given back is given again
    sizes = [sum(file.stat().st_size for file in (tmp_path / when).iterdir()) for when in ("before", "after")]
    assert sizes[0] == sizes[1]


@given(st.lists(st.integers(0, 5), max_size=20))
def test_the_last_of_equal_identifiers_counts(ids: list[int]) -> None:
    index = CandidateIndex(Vocabulary.of(["a", "b"]), learner("tk"))
    people = [
        Profile(id=i, i_am={"man"}, i_look_for={"man"}, born=date(1990, 1, 1 + n), features=np.array([n % 2, 1.0]))
        for n, i in enumerate(ids)
    ]
    index.upsert(*people)
    last = {profile.id: profile for profile in people}
    with index.reading() as view:
        features = view.features(view.numbers(last))
    assert features.tolist() == [profile.features.tolist() for profile in last.values()]
