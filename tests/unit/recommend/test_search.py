"""A search on many threads, with people who come last, and what it is made of."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.core.compiled import compiled
from kaczmatch.core.intrinsics import fetch_and_increment, popcount
from kaczmatch.recommend.index import columns, search_kernel, search_threads
from kaczmatch.recommend.index import view as view_module
from kaczmatch.recommend.index.membership import NO_BITS, bits_at, to_bits
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.scoring import Viewer

TODAY = date(2026, 11, 15)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three more threads, even for a few chunks."""
    search_threads._jobs.cache_clear()
    for module in (search_threads, view_module):
        monkeypatch.setattr(module, "CORES", 4)
    monkeypatch.setattr(search_threads, "idle_cores", lambda: 3)
    monkeypatch.setattr(view_module, "_CHUNKS_PER_THREAD", 1)


def wide(people: Any, taste: float = 1.0) -> Viewer:
    """Somebody who looks for everybody."""
    profile = replace(people.profiles[0], i_am=DATING.kinds, i_look_for=DATING.kinds, ages=(0, 150), within_km=np.inf)
    return Viewer(profile, people.learner, people.learner.start(np.full(13, taste)))


@pytest.mark.usefixtures("helpers")
@pytest.mark.parametrize("taste", [1.0, 0.0])  # with none, everybody ties
def test_threads_share_a_search_and_find_the_same(crowd: Callable[..., Any], taste: float, monkeypatch: Any) -> None:
    people = crowd(500, "tk")
    viewer = wide(people, taste)
    with people.index.reading() as view:
        sought = view.search_filter(viewer.profile, TODAY)
        weights = people.index.viewer_weights(viewer, "product")
        assert len(sought.chunks) > 2
        for seed in range(60):
            found = []
            for worth in (1, 1000):
                monkeypatch.setattr(view_module, "_CHUNKS_PER_THREAD", worth)
                found.append(view.search(sought, weights, 30, np.random.default_rng(seed)))
                assert view.everybody(sought).tolist() == view.everybody(sought).tolist()
            assert found[0].best.tolist() == found[1].best.tolist()
            assert found[0].counts.tolist() == found[1].counts.tolist()


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 50), st.integers(0, 99))
def test_what_threads_found_is_put_in_order_by_score_then_rank(scores: list[int], want: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chunks = rng.permutation(3)
    ranks = rng.choice(3 * columns.CHUNK, len(scores), replace=False)
    who = np.arange(3 * columns.CHUNK, dtype=np.int32).reshape(3, -1)
    found = search_kernel.best_numbers(np.array(scores, np.float32), ranks, chunks, who, want)
    order = sorted(zip(scores, ranks.tolist(), strict=True), key=lambda one: (-one[0], one[1]))[:want]
    assert found.tolist() == [who[chunks[rank // columns.CHUNK], rank % columns.CHUNK] for _, rank in order]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.98, 1.0])
def test_who_is_marked_comes_last_and_nobody_else_is_missed(crowd: Callable[..., Any], share: float) -> None:
    """However many of the best are marked, a search for 40 finds the best 40 of the others, then the best of the marked."""
    people = crowd(600, "tk")
    viewer = wide(people)
    with people.index.reading() as view:
        sought, weights = view.search_filter(viewer.profile, TODAY), people.index.viewer_weights(viewer, "product")
        order = view.search(sought, weights, 10_000, np.random.default_rng(0)).best
        marked = order[: int(share * len(order))]
        bits = to_bits(marked, 600)
        expected = np.concatenate([order[len(marked) :], marked])
        found = view.search(sought, weights, 40, np.random.default_rng(0), bits).best
    assert len(order) > 300
    assert bits_at(bits, found).tolist() == bits_at(bits, expected[:40]).tolist()
    assert len(set(found.tolist()) & set(expected[:40].tolist())) >= 38  # equal scores at the end may change places


@given(st.sets(st.integers(0, 300)), st.integers(301, 400))
def test_marks_are_a_bit_a_number(numbers: set[int], people: int) -> None:
    bits = to_bits(np.array(sorted(numbers), np.int32), people)
    everybody = np.arange(people + 100, dtype=np.int32)
    assert set(everybody[bits_at(bits, everybody)].tolist()) == numbers
    assert not bits_at(NO_BITS, everybody).any()


@compiled
def counted(words: np.ndarray) -> int:
    total = 0
    for word in words:
        total += popcount(word)
    return total


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_popcount_counts_bits(words: list[int]) -> None:
    assert counted(np.array(words, np.uint64)) == sum(word.bit_count() for word in words)


@compiled
def turns_taken(turns: np.ndarray, end: int) -> list[int]:
    taken = [-1]
    turn = fetch_and_increment(turns)
    while turn < end:
        taken.append(turn)
        turn = fetch_and_increment(turns)
    return taken


def test_no_two_threads_get_the_same_turn() -> None:
    turns, taken = np.zeros(1, np.int64), []
    turns_taken(np.zeros(1, np.int64), 1)  # compile
    threads = [threading.Thread(target=lambda: taken.extend(turns_taken(turns, 200_000)[1:])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(200_000))


@pytest.mark.usefixtures("helpers")
class TestCrew:
    def test_everybody_who_is_free_helps(self) -> None:
        together = threading.Barrier(4)
        assert search_threads.run_shared(lambda: together.wait(10) >= 0, 3) == [True] * 4

    def test_nobody_waits_for_helpers_that_are_busy(self) -> None:
        release, begun = threading.Event(), threading.Semaphore(0)

        def hold() -> None:
            begun.release()
            release.wait(10)

        holder = threading.Thread(target=search_threads.run_shared, args=(hold, 3))
        holder.start()
        for _ in range(4):
            assert begun.acquire(timeout=10)
        assert search_threads.run_shared(lambda: threading.current_thread().name, 3) == [threading.current_thread().name]
        release.set()
        holder.join()

    def test_nobody_is_asked_where_no_core_is_free(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search_threads, "idle_cores", lambda: 0)
        assert search_threads.run_shared(lambda: threading.current_thread().name, 3) == [threading.current_thread().name]

    def test_a_problem_of_a_helper_is_not_lost(self) -> None:
        me, both = threading.current_thread(), threading.Barrier(2)

        def work() -> None:
            both.wait(10)
            if threading.current_thread() is not me:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            search_threads.run_shared(work, 1)


@pytest.mark.parametrize(("running", "free"), [(1, 3), (3, 1), (4, 0), (90, 0), (0, 3)])
def test_cores_that_run_something_are_not_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: int, free: int) -> None:
    (tmp_path / "load").write_text(f"0.61 0.70 0.74 {running}/113 4711\n")
    file = os.open(tmp_path / "load", os.O_RDONLY)
    monkeypatch.setattr(search_threads, "CORES", 4)
    monkeypatch.setattr(search_threads, "_load_file", lambda: file)
    assert search_threads.idle_cores() == free
    os.close(file)
    monkeypatch.setattr(search_threads, "_load_file", lambda: -1)  # a system that does not say
    assert search_threads.idle_cores() == 3
