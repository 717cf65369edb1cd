"""Many read or one writes: nobody sees half a change, nobody waits for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.read_write_lock import ReadWriteLock

TODAY = date(2026, 11, 15)


def test_readers_never_see_half_a_change(crowd: Callable[..., Any]) -> None:
    """Two people swap sides again and again, both in one write; a reader always finds exactly one of them."""
    people = crowd(50)
    base = people.profiles[0]
    pair = [replace(base, id=name, i_am={"woman"}, i_look_for={"woman"}, within_km=np.inf, ages=(0, 150)) for name in ("a", "b")]
    hidden = [replace(profile, i_am={"man"}) for profile in pair]
    index = CandidateIndex(people.index.vocabulary, people.learner)
    index.upsert(pair[0], hidden[1])
    me = replace(pair[0], id="me", i_look_for={"woman"})
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            with index.reading() as view:
                seen.append(len(view.everybody(view.search_filter(me, TODAY))))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(400):
        index.upsert(pair[turn % 2], hidden[1 - turn % 2])
    stop.set()
    for reader in readers:
        reader.join()
    assert len(seen) > 10
    assert set(seen) == {1}


def test_a_gate_that_was_left_in_a_hurry_still_opens() -> None:
    """Ctrl-C while a writer waits for readers: readers get in afterwards."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    gate, reading, done = ReadWriteLock(), threading.Event(), threading.Event()
    handler = signal.signal(signal.SIGALRM, interrupt)

    def hold() -> None:
        with gate.reading():
            reading.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    reading.wait()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt), gate.writing():
            pytest.fail("somebody is reading")
    finally:
        signal.signal(signal.SIGALRM, handler)
    with gate.reading():
        done.set()
    thread.join()
    with gate.writing():
        assert not thread.is_alive()


def test_readers_get_in_between_writers_and_the_other_way_round() -> None:
    gate, stop = ReadWriteLock(), threading.Event()
    turns = {"read": 0, "write": 0}

    def again(name: str, side: Callable[[], Any]) -> None:
        while not stop.is_set():
            with side():
                turns[name] += 1
                time.sleep(0.0005)

    threads = [threading.Thread(target=again, args=("write", gate.writing)) for _ in range(2)]
    threads += [threading.Thread(target=again, args=("read", gate.reading)) for _ in range(2)]
    for thread in threads:
        thread.start()
    stop.wait(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert min(turns.values()) > 0.1 * max(turns.values())


def test_whoever_reads_may_read_again_but_not_write(crowd: Callable[..., Any]) -> None:
    people = crowd(5)
    with people.index.reading():
        with people.index.reading() as view:
            assert len(view) == 5
        with pytest.raises(RuntimeError, match="cannot change it"):
            people.index.remove(1)
    people.index.remove(1)
    assert len(people.index) == 4
