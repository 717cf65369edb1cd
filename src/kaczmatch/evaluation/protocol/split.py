"""Which users the population is fitted on, and which are tested: never the same user."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.swipe_table import SwipeTable

BY_USER = "user"


def fit_users(table: SwipeTable, by: str = BY_USER) -> NDArray[np.bool_]:
    """Which users the population is fitted on; the others are tested.

    By their own identifier, or by a column in which each of them has one value (a wave, a country, a cohort): even numbers fit and odd
    ones are tested. Of texts that are no numbers, the checksum decides.
    """
    fit = np.asarray(user_parts(table, by, 2) == 0)
    for name, group in (("fitted on", fit), ("tested", ~fit)):
        if not group.any():
            raise InvalidInput("split", f"by {by!r} leaves nobody to be {name}; split by another column")
    return fit


def user_parts(table: SwipeTable, by: str, parts: int) -> NDArray[np.int64]:
    """The part of each user, of so many: what is left when the number by which users are divided is divided by `parts`."""
    values = table.users if by == BY_USER else _values(table, by)
    return np.array([_number(value) % parts for value in values], np.int64)


def _values(table: SwipeTable, by: str) -> Sequence[Any]:
    column = table.others[by]
    first = column[table.begin[:-1]]
    differs = column != first[table.user]
    if differs.any():
        user = table.users[int(table.user[int(np.argmax(differs))])]
        raise InvalidInput("split", f"user {user!r} has more than one {by!r}, so fit and test users would overlap")
    values: list[Any] = first.tolist()
    return values


def _number(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)  # the same group whether a file has identifiers as numbers or as texts
    return value if isinstance(value, int) else zlib.crc32(str(value).encode())
