"""What a learner knows about one user: a value, and its form in storage."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final, overload

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.tags import Features, is_named_rows
from kaczmatch.core.vectors import Matrix, Vector, as_rows, check_vector, problem_with, read_only, usable_rows
from kaczmatch.learners.prior import Prior

# A float for one vector of features, a vector for a matrix of them. Numpy's own type for this is Any.
Scores = Any

_MAGIC = b"kz"
_FORMAT = 1
# magic, format, the learner's state version, tags, cells, fingerprint of the prior, number of prior weights stored inside (0
# for a versioned prior), bytes of the slug, bytes of the prior's version
_HEADER = struct.Struct("<2sBBIIIIBB")
_CHECKSUM = struct.Struct("<I")
_CELL = np.dtype("<f8")


class State(NamedTuple):
    """What was learned about one user: read-only cells, whose meaning only the learner knows, and the prior they started from."""

    learner: str
    version: int
    dimensions: int
    cells: Vector
    prior: Prior

    def __eq__(self, other: object) -> bool:
        """Bit for bit."""
        return isinstance(other, State) and self.to_bytes() == other.to_bytes()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<State of {self.learner}: {self.dimensions} tags, {self.cells.nbytes} bytes>"

    def to_bytes(self) -> bytes:
        """The state as bytes; ``learner.from_bytes`` is the way back."""
        return next(self.bytes_with([self.cells]))

    def bytes_with(self, many: Iterable[Vector]) -> Iterator[bytes]:
        """States as bytes that have these cells, and the rest of this one."""
        slug, prior_version = self.learner.encode(), self.prior.version.encode()
        weights = b"" if prior_version else self.prior.weights.astype(_CELL).tobytes()
        rest, fingerprint = slug + prior_version + weights, self.prior.fingerprint
        numbers = (len(weights) // _CELL.itemsize, len(slug), len(prior_version))
        for cells in many:
            header = _HEADER.pack(_MAGIC, _FORMAT, self.version, self.dimensions, len(cells), fingerprint, *numbers)
            body = header + rest + (cells if sys.byteorder == "little" else cells.byteswap()).tobytes()
            yield body + _CHECKSUM.pack(zlib.crc32(body))


@final
@dataclass(frozen=True, slots=True, eq=False)
class StateRows(Sequence[State]):
    """States of one learner over the same terms, as rows of matrices: many are scored at once without an object for each.

    They are read where they lie. So whoever keeps them longer than the matrices stay as they are takes `copied` ones.
    """

    start: State  # whose learner, terms and prior they share
    kept: Matrix
    changed: Matrix
    rows: NDArray[np.int32]  # of `kept`, and beyond its end of `changed`

    @classmethod
    def of(cls, states: Sequence[State]) -> StateRows:
        """States of one kind, at least one."""
        if isinstance(states, StateRows):
            return states
        cells = stacked_cells(states)
        return cls(states[0], cells, cells[:0], np.arange(len(cells), dtype=np.int32))

    @property
    def cells(self) -> Matrix:
        """A row each, copied."""
        return gathered_rows(self.kept, self.changed, self.rows)

    def copied(self) -> StateRows:
        cells = self.cells
        return StateRows(self.start, cells, cells[:0], np.arange(len(cells), dtype=np.int32))

    def __eq__(self, other: object) -> bool:
        """As lists of states are equal."""
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[State]:
        return (self.start._replace(cells=read_only(row)) for row in self.cells)

    @overload
    def __getitem__(self, place: int) -> State: ...

    @overload
    def __getitem__(self, place: slice) -> StateRows: ...

    def __getitem__(self, place: int | slice) -> State | StateRows:
        if isinstance(place, slice):
            return StateRows(self.start, self.kept, self.changed, self.rows[place])
        return self.start._replace(cells=read_only(gathered_rows(self.kept, self.changed, self.rows[[place]])[0]))


def stacked_cells(states: Sequence[State]) -> Matrix:
    """The cells of states of one kind, a row each."""
    if isinstance(states, StateRows):
        return states.cells
    return np.concatenate([state.cells for state in states]).reshape(len(states), -1)


@compiled_short
def gathered_rows(kept: Matrix, changed: Matrix, rows: NDArray[np.int32]) -> Matrix:
    """Cell by cell: to assign whole rows takes twice as long."""
    cells = np.empty((len(rows), kept.shape[1]))
    for i in range(len(rows)):
        source = row_of(kept, changed, rows[i])
        for j in range(len(source)):
            cells[i, j] = source[j]
    return cells


@compiled_short
def row_of(kept: Matrix, changed: Matrix, row: int) -> Vector:
    """A row of `StateRows`."""
    found: Vector = kept[row] if row < len(kept) else changed[row - len(kept)]
    return found


@final
class EncodedState(NamedTuple):
    """The parts of a stored state, before a learner has checked them."""

    learner: str
    version: int
    dimensions: int
    cells: Vector
    prior_fingerprint: int
    prior_version: str
    prior_weights: Vector

    @classmethod
    def read(cls, data: bytes | bytearray | memoryview) -> EncodedState:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InvalidInput("state", f"must be bytes, got {type(data).__name__}")
        data = bytes(data)
        if len(data) < _HEADER.size + _CHECKSUM.size or data[:2] != _MAGIC:
            raise InvalidInput("state", "these bytes are not a kaczmatch state")
        if data[2] != _FORMAT:
            raise InvalidInput("state", f"stored in format {data[2]}, this release reads format {_FORMAT}")
        body = memoryview(data)[: -_CHECKSUM.size]
        if _CHECKSUM.pack(zlib.crc32(body)) != data[-_CHECKSUM.size :]:
            raise InvalidInput("state", "these bytes were damaged or cut short: the checksum does not fit")
        _, _, version, dimensions, cells, fingerprint, weights, slug, prior_version = _HEADER.unpack_from(body)
        texts, numbers = _HEADER.size, _HEADER.size + slug + prior_version
        values = np.frombuffer(body, _CELL, offset=numbers).astype(np.float64)
        return cls(
            learner=data[texts : texts + slug].decode(),
            version=version,
            dimensions=dimensions,
            cells=values[weights : weights + cells],
            prior_fingerprint=fingerprint,
            prior_version=data[texts + slug : numbers].decode(),
            prior_weights=values[:weights],
        )

    def prior(self, given: Prior | None) -> Prior:
        """The prior that this state started from: the one stored inside, or the given one, if it is the right one."""
        if not self.prior_version:
            stored = Prior(self.prior_weights)
            return given if given is not None and given.fingerprint == stored.fingerprint else stored  # it may have names
        given = given or Prior.from_version(self.prior_version)
        if given is None or given.version != self.prior_version:
            got = "none" if given is None else repr(given.version)
            raise InvalidInput("prior", f"this state started from prior {self.prior_version!r}; pass that one, got {got}")
        if given.fingerprint != self.prior_fingerprint:
            raise InvalidInput("prior", f"another prior went by the version {self.prior_version!r} when this state was stored")
        return given


def feature_rows(features: Features, state: State | None = None) -> Matrix:
    """`features` (one vector or dictionary of tags, or one per row) as checked rows, which fit the state."""
    rows = unchecked_rows(features, state)
    check_rows(rows)
    return rows


def check_rows(rows: Matrix) -> None:
    """Refuses rows whose length the kernels cannot use."""
    if len(rows) == 1:  # far quicker, and most calls are about one candidate
        check_vector(rows[0], "features")
        return
    bad = np.flatnonzero(~usable_rows(rows))
    if bad.size:
        raise InvalidInput("features", f"row {bad[0]}: {problem_with(rows[bad[0]])}")


def of_usable(rows: Matrix, found: Vector) -> Vector:
    """What a kernel found of rows: NaN where it could not use one, which is refused."""
    if np.isnan(found).any():
        check_rows(rows)
    return found


def unchecked_rows(features: Features, state: State | None = None) -> Matrix:
    """The same for kernels that find unusable rows themselves."""
    if state is not None and isinstance(features, Mapping):
        rows = state.prior.features(features, state.dimensions)[None]
    elif state is not None and is_named_rows(features):
        rows = np.array([state.prior.features(each, state.dimensions) for each in features])
    else:
        rows = as_rows(features, "features")  # type: ignore[arg-type]  # no mappings are left
    if state is not None and rows.shape[1] != state.dimensions:
        raise InvalidInput("features", f"has {rows.shape[1]} values, the state has {state.dimensions} tags")
    return rows


def in_shape_of(values: Vector, features: Features) -> Scores:
    """One value per row as a vector, or as a float where `features` is a single vector or dictionary."""
    return values if is_named_rows(features) else values.reshape(np.shape(features)[:-1])[()]  # type: ignore[arg-type]
