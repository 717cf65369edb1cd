"""The columns of the index: one row per person and kind, with filter columns, packed tags, features and a compact state.

Rows are kept in chunks of up to 4,096 people of one kind, who are close in age and place (`cells.py`). In a chunk those come
first who have learned something. All others still have the state that everybody starts with.
The first axis of every array is the chunk and the last is the row, so a pass over a chunk reads each column from front to back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.intrinsics import popcount
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.people.filters import FilterColumns

CHUNK = 4096  # rows per chunk: a pass reads one memory page per column at a time, which suits hardware prefetching

Array = NDArray[Any]


class IndexColumns(NamedTuple):
    """The arrays of all chunks; or of some rows, without the chunk axis."""

    person: Array
    i_am: Array
    i_look_for: Array
    born: Array
    youngest: Array
    oldest: Array
    x: Array
    y: Array
    z: Array
    max_squared_chord: Array
    tags: Array  # packed, 64 to a word
    features: Array
    inverse_norm: Array  # 1/‖tags and features‖, or 0
    said: Array  # by others: appeal, or traits,
    doubts: Array  # and the doubts of traits
    mean: Array  # the mean of the state in eight bits, in units of `mean_scale`
    mean_scale: Array  # This and the next two are divided by the standard deviation of a typical score: the unit of `mean`,
    offset: Array  # the threshold,
    said_weight: Array  # and the weights of what others said.
    random_share: Array  # c, the share of random swipes
    learned: Array  # 0 where the state is that of the start, otherwise 1

    @classmethod
    def empty(cls, chunks: int, tags: int, features: int, said: int, doubts: int) -> IndexColumns:
        """So many chunks of zeros."""
        several = {"tags": -(-tags // 64), "features": features, "mean": tags + features}
        several |= {"said": said, "doubts": doubts, "said_weight": said}
        inner = {name: (number, CHUNK) for name, number in several.items()}
        return cls(*(np.zeros((chunks, *inner.get(name, (CHUNK,))), kind) for name, kind in DTYPES.items()))

    def take(self, rows: Array | slice) -> IndexColumns:
        """Some rows of these."""
        return IndexColumns(*(column[..., rows] for column in self))

    def chunk(self, number: int, rows: Array | slice | int) -> IndexColumns:
        """Some rows of one chunk."""
        return IndexColumns(*(column[number][..., rows] for column in self))


DTYPES = {
    "person": np.int32,
    "i_am": np.uint32,
    "i_look_for": np.uint32,
    "born": np.int32,
    "youngest": np.uint8,
    "oldest": np.uint8,
    "x": np.float32,
    "y": np.float32,
    "z": np.float32,
    "max_squared_chord": np.float32,
    "tags": np.uint64,
    "features": np.float32,
    "inverse_norm": np.float32,
    "said": np.float32,
    "doubts": np.float32,
    "mean": np.int8,
    "mean_scale": np.float32,
    "offset": np.float32,
    "said_weight": np.float32,
    "random_share": np.float32,
    "learned": np.uint8,
}


def pack_tags(tags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of tags as 64-bit words, one column per row: the first byte lowest, in each byte the first tag highest."""
    padded = np.zeros((len(tags), -(-tags.shape[1] // 64) * 64), np.bool_)
    padded[:, : tags.shape[1]] = tags
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").astype(np.uint64).T)


def unpack_tags(words: NDArray[np.uint64], tags: int) -> NDArray[np.uint8]:
    """The inverse of `pack_tags`."""
    return np.unpackbits(np.ascontiguousarray(words.T).astype("<u8").view(np.uint8), axis=1, count=tags)


def profile_rows(candidates: FilterColumns, features: Matrix, tags: NDArray[np.int64], reals: NDArray[np.int64]) -> IndexColumns:
    """Profiles as rows of the index, without learned columns."""
    n = len(candidates)
    squared = np.einsum("ij,ij->i", features, features)
    inverse = np.divide(1.0, np.sqrt(squared), out=np.zeros(n), where=squared > 0.0)
    rows = {name: np.zeros(n, kind) for name, kind in DTYPES.items()}
    for name in ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord"):
        rows[name] = getattr(candidates, name)
    rows["tags"] = pack_tags(features[:, tags] > 0.0)
    rows["features"] = features[:, reals].T.astype(np.float32)
    rows["inverse_norm"] = inverse.astype(np.float32)
    rows["mean"] = np.zeros((features.shape[1], n), np.int8)
    return IndexColumns(**rows)


@compiled_short
def read_rows(c: IndexColumns, places: Array, tags: Array, features: Array) -> tuple[Vector, Matrix, Matrix]:
    """Of the rows at some places: squared norms, feature vectors (tags and features at their coordinates), what others said."""
    squared, traits = np.empty(len(places)), c.said.shape[1]
    said = np.zeros((len(places), traits + max(c.doubts.shape[1], 1)))  # appeal, which has no doubts here, has a variance of 0
    values = np.zeros((len(places), len(tags) + len(features)))
    for j in range(len(places)):
        chunk, i = places[j] // CHUNK, places[j] % CHUNK
        inverse = np.float64(c.inverse_norm[chunk, i])
        squared[j] = 1.0 / (inverse * inverse) if inverse > 0.0 else 0.0
        for k in range(traits):
            said[j, k] = c.said[chunk, k, i]
        for k in range(c.doubts.shape[1]):
            said[j, traits + k] = c.doubts[chunk, k, i]
        for w in range(c.tags.shape[1]):
            word = c.tags[chunk, w, i]
            while word != np.uint64(0):  # one turn per tag that they have: most have few
                bit = np.int64(popcount((word & (~word + np.uint64(1))) - np.uint64(1)))  # the lowest that is set
                values[j, tags[64 * w + (bit & 56 | 7 - (bit & 7))]] = 1.0
                word &= word - np.uint64(1)
        for f in range(len(features)):
            values[j, features[f]] = c.features[chunk, f, i]
    return squared, values, said


def without_terms(c: IndexColumns, tags: NDArray[np.bool_], features: NDArray[np.bool_]) -> IndexColumns:
    """The columns without some tags and features: `tags` and `features` say which. Only the columns of profiles are new."""
    words, reals, norms = c.tags.copy(), c.features.copy(), c.inverse_norm.copy()
    _clear(words, reals, norms, pack_tags(tags[None])[:, 0], np.flatnonzero(features))
    return c._replace(tags=words, features=reals, inverse_norm=norms)


@compiled
def _clear(tags: Array, features: Array, inverse_norm: Array, mask: Array, reals: Array) -> None:
    for chunk in range(tags.shape[0]):
        for i in range(CHUNK):
            had = False
            for w in range(tags.shape[1]):
                had |= tags[chunk, w, i] & mask[w] != 0
                tags[chunk, w, i] &= ~mask[w]
            for f in reals:
                had |= features[chunk, f, i] != 0.0
                features[chunk, f, i] = 0.0
            if had:
                squared = 0.0
                for w in range(tags.shape[1]):
                    squared += popcount(tags[chunk, w, i])
                for f in range(features.shape[1]):
                    squared += np.float64(features[chunk, f, i]) ** 2
                inverse_norm[chunk, i] = 1.0 / np.sqrt(squared) if squared > 0.0 else 0.0
