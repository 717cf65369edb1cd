"""How often people are shown: fading counts, shares and two figures of inequality."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.recommend.decks import exposure as exposure_module
from kaczmatch.recommend.decks.exposure import Exposure, gini, top_share
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import bits_at, to_bits

NOW = datetime(2026, 11, 15, tzinfo=UTC)
counts = st.lists(st.integers(0, 50), min_size=1, max_size=60)


@given(counts)
def test_gini_is_the_mean_difference(cards: list[int]) -> None:
    values = np.array(cards, float)
    expected = 0.0 if not values.any() else np.abs(values[:, None] - values).mean() / (2.0 * values.mean())
    assert gini(cards) == pytest.approx(expected, abs=1e-12)
    assert 0.0 <= gini(cards) < 1.0


def test_inequality_of_known_cases() -> None:
    assert gini([3, 3, 3]) == 0.0
    assert gini([0, 0, 0, 1]) == 0.75
    assert top_share([1] * 99 + [101]) == pytest.approx(0.505)
    assert top_share([0, 0]) == 0.0
    assert top_share([1, 2, 3], share=1.0) == 1.0
    for bad in ([-1.0], [np.nan]):
        with pytest.raises(InvalidInput, match="counts"):
            gini(bad)


def test_cards_fade_by_half_in_a_half_life() -> None:
    exposure = Exposure(half_life_days=7.0)
    exposure.record(["a", "a", "b"], NOW)
    assert exposure.cards_of("a", NOW) == 2.0
    assert exposure.cards_of("a", NOW + timedelta(days=7)) == pytest.approx(1.0)
    exposure.record(["a"], NOW + timedelta(days=7))
    assert exposure.cards_of("a", NOW + timedelta(days=7)) == pytest.approx(2.0)
    for years in range(1, 40):
        exposure.record(["a"], NOW + timedelta(days=365 * years))
        assert exposure.cards_of("a", NOW + timedelta(days=365 * years)) == pytest.approx(1.0, abs=1e-6)
    exposure.forget("a")
    assert exposure.cards_of("a", NOW + timedelta(days=365 * 40)) == 0.0


@given(st.lists(st.integers(0, 9), max_size=200), st.floats(1.0, 4.0))
def test_over_is_who_exceeds_the_cap(shown: list[int], cap: float) -> None:
    exposure = Exposure(cap=cap)
    for identifier in shown:
        exposure.record([identifier], NOW)
        limit = cap * (1.0 + sum(exposure.cards_of(i, NOW) for i in range(10)) / 10)
        assert sorted(exposure.over_cap(10, NOW)) == [i for i in range(10) if exposure.cards_of(i, NOW) > limit]


def test_a_growing_population_brings_back_who_was_not_over() -> None:
    exposure = Exposure()
    exposure.record(["a"] * 20 + ["b"] * 20, NOW)
    assert exposure.over_cap(2, NOW) == []
    assert set(exposure.over_cap(1000, NOW)) == {"a", "b"}
    exposure.forget("a")
    assert exposure.over_cap(1000, NOW) == ["b"]
    assert exposure.cards_of("a", NOW) == 0.0


events = st.lists(
    st.one_of(
        st.tuples(
            st.just("shown"),
            st.builds(lambda who, cards: who * cards, st.lists(st.integers(0, 9), max_size=3), st.integers(1, 30)),
        ),
        st.tuples(st.just("later"), st.floats(-3.0, 40.0)),
        st.tuples(st.just("forget"), st.integers(0, 9)),
        st.tuples(st.just("enter"), st.integers(0, 9)),
        st.tuples(st.just("leave"), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(events, st.floats(1.0, 3.0))
def test_marks_keep_up_with_cards_time_and_people(events: list[tuple[str, Any]], cap: float) -> None:
    """After whatever happens, the marks are those of the people in the index who exceed the cap by a plain count."""
    exposure, roster, now = Exposure(cap=cap), IdNumbers(), NOW
    cards: list[tuple[int, datetime]] = []
    for what, how in events:
        if what == "shown":
            exposure.record(how, now)
            cards += [(identifier, now) for identifier in how]
        elif what == "later":
            now += timedelta(days=how)
        elif what == "forget":
            exposure.forget(how)
            cards = [(identifier, at) for identifier, at in cards if identifier != how]
        elif what == "enter":
            roster.add(how)
        elif how in roster:
            roster.remove(how)
        counts = dict.fromkeys(range(10), 0.0)
        for identifier, at in cards:
            counts[identifier] += 0.5 ** ((now - at) / timedelta(days=7))
        limit = cap * (1.0 + sum(counts.values()) / max(len(roster), 1))
        here = [identifier for identifier in range(10) if identifier in roster]
        marked = bits_at(exposure.over_cap_bits(roster, now), roster.numbers(here))
        for identifier, mark in zip(here, marked.tolist(), strict=True):
            if counts[identifier] != pytest.approx(limit, rel=1e-9):
                assert mark == (counts[identifier] > limit)


def test_decks_that_ask_in_another_order_than_they_began_do_not_look_at_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does somebody who joins make them: the limit falls a little then, and nobody is between."""
    exposure, looks = Exposure(), list[int]()
    monkeypatch.setattr(exposure_module, "to_bits", lambda slots, people: looks.append(len(slots)) or to_bits(slots, people))
    exposure.record([1] * 9 + [2] * 8 + [3], NOW)
    assert exposure.over_cap(1000, NOW) == [1, 2]
    exposure.record([4], NOW)
    for people, seconds in ((1000, 3), (1000, 1), (1001, 1), (1400, 2), (2000, -1)):  # the limit rises, and falls
        assert exposure.over_cap(people, NOW + timedelta(seconds=seconds)) == [1, 2]
    assert looks == [2]


