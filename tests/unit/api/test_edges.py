"""Cursors and bodies: what comes back is what was given out, and nothing else gets through."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.api.middleware import host_of
from kaczmatch.api.paging import decode_cursor, encode_cursor
from kaczmatch.api.request_bodies import DEEPEST, BodyTooDeep, check_depth
from kaczmatch.core.errors import InvalidInput

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@given(st.datetimes(timezones=st.just(UTC)), texts, st.integers(0, 2**63 - 1))
def test_a_cursor_names_the_place_it_was_made_for(at: datetime, text: str, number: int) -> None:
    assert decode_cursor(encode_cursor([at, text, number]), datetime, str, int) == (at, text, number)


@given(st.text(max_size=60))
def test_no_made_up_cursor_does_more_than_be_refused(cursor: str) -> None:
    with suppress(InvalidInput):
        assert len(decode_cursor(cursor, datetime, str)) in (0, 2)


@pytest.mark.parametrize("values", [[1], ["a", "b", "c"], [None, "a"], [True, "a"], ["2020-01-01", 5], ["2020-01-01", "\0"]])
def test_a_cursor_of_another_shape_is_refused(values: list[object]) -> None:
    with pytest.raises(InvalidInput):
        decode_cursor(encode_cursor(values), datetime, str)


def test_brackets_in_texts_are_not_nesting() -> None:
    check_depth(b'{"name": "' + b"[" * 1_000 + b'", "other": "\\"' + b"{" * 1_000 + b'"}')
    check_depth(b"[" + b"[]," * 1_000 + b"[]]")
    with pytest.raises(BodyTooDeep):
        check_depth(b"[" * (DEEPEST + 1))


@pytest.mark.parametrize(
    ("header", "host"),
    [(b"localhost:8000", "localhost"), (b"[::1]:8000", "[::1]"), (b"[::1]", "[::1]"), (b"a.example", "a.example")],
)
def test_the_port_is_no_part_of_a_host(header: bytes, host: str) -> None:
    assert host_of({"headers": [(b"host", header)]}) == host
