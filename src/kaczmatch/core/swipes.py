"""A candidate as it was shown, and a whole log of swipes in columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.labels import signs
from kaczmatch.core.moments import microseconds
from kaczmatch.core.tags import Features, Tags, checked_tags, is_named_rows, named_matrix, tags_in
from kaczmatch.core.vectors import Column, Matrix, Vector, as_column, as_matrix, as_vector, problem_with, usable_rows

MAX_SAID = 1e3  # log-odds: nobody is liked by all but one in e^1000


_NOTHING: Vector = np.empty(0)


def check_others(others: Matrix) -> None:
    if others.size and not -MAX_SAID <= others.min() <= others.max() <= MAX_SAID:  # nor where one is NaN
        row = int(np.argmin((np.abs(others) <= MAX_SAID).all(axis=1)))
        raise InvalidInput("others", f"row {row}: must be within ±{MAX_SAID:g}, got {others[row]}")


def appeal_row(appeal: float) -> Vector:
    """An appeal (log-odds) as what others said of a candidate: one trait, with a variance of 0."""
    return np.array([appeal, 0.0])


def appeal_rows(appeal: ArrayLike) -> Matrix:
    """The same of many candidates, a row each."""
    column = as_vector(appeal, "appeal")
    return np.column_stack([column, np.zeros(len(column))])


def _as_others(values: ArrayLike, rows: int) -> Matrix:
    found = as_matrix(values, "others")
    if len(found) != rows:
        raise InvalidInput("others", f"has {len(found)} rows, but label has {rows}")
    check_others(found)
    return found


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class ShownCandidate:
    """A candidate at the moment of a swipe: values of tags and features, by position or by name, and what others said.

    ``others`` is one row: the values of D directions and K traits, then the variances of the traits. Appeal, the log-odds of
    being liked by others, is one trait with a variance of 0 (`appeal_rows`). Nothing where nothing is known.
    """

    features: Vector  # empty where they go by name
    others: Vector
    named: Mapping[str, float] | None  # until a state says which coordinate each name has

    def __init__(self, features: ArrayLike | Mapping[str, float], others: ArrayLike = ()) -> None:
        if isinstance(features, np.ndarray) or not isinstance(features, Mapping):
            object.__setattr__(self, "named", None)
            object.__setattr__(self, "features", as_vector(features, "features"))
        else:
            object.__setattr__(self, "named", features)
            object.__setattr__(self, "features", np.empty(0))
        said = as_vector(others, "others") if np.size(others) else _NOTHING
        check_others(said[None])
        object.__setattr__(self, "others", said)


@final
class SwipeLog:
    """Swipes of many users, one row per swipe. The rows of each user are in order of time.

    Give either ``features`` (one row of values per swipe) or ``candidate`` with ``candidates``: row numbers into a matrix, or
    keys of a mapping from identifier to values. ``session`` marks which swipes belong together (any values), ``at`` is the time
    (datetimes, or seconds), ``others`` what others had said of the candidate by then, a row each (see :class:`ShownCandidate`).
    Values may be dictionaries of tags. ``tags`` names the columns; without it they are in the order in which tags appear.
    """

    __slots__ = ("at", "candidate_row", "features", "label", "others", "session", "tags", "user")

    user: Column
    features: Matrix  # one row per swipe, or one per candidate
    candidate_row: NDArray[np.int64] | None  # the row of `features` per swipe; None: one row per swipe
    label: Vector
    session: Column | None
    at: NDArray[np.int64] | None  # microseconds
    others: Matrix | None
    tags: Tags  # the names of the columns of `features`; empty where nobody named them

    def __init__(
        self,
        *,
        user: ArrayLike,
        label: ArrayLike,
        features: Features | None = None,
        candidate: ArrayLike | None = None,
        candidates: Features | Mapping[Any, Any] | None = None,
        session: ArrayLike | None = None,
        at: ArrayLike | None = None,
        others: ArrayLike | None = None,
        tags: Sequence[str] | None = None,
    ) -> None:
        if features is not None:
            features, tags = _unnamed(features, tags, "features")
        if isinstance(candidates, Mapping):
            rows, tags = _unnamed(list(candidates.values()), tags, "candidates")
            candidates = dict(zip(candidates, rows, strict=True))  # type: ignore[arg-type]  # a list or a matrix
        elif candidates is not None:
            candidates, tags = _unnamed(candidates, tags, "candidates")
        self.label = signs(label)
        self.user = self._column(user, "user")
        if features is not None:
            if candidate is not None or candidates is not None:
                raise InvalidInput("features", "give either features, or candidate and candidates, not both")
            self.features, self.candidate_row = as_matrix(features, "features"), None
            if len(self.features) != len(self):
                raise InvalidInput("features", f"has {len(self.features)} rows, but label has {len(self)}")
        elif candidate is None or candidates is None:
            raise InvalidInput("candidate", "give features, or candidate together with candidates")
        else:
            self.features, self.candidate_row = _looked_up(self._column(candidate, "candidate"), candidates)
        bad = np.flatnonzero(~usable_rows(self.features))
        if bad.size:
            where = "features" if self.candidate_row is None else "candidates"
            raise InvalidInput(where, f"row {bad[0]}: {problem_with(self.features[bad[0]])}")
        self.tags = () if tags is None else checked_tags(tags, self.dimensions)
        self._set_moments(session, at, others)

    def _set_moments(self, session: ArrayLike | None, at: ArrayLike | None, others: ArrayLike | None) -> None:
        self.session = None if session is None else self._column(session, "session")
        if self.session is not None and self.session.dtype.kind == "f" and np.isnan(self.session).any():
            raise InvalidInput("session", f"row {int(np.argmax(np.isnan(self.session)))}: is not a number")
        self.at = None if at is None else microseconds(self._column(at, "at"))
        self.others = None if others is None else _as_others(others, len(self))

    @classmethod
    def of(cls, log: AnyLog) -> SwipeLog:
        """`log` itself, or the log that a mapping of columns describes."""
        if isinstance(log, SwipeLog):
            return log
        if not isinstance(log, Mapping):
            problem = "must be a SwipeLog or a mapping of columns; kaczmatch.read_log makes one of files or frames"
            raise InvalidInput("log", f"{problem}, got {type(log).__name__}")
        known = ("user", "label", "features", "candidate", "candidates", "session", "at", "others", "tags")
        for name in log:
            if name not in known:
                raise InvalidInput(str(name), f"is not a column of a swipe log; {did_you_mean(str(name), known)}")
        for name in ("user", "label"):
            if name not in log:
                raise InvalidInput(name, "this column is missing from the swipe log")
        return cls(**log)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def dimensions(self) -> int:
        return int(self.features.shape[1])

    def with_swipes(
        self,
        *,
        user: ArrayLike,
        label: ArrayLike,
        candidate: ArrayLike,
        session: ArrayLike | None = None,
        at: ArrayLike | None = None,
        others: ArrayLike | None = None,
    ) -> SwipeLog:
        """Other swipes on the same candidates, by their rows. The candidates are not checked again."""
        other = object.__new__(SwipeLog)
        other.features, other.tags, other.label = self.features, self.tags, signs(label)
        other.user = other._column(user, "user")
        other.candidate_row = _rows_of(other._column(candidate, "candidate"), len(self.features))
        other._set_moments(session, at, others)
        return other

    def with_others(self, others: ArrayLike) -> SwipeLog:
        """The same swipes, with what others had said of the candidates."""
        other = object.__new__(SwipeLog)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other.others = _as_others(others, len(self))
        return other

    def select(self, chosen: ArrayLike) -> SwipeLog:
        """Some of the rows, by number or by a mask, in the given order."""
        places = np.asarray(chosen)
        other = object.__new__(SwipeLog)
        for name in self.__slots__:
            column = getattr(self, name)
            whole = column is None or name == "tags" or (name == "features" and self.candidate_row is not None)
            setattr(other, name, column if whole else column[places])
        return other

    def candidates_and_times(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The candidate's row and the microsecond of each swipe, for what a population shares."""
        if self.candidate_row is None:
            raise InvalidInput("candidate", "it must be known who was swiped: give candidate and candidates instead of features")
        if self.at is None:
            raise InvalidInput("at", "it must be known which swipe came first: give the time of each")
        return self.candidate_row, self.at

    def shown_candidate(self, row: int) -> ShownCandidate:
        """The candidate of the swipe in `row`."""
        features = self.features[row if self.candidate_row is None else self.candidate_row[row]]
        return ShownCandidate(features, () if self.others is None else self.others[row])

    def _column(self, values: ArrayLike, name: str) -> Column:
        column = as_column(values, name)
        if len(column) != len(self):
            raise InvalidInput(name, f"has {len(column)} rows, but label has {len(self)}")
        return column