def test_a_number_that_goes_to_somebody_else_takes_no_mark_along() -> None:
    exposure, roster = Exposure(cap=1.0), IdNumbers("ab")
    exposure.record("a" * 50, NOW)

    def marked() -> list[str]:
        here = [name for name in "abc" if name in roster]
        return [
            name
            for name, mark in zip(here, bits_at(exposure.over_cap_bits(roster, NOW), roster.numbers(here)), strict=True)
            if mark
        ]

    assert marked() == ["a"]
    number = roster.remove("a")
    assert marked() == []
    assert roster.add("c") == number
    assert marked() == []
    assert roster.add("a") != number
    assert marked() == ["a"]
    exposure.record("b" * 60, NOW)
    assert marked() == ["a", "b"]
    exposure.forget("a")  # whoever stands last takes the place
    assert marked() == ["b"]


def test_years_later_the_marks_are_still_right() -> None:
    """The units that cards are kept in start anew on the way."""
    exposure, roster = Exposure(cap=3.0, half_life_days=0.01), IdNumbers("abc")
    exposure.record("aaaaaaaaaa", NOW)
    assert bits_at(exposure.over_cap_bits(roster, NOW), roster.numbers("abc")).tolist() == [False, False, False]
    assert bits_at(exposure.over_cap_bits(IdNumbers(range(90)), NOW), roster.numbers("abc")).tolist() == [False] * 3
    later = NOW + timedelta(days=1000)
    exposure.record("b" * 20, later)
    crowd = IdNumbers([*"abc", *range(90)])
    assert bits_at(exposure.over_cap_bits(crowd, later), crowd.numbers("abc")).tolist() == [False, True, False]


def test_asking_long_after_and_long_before_gives_faded_counts() -> None:
    exposure = Exposure(half_life_days=0.01)
    exposure.record(["a"], NOW)
    exposure.record(["b"], NOW + timedelta(days=1000))
    assert exposure.cards_of("b", NOW + timedelta(days=1000)) == 1.0
    assert exposure.cards_of("a", NOW + timedelta(days=1000)) == 0.0
    exposure = Exposure()
    exposure.record(["a"], NOW)
    exposure.record(["a"], NOW + timedelta(days=3029))
    assert exposure.cards_of("a", NOW + timedelta(days=3032)) == pytest.approx(0.5 ** (3 / 7))
    assert exposure.cards_of("a", NOW - timedelta(days=9000)) > 0.0


def test_threads_may_count_at_once() -> None:
    exposure = Exposure()

    def work() -> None:
        for _ in range(500):
            exposure.record(range(20), NOW)
            exposure.over_cap(10, NOW)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [exposure.cards_of(i, NOW) for i in range(20)] == [2000.0] * 20


def test_times_need_a_zone() -> None:
    with pytest.raises(InvalidInput, match="its zone"):
        Exposure().record(["a"], NOW.replace(tzinfo=None))


def test_cards_that_are_dealt_while_counts_move_to_another_index_are_counted() -> None:
    old, new = IdNumbers(["a", "b", "c"]), IdNumbers(["c", "x", "a", "b"])
    exposure = Exposure(index_ids=old)
    exposure.record(["a", "a", "b"], NOW)
    looked_up = new.numbers_or_none
    dealt = [["a", "c"]]

    def dealing_meanwhile(ids: Any) -> Any:
        dealer = threading.Thread(target=lambda: [exposure.record(cards, NOW) for cards in dealt])
        dealer.start()
        dealer.join(10.0)  # it waits for nobody
        assert not dealer.is_alive()
        dealt.clear()
        new.numbers_or_none = looked_up  # type: ignore[method-assign]
        return looked_up(ids)

    new.numbers_or_none = dealing_meanwhile  # type: ignore[method-assign]
    moved = exposure.moved_to(new)
    assert {who: moved.cards_of(who, NOW) for who in "abcx"} == {"a": 3.0, "b": 1.0, "c": 1.0, "x": 0.0}
    assert moved.over_cap(4, NOW) == exposure.over_cap(4, NOW)
