"""Everybody who takes part in picks, in columns.

A score is one product of two vectors: what the viewer likes, divided by the standard deviation of a typical score, and what the
candidate is. The probability of a like is c/2 + (1 − c)Φ(score), with c the viewer's share of random swipes. The mutual
probability is the product of both sides. Mean, threshold and one scalar of uncertainty per person are what the candidate index
keeps too, there rounded to eight bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from itertools import islice
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Integers, as_matrix, unit_rows
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.index.compact_state import CompactState, said_columns, typical_form
from kaczmatch.recommend.index.search_kernel import Float32s
from kaczmatch.recommend.people.filters import NO_BIRTH_DATE, FilterColumns, date_number
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.vocabulary import Vocabulary

NO_AGE: Final = -1
_STATES_AT_ONCE = 10_000
_PAIRS_AT_ONCE = 1 << 17


@final
@dataclass(frozen=True, slots=True, eq=False)
class PickColumns:
    """One row per person, in an order in which people who can meet lie together. Of equal scores the first row comes first."""

    ids: Sequence[Hashable]
    weights: Float32s  # what they like: tags and features, threshold, appeal or traits
    profiles: Float32s  # what they are: the unit vector, 1, their appeal or traits
    random_share: Float32s
    i_am: NDArray[np.uint32]
    i_look_for: NDArray[np.uint32]
    age: NDArray[np.int32]  # `NO_AGE` for people who have given none: they pass every limit
    youngest: NDArray[np.int32]
    oldest: NDArray[np.int32]
    x: Float32s
    y: Float32s
    z: Float32s
    max_squared_chord: Float32s
    excluded: NDArray[np.int32]  # rows that nobody may be given: blocks, matches, cooldown, both ways; sorted per person,
    excluded_from: NDArray[np.int64]  # from here to the next

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of_profiles(
        cls,
        people: Sequence[Profile],
        learner: Learner,
        states: Sequence[State],
        vocabulary: Vocabulary,
        day: date,
        *,
        others: ArrayLike = (),
        excluded: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> PickColumns:
        """From at least one profile, and everybody's state."""
        if not people:
            raise InvalidInput("people", "is empty")
        columns, features = FilterColumns.from_profiles(people, people[0].schema), [each.features for each in people]
        return cls.of(columns, features, learner, states, vocabulary, day, others=others, excluded=excluded)

    @classmethod
    def of(
        cls,
        people: FilterColumns,
        features: ArrayLike,
        learner: Learner,
        states: Sequence[State],
        vocabulary: Vocabulary,
        day: date,
        *,
        others: ArrayLike = (),
        excluded: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> PickColumns:
        """From profiles and states. Each excluded pair counts both ways.

        People under the minimum age take no part, nor people without an age where the schema requires one.
        """
        if not isinstance(learner, BeliefLearner):
            raise InvalidInput(
                "learner", f"{learner.slug!r} has no probabilities; picks need one that has, such as 'probit-diag'"
            )
        values = as_matrix(features, "features")
        traits, doubts = said_columns(learner)
        width = traits + max(doubts, 1)
        said = np.asarray(others, np.float64) if np.size(others) else np.zeros((len(people), width))
        if said.shape != (len(people), width):
            raise InvalidInput("others", f"must be {len(people)} rows of {width} numbers, got {said.shape}")
        ageless = people.born == NO_BIRTH_DATE
        age = np.where(ageless, NO_AGE, (date_number(day) - people.born.astype(np.int64)) // 10_000)
        weights, random_share = _learned(learner, states, vocabulary)
        columns = cls(
            people.ids,
            weights,
            np.column_stack([unit_rows(values), np.ones(len(values)), said[:, :traits]]).astype(np.float32),
            random_share,
            people.i_am,
            people.i_look_for,
            age.astype(np.int32),
            people.youngest.astype(np.int32),
            people.oldest.astype(np.int32),
            people.x,
            people.y,
            people.z,
            people.max_squared_chord,
            np.empty(0, np.int32),
            np.zeros(len(people) + 1, np.int64),
        )
        old_enough = np.where(ageless, not people.schema.age_required, age >= people.schema.minimum_age)
        return columns._take(np.flatnonzero(old_enough))._in_order()._excluding(excluded)

    @classmethod
    def joined(cls, parts: Sequence[PickColumns], excluded: Iterable[tuple[Hashable, Hashable]]) -> PickColumns:
        """Everybody of some parts, without what the parts exclude."""
        names = [field.name for field in fields(cls)[1:13]]
        together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        together |= {"excluded": np.empty(0, np.int32)}
        ids = [identifier for part in parts for identifier in part.ids]
        return cls(ids, excluded_from=np.zeros(len(ids) + 1, np.int64), **together)._in_order()._excluding(excluded)

    def _in_order(self) -> PickColumns:
        return self._take(np.lexsort((np.arange(len(self)), self.age, self.i_look_for, self.i_am)))

    def _take(self, rows: NDArray[np.int64]) -> PickColumns:
        kept = {field.name: getattr(self, field.name)[rows] for field in fields(self)[1:13]}
        return replace(
            self, ids=[self.ids[row] for row in rows.tolist()], excluded_from=np.zeros(len(rows) + 1, np.int64), **kept
        )

    def _excluding(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> PickColumns:
        """Of millions of pairs eight bytes each are kept: the lower row times `n`, and the higher one."""
        row_of = {identifier: row for row, identifier in enumerate(self.ids)}
        n, parts, coming = len(self), [np.empty(0, np.int64)], iter(pairs)
        while some := list(islice(coming, _PAIRS_AT_ONCE)):
            rows = [(row_of[a], row_of[b]) for a, b in some if a in row_of and b in row_of]
            parts.append(np.unique(np.array([min(pair) * n + max(pair) for pair in rows if pair[0] != pair[1]], np.int64)))
        codes = np.concatenate(parts)
        parts.clear()
        codes.sort()
        excluded, excluded_from = _both_ways(codes[np.diff(codes, prepend=-1) > 0], n)
        return replace(self, excluded=excluded, excluded_from=excluded_from)


@compiled_short
def _both_ways(codes: Integers, n: int) -> tuple[NDArray[np.int32], Integers]:
    """For each row the others of its pairs in order, and from where on they stand. Each of the pairs in order comes once."""
    begin = np.zeros(n + 1, np.int64)
    for code in codes:
        begin[code // n + 1] += 1
        begin[code % n + 1] += 1
    for row in range(n):
        begin[row + 1] += begin[row]
    other, end = np.empty(begin[n], np.int32), begin[:n].copy()
    for code in codes:  # first those with a lower row,
        other[end[code % n]] = code // n
        end[code % n] += 1
    for code in codes:  # then those with a higher one
        other[end[code // n]] = code % n
        end[code // n] += 1
    return other, begin


def _learned(learner: BeliefLearner, states: Sequence[State], vocabulary: Vocabulary) -> tuple[Float32s, Float32s]:
    """Weights and random shares."""
    typical, size = typical_form(learner, vocabulary), vocabulary.dimensions + 1 + said_columns(learner)[0]
    weights, random_share = np.empty((len(states), size), np.float32), np.empty(len(states), np.float32)
    for first in range(0, len(states), _STATES_AT_ONCE):
        part = slice(first, first + _STATES_AT_ONCE)
        compact = CompactState.of(learner, states[part], typical)
        rows = np.column_stack([compact.mean, compact.threshold, compact.said_weight])
        weights[part], random_share[part] = rows * compact.certainty[:, None], compact.random_share
    return weights, random_share
