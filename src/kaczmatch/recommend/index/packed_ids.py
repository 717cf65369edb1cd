"""Identifiers as bytes in one array, with a hash table: none of them is a Python object, and files of them can be mapped."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Integers

Text = NDArray[np.uint8]
Slots = NDArray[np.int32]

_TEXT, _NUMBER = b"t", b"n"  # what an identifier begins with
_EMPTY, OVERWRITTEN = 0, np.int32(-1)  # slots; others hold a number + 1


@final
class PackedIds(NamedTuple):
    """One identifier per number, or none. Identifiers are texts or whole numbers. None is added."""

    text: Text  # all of them, one after the other
    begins: Integers  # where each begins, and where the last one ends
    slots: Slots  # of the hash table

    @classmethod
    def of(cls, ids: Iterable[Hashable]) -> PackedIds:
        """The first has the number 0; None: nobody has this number."""
        parts = [b"" if identifier is None else _encoded(identifier) for identifier in ids]
        text, begins = _joined(parts)
        slots = np.zeros(1 << max(2 * len(parts), 8).bit_length(), np.int32)
        if not _fill(text, begins, slots):
            raise ValueError("an identifier stands for two people")
        return cls(text, begins, slots)

    @property
    def capacity(self) -> int:
        return len(self.begins) - 1

    def numbers(self, ids: Iterable[Hashable]) -> NDArray[np.int32]:
        """The number of each, or -1."""
        parts = [
            _TEXT + one.encode("utf-8", "surrogatepass") if type(one) is str else (_encoded(one) if _can_be_packed(one) else b"")
            for one in ids
        ]
        return _find(self.text, self.begins, self.slots, *_joined(parts))

    def ids(self, numbers: Sequence[int]) -> list[Hashable]:
        """Whose number each is; None: nobody's."""
        text, places = self.text.data, np.asarray(numbers, np.int64)
        ends = zip(self.begins[places].tolist(), self.begins[places + 1].tolist(), strict=True)
        parts = [bytes(text[first:end]) for first, end in ends]
        return [part[1:].decode("utf-8", "surrogatepass") if part[:1] == _TEXT else _decoded(part) for part in parts]

    def taken(self) -> NDArray[np.bool_]:
        """Which numbers are somebody's."""
        first = self.begins[:-1]
        taken = self.begins[1:] > first
        taken[taken] = self.text[first[taken]] != 0
        return taken

    def check(self) -> None:
        """Raises where a kernel would read or search without end."""
        begins, slots, people = self.begins, self.slots, self.capacity
        if [str(one.dtype) for one in self] != ["uint8", "int64", "int32"] or self.text.ndim != 1:
            raise ValueError("identifiers have other types")
        if begins.ndim != 1 or people < 0 or begins[0] != 0 or begins[-1] != len(self.text) or (np.diff(begins) < 0).any():
            raise ValueError("identifiers do not lie one after the other")
        if slots.ndim != 1 or len(slots).bit_count() != 1 or not (slots == _EMPTY).any():
            raise ValueError("the hash table of identifiers has no end")
        if slots.min() < OVERWRITTEN or slots.max() > people:
            raise ValueError("the hash table names identifiers that there are not")


def _can_be_packed(identifier: Hashable) -> bool:
    return isinstance(identifier, str) or (isinstance(identifier, Integral) and not isinstance(identifier, bool))


def _encoded(identifier: Hashable) -> bytes:
    if isinstance(identifier, str):
        return _TEXT + identifier.encode("utf-8", "surrogatepass")
    if _can_be_packed(identifier):
        return _NUMBER + str(int(identifier)).encode()  # type: ignore[call-overload]  # it is a whole number
    raise InvalidInput("id", f"only texts and whole numbers can be saved, got {identifier!r}")


def _decoded(data: bytes) -> Hashable:
    """Other than a text."""
    return int(data[1:]) if data[:1] == _NUMBER else None


def _joined(parts: Sequence[bytes]) -> tuple[Text, Integers]:
    begins = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=begins[1:])
    return np.frombuffer(bytearray(b"").join(parts), np.uint8), begins


@compiled
def _hash(text: Text, first: int, end: int) -> np.uint64:
    """FNV-1a, and a last step that mixes its high bits into the low ones."""
    value = np.uint64(14695981039346656037)
    for i in range(first, end):
        value = (value ^ np.uint64(text[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(32))


@compiled
def _same(text: Text, first: int, query: Text, begin: int, length: int) -> bool:
    i = 0
    while i < length and text[first + i] == query[begin + i]:
        i += 1
    return i == length


@compiled_short
def _slots_of(text: Text, begins: Integers, slots: Slots, query: Text, query_begins: Integers) -> Integers:
    """The slot of each identifier that is asked for, or -1."""
    mask, found = len(slots) - 1, np.full(len(query_begins) - 1, -1, np.int64)
    for j in range(len(found)):
        begin, length = query_begins[j], query_begins[j + 1] - query_begins[j]
        if length == 0:
            continue
        slot = np.int64(_hash(query, begin, begin + length) & np.uint64(mask))
        while slots[slot] != _EMPTY:
            number = slots[slot] - 1
            if number >= 0:
                first = begins[number]
                if begins[number + 1] - first == length and _same(text, first, query, begin, length):
                    found[j] = slot
                    break
            slot = (slot + 1) & mask
    return found


@compiled_short
def _find(text: Text, begins: Integers, slots: Slots, query: Text, query_begins: Integers) -> Slots:
    at = _slots_of(text, begins, slots, query, query_begins)
    numbers = np.full(len(at), -1, np.int32)
    for j in range(len(at)):
        if at[j] >= 0:
            numbers[j] = slots[at[j]] - 1
    return numbers


@compiled
def _fill(text: Text, begins: Integers, slots: Slots) -> bool:
    """Enter every identifier; False if one comes twice."""
    mask = len(slots) - 1
    for number in range(len(begins) - 1):
        first, length = begins[number], begins[number + 1] - begins[number]
        if length == 0:
            continue
        slot = np.int64(_hash(text, first, first + length) & np.uint64(mask))
        while slots[slot] != _EMPTY:
            other = slots[slot] - 1
            if begins[other + 1] - begins[other] == length and _same(text, begins[other], text, first, length):
                return False
            slot = (slot + 1) & mask
        slots[slot] = number + 1
    return True
