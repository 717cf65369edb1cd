"""The index against plain numpy and a brute-force oracle, through changes, from many threads and from disk."""

from __future__ import annotations

import os
import signal
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from scipy.special import ndtr

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.index import columns, search_threads, storage
from kaczmatch.recommend.index import view as view_module
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.filter_kernel import filter_query, rows_pass
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.people.filters import NO_BIRTH_DATE, FilterColumns, all_pass, profile_filters
from kaczmatch.recommend.people.location import NOWHERE, Location, max_squared_chord
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import FUSIONS, Viewer

TODAY = date(2026, 11, 15)
WHERE = ((52.5, 13.4), 40.0), ((48.1, 11.6), 450.0), (None, np.inf)
FILTERED = ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord")


def everybody(index: CandidateIndex, viewer: Profile, day: date = TODAY) -> list[Any]:
    with index.reading() as view:
        return sorted(view.ids(view.everybody(view.search_filter(viewer, day))))


def oracle(profiles: dict[Any, Profile], viewer: Profile, day: date = TODAY) -> list[Any]:
    others = list(profiles.values())
    passes = all_pass(profile_filters(viewer, FilterColumns.from_profiles(others, DATING), day))
    return sorted(other.id for other, ok in zip(others, passes, strict=True) if ok)


@pytest.mark.parametrize("slug", ["probit-diag", "tk"])
def test_the_pass_finds_whom_the_filters_allow(crowd: Callable[..., Any], slug: str) -> None:
    people = crowd(400, slug)
    rng = np.random.default_rng(0)
    for identifier in range(0, 400, 7):
        viewer = people.viewer(identifier)
        expected = oracle(people.profiles, viewer.profile)
        assert everybody(people.index, viewer.profile) == expected
        with people.index.reading() as view:
            found = view.search(
                view.search_filter(viewer.profile, TODAY), people.index.viewer_weights(viewer, "product"), 1000, rng
            )
            assert sorted(view.ids(found.best)) == expected
            assert found.size == len(expected)
            everyone = view.all_numbers()
            assert sorted(view.ids(everyone[view.passing(view.search_filter(viewer.profile, TODAY), everyone)])) == expected
            if expected:
                assert sorted(view.ids(view.sample(found, found.size, rng))) == expected


@pytest.mark.parametrize("schema", [DATING, Schema(DATING.kinds, age_required=False)], ids=["with ages", "without"])
def test_rows_outside_the_index_pass_as_the_filters_say(crowd: Callable[..., Any], schema: Schema) -> None:
    people = [replace(one, schema=schema) for one in crowd(400).profiles.values()]
    if not schema.age_required:
        people[::5] = [replace(one, born=None) for one in people[::5]]
    columns_of = FilterColumns.from_profiles(people, schema)
    rows = np.column_stack([getattr(columns_of, name) for name in FILTERED]).astype(np.float64)
    for viewer in people[::7]:
        for day in (TODAY, date(2031, 12, 31)):
            passing = all_pass(profile_filters(viewer, columns_of, day))
            assert rows_pass(rows, filter_query(viewer, schema, day)).tolist() == passing.tolist()


def test_a_pass_over_many_chunks_is_the_same_as_over_few(crowd: Callable[..., Any]) -> None:
    """Ordered by birth date: a query reads only chunks that can pass, and finds all that do, on a birthday too."""
    people = crowd(300)
    for day in (TODAY, date(2026, 5, 4), date(2027, 2, 28), date(2031, 12, 31)):
        for identifier in range(20):
            profile = people.profiles[identifier]
            assert everybody(people.index, profile, day) == oracle(people.profiles, profile, day)


def plain_scores(weights: ViewerWeights, rows: columns.IndexColumns, tags: int) -> np.ndarray:
    """The pass in plain float64 numpy, from the same rounded rows."""
    bits_of_worth = columns.unpack_tags(weights.bit_planes, tags).astype(float)
    tag_weights = (bits_of_worth.T @ [1, 2, 4, 8, 16, 32, 64, -128]) * float(weights.tag_scale)
    bits = columns.unpack_tags(rows.tags, tags).astype(float)
    forward = (bits @ tag_weights + rows.features.T @ weights.feature_weights.astype(float)) * rows.inverse_norm
    forward = forward + float(weights.offset) + weights.said_weights.astype(float) @ rows.said
    mean = rows.mean.T.astype(float)
    back = (
        mean[:, weights.own_tags].sum(axis=1) * float(weights.own_tag_value)
        + mean[:, weights.own_features] @ weights.own_feature_values
    )
    back = back * rows.mean_scale + rows.offset + weights.said.astype(float) @ rows.said_weight
    if weights.probabilities:
        forward, back = (
            0.5 * c + (1 - c) * ndtr(z) for c, z in ((float(weights.random_share), forward), (rows.random_share, back))
        )
    names = {0: "product", 1: "harmonic", 2: "minimum"}
    return np.maximum(forward, 0.0) if weights.fusion == 3 else FUSIONS[names[weights.fusion]](forward, back)


