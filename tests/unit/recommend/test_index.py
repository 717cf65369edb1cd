"""The index against plain numpy and a brute-force oracle."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.index import columns, search_threads
from kaczmatch.recommend.index import view as view_module
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.filter_kernel import filter_query, rows_pass
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.people.filters import NO_BIRTH_DATE, FilterColumns, all_pass, profile_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import FUSIONS, Viewer
from worlds.index_oracle import FILTERED, TODAY, everybody, oracle


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
