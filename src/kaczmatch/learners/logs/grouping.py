"""Which rows of a log belong to which user."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Column

Places = NDArray[np.int64]


def grouped(users: Column) -> tuple[list[Hashable], Places, Places]:
    """The users, the rows sorted by user (each user's in their order), and where each user's begin, with an end."""
    if users.dtype.kind in "iu" and len(users):
        lowest, highest = int(users.min()), int(users.max())
        if highest - lowest < 2 * len(users) + 1024:  # numbers close together sort themselves
            wide = users if users.dtype.kind == "u" else users.astype(np.int64, copy=False)
            numbers = (wide - wide.dtype.type(lowest)).astype(np.int64, copy=False)
            order, begin = _counting_sort(numbers, highest - lowest + 1)
            present = np.flatnonzero(begin[1:] > begin[:-1])
            return [number + lowest for number in present.tolist()], order, np.append(begin[present], len(users))
    if users.dtype.kind == "O":  # whatever can be a key, in order of appearance
        places: dict[Hashable, int] = {}
        try:
            codes = np.array([places.setdefault(user, len(places)) for user in users.tolist()], np.int64)
        except TypeError:
            raise InvalidInput("user", "must be identifiers that can be keys, such as numbers or texts") from None
        names = list(places)
    else:
        found, codes = np.unique(users, return_inverse=True)
        names = found.tolist()
    return names, *_counting_sort(codes.astype(np.int64, copy=False), len(names))


def numbered(users: Column) -> tuple[list[Hashable], Places]:
    """The users, and each row's place among them."""
    names, order, begin = grouped(users)
    numbers = np.empty(len(users), np.int64)
    numbers[order] = np.repeat(np.arange(len(names)), np.diff(begin))
    return names, numbers


@compiled
def _counting_sort(codes: Places, n: int) -> tuple[Places, Places]:
    begin = np.zeros(n + 1, np.int64)
    for code in codes:
        begin[code + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    order = np.empty(len(codes), np.int64)
    place = begin[:-1].copy()
    for i in range(len(codes)):
        order[place[codes[i]]] = i
        place[codes[i]] += 1
    return order, begin