@pytest.mark.parametrize("slug", ["probit-diag", "probit", "probit-traits", "tk"])
@pytest.mark.parametrize("ranked_by", ["product", "geometric", "harmonic", "minimum", "forward"])
def test_the_fused_pass_orders_as_plain_numpy_does(crowd: Callable[..., Any], slug: str, ranked_by: str) -> None:
    """Also where some have learned nothing, and others come back and have forgotten everything."""
    people = crowd(500, slug, **({"appeal": True} if slug in ("probit-diag", "probit") else {}))
    newcomers = np.random.default_rng(2).choice(500, 300, replace=False).tolist()
    people.index.remove(*newcomers)
    people.index.upsert(*(people.profiles[one] for one in newcomers))
    for identifier in (3, 44, 123):
        viewer = people.viewer(identifier)
        weights = people.index.viewer_weights(viewer, ranked_by)
        with people.index.reading() as view:
            best = view.search(view.search_filter(viewer.profile, TODAY), weights, 20, np.random.default_rng(1)).best
            all_of_them = view.everybody(view.search_filter(viewer.profile, TODAY))
            scores = plain_scores(weights, view.rows(all_of_them), 11)
            of_best = plain_scores(weights, view.rows(best), 11)
        assert len(best) == min(20, len(all_of_them))
        assert np.all(np.diff(of_best) <= 2e-3)
        np.testing.assert_allclose(np.sort(of_best), np.sort(scores)[-len(best) :], atol=2e-3)


def test_many_who_score_nothing_do_not_push_out_the_best(crowd: Callable[..., Any]) -> None:
    """A viewer who likes one tag only and dislikes the rest: nearly everybody ties at 0."""
    people = crowd(600, "tk", reals=0)
    taste = np.full(11, -1.0)
    taste[0] = 2.0
    profile = replace(people.profiles[0], i_am=DATING.kinds, i_look_for=DATING.kinds, ages=(0, 150), within_km=np.inf)
    viewer = Viewer(profile, people.learner, people.learner.start(taste))
    with people.index.reading() as view:
        everyone = view.everybody(view.search_filter(profile, TODAY))
        score = np.maximum(viewer.forward(view.features(everyone), 0.0 * everyone), 0.0)
        assert 3 < np.count_nonzero(score) < len(everyone) / 4
        for seed in range(5):
            found = view.search(
                view.search_filter(profile, TODAY), people.index.viewer_weights(viewer, "forward"), 3, np.random.default_rng(seed)
            ).best
            best = np.maximum(viewer.forward(view.features(found), 0.0 * found), 0.0)
            assert best == pytest.approx(np.sort(score)[::-1][:3])


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["probit-diag", "probit", "tk"])
def test_the_shortlist_holds_the_exact_best(slug: str) -> None:
    """Recall of the best 32 of everybody, scored exactly from the states, in a shortlist of 1,000 of 20,000."""
    rng = np.random.default_rng(4)
    people, d, rule = 20_000, 60, learner(slug)
    vocabulary = Vocabulary.of([f"t{i}" for i in range(d)])
    features = (rng.random((people, d)) < 0.5).astype(float)
    ones = np.ones(people)
    candidates = FilterColumns(
        DATING,
        list(range(people)),
        *((kind * ones).astype(np.uint32) for kind in (1, 1)),
        (19900101 * ones).astype(np.int32),
        *((age * ones).astype(np.uint8) for age in (18, 99)),
        *(np.zeros(people, np.float32) for _ in range(3)),
        (1e9 * ones).astype(np.float32),
    )
    index = CandidateIndex(vocabulary, rule)
    index.upsert_columns(candidates, features)
    start = rule.start(np.ones(d))
    states = []
    for _ in range(people):
        cells = start.cells.copy()
        cells[:d] += rng.normal(size=d)
        if slug == "probit-diag":
            cells[d + 1 : -5] *= rng.random(d + 1)
            cells[-4] = rng.uniform(0.1, 0.6)
        states.append(rule.state(cells, d, start.prior))
    index.set_states(dict(enumerate(states)))
    me = Profile(id=-1, i_am={"woman"}, i_look_for={"woman"}, born=date(1990, 1, 1), features=features[0])
    viewer = Viewer(me, rule, states[0])
    exact = FUSIONS["product"](*(np.maximum(s, 0) for s in (viewer.forward(features, 0 * ones), viewer.backward(states))))
    with index.reading() as view:
        shortlist = view.search(view.search_filter(me, TODAY), index.viewer_weights(viewer, "product"), 1000, rng).best
        assert set(np.argsort(-exact)[:32].tolist()) <= set(view.ids(shortlist))


