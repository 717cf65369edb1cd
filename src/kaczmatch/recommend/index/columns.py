"""One row a person and "I am": filter columns, packed tags, features and a small image of what the person likes.

Rows stand in chunks of up to 4,096 people of one kind, ordered by birth date from chunk to chunk and in any order inside one.
Every array has its chunk first and its row last, so a pass over a chunk reads each column from front to back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Matrix, Vector

CHUNK = 4096  # rows: a pass reads a page of each column at a time, which is what hardware fetches ahead

Array = NDArray[Any]


class IndexColumns(NamedTuple):
    """The arrays of all chunks, or the same for some rows without the chunk in front."""

    who: Array
    i_am: Array
    i_look_for: Array
    born: Array
    youngest: Array
    oldest: Array
    x: Array
    y: Array
    z: Array
    reach: Array
    tags: Array  # packed, 64 to a word
    features: Array
    inverse_norm: Array  # 1/‖tags and features‖, and 0 for none
    appeal: Array
    mean: Array  # what the person likes, in units of `unit`
    unit: Array  # Each over the spread of a typical score: what one of `mean` is worth,
    offset: Array  # the threshold,
    pull: Array  # and the weight of appeal.
    careless: Array  # the share of careless swipes

    @classmethod
    def empty(cls, chunks: int, tags: int, features: int) -> IndexColumns:
        """Room for so many chunks."""
        inner = {"tags": (-(-tags // 64), CHUNK), "features": (features, CHUNK), "mean": (tags + features, CHUNK)}
        return cls(*(np.zeros((chunks, *inner.get(name, (CHUNK,))), kind) for name, kind in DTYPES.items()))

    def taken(self, rows: Array | slice) -> IndexColumns:
        """Some rows of these."""
        return IndexColumns(*(column[..., rows] for column in self))

    def chunk(self, number: int, rows: Array | slice | int) -> IndexColumns:
        """Some rows of one chunk."""
        return IndexColumns(*(column[number][..., rows] for column in self))


DTYPES = {
    "who": np.int32,
    "i_am": np.uint32,
    "i_look_for": np.uint32,
    "born": np.int32,
    "youngest": np.uint8,
    "oldest": np.uint8,
    "x": np.float32,
    "y": np.float32,
    "z": np.float32,
    "reach": np.float32,
    "tags": np.uint64,
    "features": np.float32,
    "inverse_norm": np.float32,
    "appeal": np.float32,
    "mean": np.int8,
    "unit": np.float32,
    "offset": np.float32,
    "pull": np.float32,
    "careless": np.float32,
}


def packed(tags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of tags as words, a column a row: the first byte lowest, in each byte the first tag highest."""
    padded = np.zeros((len(tags), -(-tags.shape[1] // 64) * 64), np.bool_)
    padded[:, : tags.shape[1]] = tags
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").astype(np.uint64).T)


def unpacked(words: NDArray[np.uint64], tags: int) -> NDArray[np.uint8]:
    """The way back."""
    return np.unpackbits(np.ascontiguousarray(words.T).astype("<u8").view(np.uint8), axis=1, count=tags)


@compiled
def described(c: IndexColumns, places: Array, tags: Array, features: Array) -> tuple[Vector, Matrix, Vector]:
    """What learners ask about the rows at some places: squared norms, tags and features by their coordinates, and appeal."""
    squared, appeal = np.empty(len(places)), np.empty(len(places))
    values = np.zeros((len(places), len(tags) + len(features)))
    for j in range(len(places)):
        chunk, i = places[j] // CHUNK, places[j] % CHUNK
        inverse = np.float64(c.inverse_norm[chunk, i])
        squared[j] = 1.0 / (inverse * inverse) if inverse > 0.0 else 0.0
        appeal[j] = c.appeal[chunk, i]
        for t in range(len(tags)):
            shift = np.uint64(t & 56 | 7 - (t & 7))
            values[j, tags[t]] = (c.tags[chunk, t >> 6, i] >> shift) & np.uint64(1)
        for f in range(len(features)):
            values[j, features[f]] = c.features[chunk, f, i]
    return squared, values, appeal
