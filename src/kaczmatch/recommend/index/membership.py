"""Membership in small sets of roster numbers. Numpy's `isin` takes longer to set up than these take to answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_short

PersonNumbers = NDArray[np.int32]
Bits = NDArray[np.uint64]  # one bit per roster number
NO_BITS: Bits = np.empty(0, np.uint64)


def is_in(numbers: PersonNumbers, others: PersonNumbers) -> NDArray[np.bool_]:
    """Which of `numbers` occur in `others`."""
    return _positions_in(others, numbers) >= 0 if len(others) and len(numbers) else np.zeros(len(numbers), np.bool_)


def positions_in(numbers: PersonNumbers, wanted: PersonNumbers) -> NDArray[np.int64]:
    """The position of each of `wanted` in `numbers`, or -1."""
    return _positions_in(numbers, wanted)


@compiled_short
def _positions_in(numbers: PersonNumbers, wanted: PersonNumbers) -> NDArray[np.int64]:
    found = np.full(len(wanted), -1, np.int64)
    if len(wanted) <= len(numbers):  # sort the shorter side, go through the longer one
        order = np.argsort(wanted)
        ordered = wanted[order]
        for i in range(len(numbers)):
            j = np.searchsorted(ordered, numbers[i])
            while j < len(ordered) and ordered[j] == numbers[i]:
                found[order[j]] = i
                j += 1
        return found
    order = np.argsort(numbers)
    ordered = numbers[order]
    for j in range(len(wanted)):
        i = np.searchsorted(ordered, wanted[j])
        if i < len(ordered) and ordered[i] == wanted[j]:
            found[j] = order[i]
    return found


@compiled_short
def to_bits(numbers: PersonNumbers, people: int) -> Bits:
    """A set of roster numbers as bits."""
    bits = np.zeros((people + 63) // 64, np.uint64)
    for number in numbers:
        bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)
    return bits


@compiled_short
def bit_is_set(bits: Bits, number: int) -> bool:
    """Whether the bit of a number is set; False beyond the last bit."""
    word = number >> 6
    return word < len(bits) and (bits[word] >> np.uint64(number & 63)) & np.uint64(1) != 0


@compiled_short
def bits_at(bits: Bits, numbers: PersonNumbers) -> NDArray[np.bool_]:
    """Which of `numbers` have their bit set."""
    found = np.empty(len(numbers), np.bool_)
    for j in range(len(numbers)):
        found[j] = bit_is_set(bits, numbers[j])
    return found