def learned_first(index: CandidateIndex) -> set[Any]:
    """Who is told to have learned something: the first rows of chunks, and nobody behind them."""
    table, found = index._table, set[Any]()
    for chunk in np.flatnonzero(table.used).tolist():
        flags, number = table.columns.learned[chunk, : table.used[chunk]], int(table.bounds.learned[chunk])
        assert flags[:number].all()
        assert not flags[number:].any()
        found |= {*index.ids_of(table.columns.person[chunk, :number])}
    return found


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


@given(st.sets(st.integers(0, 39)), st.sets(st.integers(0, 39)), st.booleans())
@settings(max_examples=40)
def test_several_who_were_overwritten_in_a_saved_index_are_gone_and_nobody_else(
    learned: set[int], erased: set[int], already_open: bool
) -> None:
    """Wherever their rows lie, also if it is the last one, and whether a process has the files mapped at that moment."""
    rule, rng = learner("tk"), np.random.default_rng(0)
    kinds = [{"woman"}, {"man"}, {"woman", "man"}]
    people = {
        one: Profile(
            id=one,
            i_am=kinds[one % 3],
            i_look_for=kinds[2],
            born=date(1990, 1, 1 + one % 20),
            features=rng.integers(0, 2, 3).astype(float),
        )
        for one in range(40)
    }
    index = CandidateIndex(Vocabulary.of(["a", "b", "c"]), rule)
    index.upsert(*people.values())
    index.set_states({one: rule.start(rng.normal(size=3)) for one in sorted(learned)})
    me = replace(people[0], id=-1, i_am=kinds[2], i_look_for=kinds[2])
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        opened = CandidateIndex.open(Path(folder) / "index", rule) if already_open else None
        for one in sorted(erased):
            assert storage.overwrite(Path(folder) / "index", one)
        if opened is None:
            opened = CandidateIndex.open(Path(folder) / "index", rule)
        else:
            weights = opened.viewer_weights(Viewer(me, rule, rule.start(np.ones(3))), "product")
            with opened.reading() as view:
                sought = view.search_filter(me, TODAY)
                best = view.search(sought, weights, 100, rng).best
                assert sorted(view.ids(best)) == sorted(view.ids(view.everybody(sought))) == sorted(people.keys() - erased)
            more = {one: rule.start(np.ones(3)) for one in sorted(people.keys() - learned - erased)[:5]}
            opened.set_states(more)
            opened.remove(*erased)
            learned |= more.keys()
        leaves = {one for one in learned - erased if one % 4 == 0}
        opened.remove(*leaves)
        left = people.keys() - erased - leaves
        assert learned_first(opened) == learned - erased - leaves
        assert everybody(opened, me) == sorted(left)
        with opened.reading() as view:
            features = view.features(view.numbers(sorted(left)))
    assert [row.tolist() for row in features] == [people[one].features.tolist() for one in sorted(left)]


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


def test_a_chunk_that_is_split_keeps_an_overwritten_row_apart_and_no_copies(tmp_path: Path) -> None:
    """Another process has erased somebody, and this one splits their chunk before it has heard of it."""
    rule, n = learner("tk"), columns.CHUNK
    index = CandidateIndex(Vocabulary.of(["a"]), rule)

    def women(ids: np.ndarray) -> FilterColumns:
        return FilterColumns(
            DATING,
            ids.tolist(),
            *(np.full(len(ids), 1, np.uint32) for _ in range(2)),
            (19500101 + ids % 40 * 10_000).astype(np.int32),
            np.zeros(len(ids), np.uint8),
            np.full(len(ids), 150, np.uint8),
            *(np.zeros(len(ids), np.float32) for _ in range(3)),
            np.full(len(ids), 1e9, np.float32),
        )

    index.upsert_columns(women(np.arange(n)), np.ones((n, 1)))
    index.save(tmp_path / "index")
    opened = CandidateIndex.open(tmp_path / "index", rule)
    storage.overwrite(tmp_path / "index", 2000)
    opened.upsert_columns(women(np.array([n])), np.ones((1, 1)))
    opened.remove(2000)
    me = Profile(id=-1, i_am={"woman"}, i_look_for={"woman"}, born=date(1980, 1, 1), features=np.ones(1), ages=(0, 150))
    assert everybody(opened, me) == [one for one in range(n + 1) if one != 2000]
    table = opened._table
    assert len(table) == len(opened) == n
    behind = np.arange(columns.CHUNK) >= table.used[:, None]
    assert not table.columns.i_am[behind].any()
    assert not table.columns.born[behind].any()


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