AnyLog = SwipeLog | Mapping[str, Any]


def _unnamed(features: Features, tags: Sequence[str] | None, field: str) -> tuple[ArrayLike, Sequence[str] | None]:
    """Dictionaries of tags as a matrix, with the names of its columns."""
    if not is_named_rows(features):
        return features, tags  # type: ignore[return-value]  # no mappings are left
    names = tags_in(features) if tags is None else tuple(tags)
    return named_matrix(features, names, field), names


def _looked_up(candidate: Column, candidates: ArrayLike | Mapping[Any, Any]) -> tuple[Matrix, NDArray[np.int64]]:
    """The candidates' matrix, and its row per swipe."""
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InvalidInput("candidates", "is empty")
        matrix = as_matrix(list(candidates.values()), "candidates")
        place = {key: row for row, key in enumerate(candidates)}
        rows = np.empty(len(candidate), np.int64)
        for i, key in enumerate(candidate.tolist()):
            if not isinstance(key, Hashable) or key not in place:
                raise InvalidInput("candidate", f"row {i}: {key!r} is not among the candidates")
            rows[i] = place[key]
        return matrix, rows
    matrix = as_matrix(candidates, "candidates")
    return matrix, _rows_of(candidate, len(matrix))


def _rows_of(candidate: Column, people: int) -> NDArray[np.int64]:
    if candidate.dtype.kind not in "iu":
        raise InvalidInput(
            "candidate", f"must be row numbers into candidates, got {candidate.dtype}; for names, make candidates a mapping"
        )
    rows = np.ascontiguousarray(candidate, np.int64)
    outside = (rows < 0) | (rows >= people)
    if outside.any():
        i = int(np.argmax(outside))
        raise InvalidInput("candidate", f"row {i}: {rows[i]} is not a row of the {people} candidates")
    return rows
