"""The index on disk: it comes back, others erase people in its files, and damaged ones are refused."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import lib

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.index import checked_files, columns, storage
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.checked_files import ABOUT, sealed, unsealed
from kaczmatch.recommend.index.chunk_bounds import count_learned
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer
from worlds.index_oracle import TODAY, everybody, learned_first


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


def test_a_damaged_or_foreign_folder_is_refused(crowd: Callable[..., Any], tmp_path: Path) -> None:
    people = crowd(20)
    people.index.save(tmp_path / "index")
    with pytest.raises(InvalidInput, match="saved for ProbitDiagonal"):
        CandidateIndex.open(tmp_path / "index", learner("tk"))
    with pytest.raises(InvalidInput, match="not a saved index"):
        CandidateIndex.open(tmp_path / "nothing", people.learner)
    about = tmp_path / "index" / "index.json"
    text = about.read_bytes()
    about.write_bytes(sealed(unsealed(text, ABOUT).replace(b'"format": 5', b'"format": 9'), ABOUT))
    with pytest.raises(InvalidInput, match="format 9"):
        CandidateIndex.open(tmp_path / "index", people.learner)
    about.write_bytes(text.replace(b'"format": 5', b'"format": 6'))
    with pytest.raises(InvalidInput, match="damaged"):
        CandidateIndex.open(tmp_path / "index", people.learner)
    about.write_bytes(text)
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


def test_whoever_has_moved_to_the_place_of_an_overwritten_person_stays(tmp_path: Path) -> None:
    """Rows move when somebody leaves and when somebody learns for the first time; in the file the place is still the other's."""
    rule, folder = learner("tk"), tmp_path / "index"
    index = CandidateIndex(Vocabulary.of(["a"]), rule)
    index.upsert_columns(women(np.arange(3_000)), np.ones((3_000, 1)))
    index.save(folder)
    opened, me = (
        CandidateIndex.open(folder, rule),
        Profile(id=-1, i_am={"woman"}, i_look_for={"woman"}, born=date(1980, 1, 1), features=np.ones(1)),
    )
    places = np.load(folder / "home.npy")
    opened.remove(100)
    opened.set_states({2_000: rule.start(np.ones(1))})
    with opened.reading() as view:
        before = view.numbers([2_000])
    (exchanged,) = np.flatnonzero(places == opened._table.home[before[0]]).tolist()
    assert exchanged != 2_000
    for gone in (100, exchanged):
        assert storage.overwrite(folder, gone)
    opened.remove(exchanged)
    assert everybody(opened, me) == sorted({*range(3_000)} - {100, exchanged})


@pytest.mark.parametrize("kinds", [1, 3])
def test_memory_has_no_python_object_per_person(tmp_path: Path, kinds: int) -> None:
    """Neither for the rows that somebody of several kinds has."""
    rule, blocks = learner("tk"), list[int]()
    for people in (2_000, 6_000):
        index, ids = CandidateIndex(Vocabulary.of(["a"]), rule), np.arange(people)
        index.upsert_columns(women(ids, kinds), np.ones((people, 1)))
        index.save(tmp_path / f"{people}")
        del index
        tracemalloc.start()
        opened = CandidateIndex.open(tmp_path / f"{people}", rule)
        opened.remove(7)
        traces = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(False, lib.tracemalloc_domain)])
        tracemalloc.stop()
        blocks.append(len(traces.traces))
        assert len(opened) == people - 1
    assert blocks[1] < blocks[0] + 500


def women(ids: np.ndarray, kinds: int = 1) -> FilterColumns:
    """With so many bits of kinds."""
    return FilterColumns(
        DATING,
        ids.tolist(),
        *(np.full(len(ids), kinds, np.uint32) for _ in range(2)),
        (19500101 + ids % 40 * 10_000).astype(np.int32),
        np.zeros(len(ids), np.uint8),
        np.full(len(ids), 150, np.uint8),
        *(np.zeros(len(ids), np.float32) for _ in range(3)),
        np.full(len(ids), 1e9, np.float32),
    )


def test_a_chunk_that_is_split_keeps_an_overwritten_row_apart_and_no_copies(tmp_path: Path) -> None:
    """Another process has erased somebody, and this one splits their chunk before it has heard of it."""
    rule, n = learner("tk"), columns.CHUNK
    index = CandidateIndex(Vocabulary.of(["a"]), rule)
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


def rewritten(folder: Path, **changed: Any) -> None:
    """The same folder with other arrays under right checksums, as another program would have written it."""
    about, arrays = storage.read_about(folder), checked_files.opened(folder)
    values = {name: np.array(array) for name, array in arrays.items()}
    for name, change in changed.items():
        change(values[name])
    for path in folder.iterdir():
        path.unlink()
    checked_files.write(folder, {name: said for name, said in about.items() if name != "arrays"}, values, {})


def put(place: tuple[int, ...], value: int) -> Callable[[np.ndarray], None]:
    return lambda array: array.__setitem__(place, value)


@pytest.mark.parametrize(
    "changed",
    [
        {"learned": put((0, 3), 7)},
        {"used": put((0,), 5_000)},
        {"used": put((0,), -1)},
        {"kind": put((0,), 31)},
        {"person": put((0, 0), -5)},
        {"person": put((0, 1), 1 << 30)},
        {"home": put((2,), 1 << 40)},
        {"home": put((2,), -1)},
        {"id_begins": put((3,), 1 << 40)},
        {"id_begins": put((3,), -8)},
        {"id_slots": put((0,), 1 << 30)},
        {"id_slots": lambda slots: slots.fill(1)},
    ],
    ids=" ".join,
)
def test_kernels_take_nothing_on_trust(crowd: Callable[..., Any], tmp_path: Path, changed: dict[str, Any]) -> None:
    """Not even from files whose checksums are right: a kernel would read and write anywhere, or search without end."""
    people = crowd(20)
    people.index.save(tmp_path / "index")
    rewritten(tmp_path / "index")
    assert len(CandidateIndex.open(tmp_path / "index", people.learner)) == 20
    rewritten(tmp_path / "index", **changed)
    with pytest.raises(InvalidInput, match="damaged one"):
        CandidateIndex.open(tmp_path / "index", people.learner)


def test_a_flag_that_is_no_flag_moves_no_row_out_of_its_chunk() -> None:
    flags = np.zeros((1, columns.CHUNK), np.uint8)
    flags[0, [1, 5, 9]] = [255, 2, 1]
    learned = np.zeros(1, np.int32)
    one, other = count_learned(flags, np.array([10], np.int32), np.zeros(1, np.int64), learned)
    assert learned.tolist() == [3]
    assert sorted(one.tolist()) == [0, 2]
    assert sorted(other.tolist()) == [5, 9]