@pytest.mark.parametrize("share", [0.001, 0.6, 1.0])
def test_people_without_a_birth_date_are_found_where_none_is_required(share: float, tmp_path: Path) -> None:
    """They lie in chunks before everybody else's, or share one with them."""
    rng = np.random.default_rng(3)
    n, kinds = 3 * columns.CHUNK, DATING.kinds
    schema, rule = Schema(kinds, age_required=False), learner("tk")
    born = np.where(rng.random(n) < share, NO_BIRTH_DATE, 19400101 + rng.integers(0, 75, n) * 10_000).astype(np.int32)
    youngest = rng.integers(0, 60, n).astype(np.uint8)
    people = FilterColumns(
        schema,
        list(range(n)),
        *(rng.integers(1, 8, n).astype(np.uint32) for _ in range(2)),
        born,
        youngest,
        (youngest + rng.integers(0, 60, n)).astype(np.uint8),
        *(np.zeros(n, np.float32) for _ in range(3)),
        np.full(n, 1e9, np.float32),
    )
    index = CandidateIndex(Vocabulary.of(["a"]), rule, schema=schema)
    index.upsert_columns(people, np.ones((n, 1)))
    index.save(tmp_path / "index")
    opened = CandidateIndex.open(tmp_path / "index", rule)
    about: dict[str, Any] = {"id": -1, "i_am": {"woman"}, "features": np.ones(1), "schema": schema}
    for when in (None, date(1990, 1, 1), date(2015, 1, 1)):
        for ages in ((0, 150), (30, 40), (140, 150)):
            for sought in ({"man"}, set(kinds)):
                viewer = Profile(**about, born=when, ages=ages, i_look_for=sought)
                expected = np.flatnonzero(all_pass(profile_filters(viewer, people, TODAY))).tolist()
                assert everybody(index, viewer) == everybody(opened, viewer) == expected
                with index.reading() as view:
                    passing = view.passing(view.search_filter(viewer, TODAY), view.numbers(range(n)))
                    assert np.flatnonzero(passing).tolist() == expected
    strict = CandidateIndex(Vocabulary.of(["a"]), rule)
    strict.upsert_columns(replace(people, schema=DATING), np.ones((n, 1)))
    dated = Profile(**about | {"schema": DATING}, born=date(1990, 1, 1), i_look_for=set(kinds))
    assert not np.isin(everybody(strict, dated), np.flatnonzero(born == NO_BIRTH_DATE)).any()
    assert everybody(strict, replace(dated, born=None)) == []


