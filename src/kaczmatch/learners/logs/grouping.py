"""Which rows of a log belong to which user."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Column, Integers


def group_by_user(users: Column) -> tuple[list[Hashable], Integers, Integers]:
    """The users, the rows sorted by user (stable), and where each user's rows begin, plus the end of the last."""
    if users.dtype.kind in "iu" and len(users):
        lowest, highest = int(users.min()), int(users.max())
        if highest - lowest < 2 * len(users) + 1024:  # dense integers need no look-up
            wide = users if users.dtype.kind == "u" else users.astype(np.int64, copy=False)
            numbers = (wide - wide.dtype.type(lowest)).astype(np.int64, copy=False)
            order, begin = _counting_sort(numbers, highest - lowest + 1)
            present = np.flatnonzero(begin[1:] > begin[:-1])
            return [number + lowest for number in present.tolist()], order, np.append(begin[present], len(users))
    if users.dtype.kind == "O":  # any hashable identifiers, in order of appearance
        codes_by_user: dict[Hashable, int] = {}
        try:
            codes = np.array([codes_by_user.setdefault(user, len(codes_by_user)) for user in users.tolist()], np.int64)
        except TypeError:
            raise InvalidInput("user", "must be identifiers that can be keys, such as numbers or texts") from None
        names = list(codes_by_user)
    else:
        found, codes = np.unique(users, return_inverse=True)
        names = found.tolist()
    return names, *_counting_sort(codes.astype(np.int64, copy=False), len(names))


def user_numbers(users: Column) -> tuple[list[Hashable], Integers]:
    """The users, and the number of each row's user among them."""
    names, order, begin = group_by_user(users)
    numbers = np.empty(len(users), np.int64)
    numbers[order] = np.repeat(np.arange(len(names)), np.diff(begin))
    return names, numbers


@compiled
def _counting_sort(codes: Integers, n: int) -> tuple[Integers, Integers]:
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