def test_an_index_comes_back_from_disk_and_its_files_stay(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(200)
    people.index.remove(5, 6)
    people.index.save(tmp_path / "index")
    files = {path: path.read_bytes() for path in (tmp_path / "index").iterdir()}
    opened = CandidateIndex.open(tmp_path / "index", people.learner)
    viewer = people.viewer(0)
    for index in (people.index, opened):
        with index.reading() as view:
            rows = view.rows(view.numbers(range(200)))
            best = view.ids(
                view.search(
                    view.search_filter(viewer.profile, TODAY),
                    index.viewer_weights(viewer, "product"),
                    9,
                    np.random.default_rng(0),
                ).best
            )
        if index is people.index:
            expected = rows, best
    assert best == expected[1]
    assert all(np.array_equal(a, b) for a, b in zip(rows, expected[0], strict=True))
    opened.upsert(replace(people.profiles[1], id="new"))
    opened.remove(1)
    assert "new" in opened
    assert 1 not in opened
    assert {path: path.read_bytes() for path in (tmp_path / "index").iterdir()} == files
    opened.save(tmp_path / "index")
    assert len(CandidateIndex.open(tmp_path / "index", people.learner)) == 198
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_damaged_or_foreign_folder_is_refused(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(20)
    people.index.save(tmp_path / "index")
    with pytest.raises(InvalidInput, match="saved for ProbitDiagonal"):
        CandidateIndex.open(tmp_path / "index", learner("tk"))
    with pytest.raises(InvalidInput, match="not a saved index"):
        CandidateIndex.open(tmp_path / "nothing", people.learner)
    about = tmp_path / "index" / "index.json"
    text = about.read_text()
    other = text.partition("\n")[2].replace('"format": 3', '"format": 9')
    about.write_text(f"{crc32(other.encode()):08x}\n{other}")
    with pytest.raises(InvalidInput, match="format 9"):
        CandidateIndex.open(tmp_path / "index", people.learner)
    about.write_text(text.replace('"format": 3', '"format": 4'))
    with pytest.raises(InvalidInput, match="damaged"):
        CandidateIndex.open(tmp_path / "index", people.learner)
    about.write_text(text)
    path = tmp_path / "index" / "tags.npy"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidInput, match="damaged"):
        CandidateIndex.open(tmp_path / "index", people.learner)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match="not a saved index; name a new folder"):
        people.index.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()
    index = CandidateIndex(people.index.vocabulary, people.learner)
    index.upsert(replace(people.profiles[0], id=(1, 2)))
    with pytest.raises(InvalidInput, match="texts and whole numbers"):
        index.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_vocabulary_grows_and_retires_under_the_index(crowd: Callable[..., Any]) -> None:
    people = crowd(60, "probit-diag")
    index, old = people.index, people.index.vocabulary
    new = old.add(tags=["fresh"], features=["height"]).retire("tag 0")
    with index.reading() as view:
        before = view.features(view.numbers(range(60)))
        mean = view.rows(view.numbers(range(60))).mean
    index.set_vocabulary(new)
    with index.reading() as view:
        numbers = view.numbers(range(60))
        after, rows = view.features(numbers), view.rows(numbers)
    assert after.shape == (60, old.dimensions + 2)
    assert np.array_equal(after[:, 1 : old.dimensions], before[:, 1:])
    assert not after[:, [0, -2, -1]].any()
    assert np.array_equal(rows.mean[: old.dimensions], mean)
    state = people.learner.grow(people.states[3], new.dimensions)
    index.set_states({3: state})
    for stranger in (old, Vocabulary.of([f"other {i}" for i in range(12)], ["a", "b", "c"])):
        with pytest.raises(InvalidInput, match="continue"):
            index.set_vocabulary(stranger)
    with pytest.raises(InvalidInput, match="states: 4 has a"):
        index.set_states({4: people.states[4]})


def test_nothing_of_somebody_who_left_remains(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(300)
    canary = 1234.5677
    marked = people.profiles[7].features.copy()
    marked[-1] = canary
    people.index.upsert(replace(people.profiles[7], id="canary-7", features=marked))
    people.index.save(tmp_path / "before")
    people.index.remove("canary-7")
    people.index.save(tmp_path / "after")
    needles = (np.float32(canary).tobytes(), b"canary-7")
    for folder, there in (("before", True), ("after", False)):
        raw = b"".join(path.read_bytes() for path in (tmp_path / folder).iterdir())
        assert [needle in raw for needle in needles] == [there, there]


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


def test_the_prior_of_newcomers_is_saved_too(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(3, "tk")
    taste = np.linspace(-1.0, 1.0, 13)
    index = CandidateIndex(people.index.vocabulary, people.learner, prior=taste)
    index.save(tmp_path / "index")
    opened = CandidateIndex.open(tmp_path / "index", people.learner)
    opened.upsert(people.profiles[0])
    with opened.reading() as view:
        rows = view.rows(view.numbers([0]))
    np.testing.assert_allclose(rows.mean[:, 0] * rows.mean_scale[0], taste / np.linalg.norm(taste), atol=0.01)


def test_a_child_of_a_fork_has_threads_of_its_own(crowd: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "_CHUNKS_PER_THREAD", 1)
    monkeypatch.setattr(search_threads, "idle_cores", lambda: 1)
    people = crowd(50)
    profile = replace(people.profiles[0], i_look_for=DATING.kinds, i_am=DATING.kinds, ages=(0, 150))
    expected = everybody(people.index, profile)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads about is what this is about
        child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if everybody(people.index, profile) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((1, 3)), "must be 1 x 13"),
        (np.full((1, 13), np.nan), "entry 0 is nan"),
        (np.full((1, 13), 0.5), "tag 'tag 0' must be 0 or 1"),
        (np.append(np.ones((1, 12)), [[1e39]], axis=1), "'feature 1' must be within"),
    ],
)
def test_rows_that_make_no_sense_are_refused(crowd: Callable[..., Any], features: np.ndarray, message: str) -> None:
    people = crowd(3)
    candidates = FilterColumns.from_profiles([people.profiles[0]], DATING)
    with pytest.raises(InvalidInput, match=message):
        people.index.upsert_columns(candidates, features)
    assert len(people.index) == 3


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
