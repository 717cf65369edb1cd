"""The candidate index: people are added, changed and removed in place, and many threads may read at a time."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import check_others
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, problem_with, usable_rows
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.recommend.index import storage
from kaczmatch.recommend.index.checked_files import Damaged
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import CHUNK, Array, IndexColumns, profile_rows, read_rows, without_terms
from kaczmatch.recommend.index.compact_state import CompactState, said_columns, typical_form, viewer_weights
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import PersonNumbers
from kaczmatch.recommend.index.read_write_lock import ReadWriteLock
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.index.view import IndexView
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.recommend.scoring import Viewer

T = TypeVar("T")
_MAX_FEATURE = 1e15  # of a feature: float32 holds its square


@final
class CandidateIndex:
    """Profiles and compact states of everybody who can be shown, ordered by (kind, birth date).

    A read-write lock keeps readers and writers apart: a deck sees the index before a change or after it, never in between. The
    index keeps a compact copy of each state to find a shortlist by. The exact states are kept by the caller.
    """

    def __init__(
        self, vocabulary: Vocabulary, learner: Learner, *, prior: Prior | ArrayLike | None = None, schema: Schema = DATING
    ) -> None:
        self.vocabulary, self.learner, self.schema = vocabulary, learner, schema
        self.prior = Prior.ones(vocabulary.dimensions) if prior is None else Prior.of(prior)
        if self.prior.dimensions != vocabulary.dimensions:
            raise InvalidInput("prior", f"has {self.prior.dimensions} tags, the vocabulary {vocabulary.dimensions}")
        self._lock = ReadWriteLock()
        self._changing = threading.RLock()  # held by whoever changes the index, also while a large change is prepared
        self._ids = IdNumbers()
        self._tag_coordinates = _coordinates(vocabulary, is_tag=True)
        self._feature_coordinates = _coordinates(vocabulary, is_tag=False)
        self._table = ChunkTable(len(self._tag_coordinates), len(self._feature_coordinates), *said_columns(learner))
        self._typical_form = typical_form(learner, vocabulary)
        self._start = CompactState.of(learner, [learner.start(self.prior)], self._typical_form)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, identifier: Hashable) -> bool:
        return identifier in self._ids

    @contextmanager
    def reading(self) -> Iterator[IndexView]:
        """A view of the index. Writers wait until the context is left."""
        with self._lock.reading():
            yield self._view()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Nobody else reads or changes the index until the context is left, so that several changes are seen as one."""
        with self._changing, self._lock.writing():
            yield

    def viewer_weights(self, viewer: Viewer, ranked_by: str) -> ViewerWeights:
        """What a search needs of a viewer. It ranks by a fusion of both scores, or by "forward", the forward score alone."""
        return viewer_weights(
            viewer, ranked_by, self._start, self._typical_form, self._tag_coordinates, self._feature_coordinates
        )

    def upsert(self, *profiles: Profile) -> None:
        """Add people or change their profiles. People who are there already keep their state, and what others said of them."""
        self.upsert_columns(FilterColumns.from_profiles(profiles, self.schema), [profile.features for profile in profiles])

    def upsert_columns(self, candidates: FilterColumns, features: ArrayLike) -> None:
        """The same for many people, in columns. If an identifier comes twice, the last row counts."""
        if candidates.schema != self.schema:
            raise InvalidInput("schema", "the candidates belong to another schema")
        if not len(candidates):
            return
        values = self._checked(candidates, as_matrix(features, "features"))
        last = {identifier: row for row, identifier in enumerate(candidates.ids)}
        rows = profile_rows(candidates, values, self._tag_coordinates, self._feature_coordinates).take(
            np.fromiter(last.values(), np.int64)
        )
        with self.changing():
            start = {name: np.repeat(column, len(last), axis=-1) for name, column in self._start.columns().items()}
            rows = rows._replace(**start, **self._expected(values[list(last.values())]))
            rows.person[:] = self._ids.numbers_or_none(last)
            moving = np.flatnonzero(~self._set_in_place(rows))
            rows, ids = rows.take(moving), [*last]
            known = np.flatnonzero(rows.person >= 0)
            if known.size:
                there = self._table.rows(rows.person[known])
                for new, old in zip(rows[_FIRST_LEARNED:], there[_FIRST_LEARNED:], strict=True):
                    new[..., known] = old
                for number in rows.person[known].tolist():
                    self._table.remove(number)
            for row in np.flatnonzero(rows.person < 0).tolist():
                rows.person[row] = self._ids.add(ids[moving[row]])
            self._table.insert(rows)

    def _set_in_place(self, rows: IndexColumns) -> NDArray[np.bool_]:
        """Change the profiles of those who keep their kinds, birth date and place, and therefore their cells. Tells who does."""
        stays = rows.person >= 0
        there, now = self._table.rows(rows.person[stays]), rows.take(stays)
        stays[stays] = np.all([getattr(there, name) == getattr(now, name) for name in ("i_am", "born", "x", "y", "z")], axis=0)
        if stays.any():
            places, which = self._table.places_of_all(rows.person[stays])
            new = rows.take(np.flatnonzero(stays)[which])
            self._table.set_columns(places, {name: getattr(new, name) for name in IndexColumns._fields[:_FIRST_LEARNED]})
            self._table.measure(np.unique(places // CHUNK))
        return stays

    def remove(self, *ids: Hashable) -> None:
        """Remove people. Unknown identifiers are ignored."""
        with self.changing():
            for identifier in ids:
                if identifier in self._ids:
                    self._table.remove(self._ids.remove(identifier))

    def set_states(self, states: Mapping[Hashable, State]) -> None:
        """Replace the states of people. Unknown identifiers are ignored."""
        with self.changing():
            here = self._numbered(states)
            if not here:
                return
            for number, state in here:
                if state.learner != self.learner.slug or state.dimensions != self.vocabulary.dimensions:
                    raise InvalidInput("states", f"{self._ids.ids([number])[0]!r} has a {state}, not of this index's learner")
            numbers = np.array([number for number, _ in here])
            self._table.mark_learned(numbers)
            places, which = self._table.places_of_all(numbers)
            compact = CompactState.of(self.learner, [state for _, state in here], self._typical_form)
            self._table.set_columns(places, {name: column[..., which] for name, column in compact.columns().items()})

    def set_others(self, others: Mapping[Hashable, Vector]) -> None:
        """Replace what others said of people, a row each. Unknown identifiers are ignored."""
        with self.changing():
            here = self._numbered(others)
            if here:
                places, which = self._table.places_of_all(np.array([number for number, _ in here]))
                values = np.array([value for _, value in here], np.float64).reshape(len(here), -1)
                if values.shape[1] != self._table.said_width:
                    raise InvalidInput("others", f"must be {self._table.said_width} numbers per person, got {values.shape[1]}")
                check_others(values)
                said, doubts = np.split(values[which].T, [self._table.said])
                doubts = doubts[: self._table.doubts]
                self._table.set_columns(places, {"said": said, "doubts": doubts})

    def _numbered(self, by_id: Mapping[Hashable, T]) -> list[tuple[int, T]]:
        """By the numbers of those who are here, looked up at once, which takes far less than one by one."""
        numbers = self._ids.numbers_or_none(by_id).tolist()
        return [(number, one) for number, one in zip(numbers, by_id.values(), strict=True) if number >= 0]

    def set_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Switch to a later version of the vocabulary. Nobody has a new term yet, and nobody has a retired one any more.

        Columns are widened beside the old ones, so readers do not wait. States are kept for the old terms. Pass the grown states
        to `set_states`.
        """
        old, tags = self.vocabulary, _coordinates(vocabulary, is_tag=True)
        kept = [name.is_tag for name in vocabulary.terms[: old.dimensions]]
        if vocabulary != old and (vocabulary.version <= old.version or kept != [name.is_tag for name in old.terms]):
            raise InvalidInput("vocabulary", f"version {vocabulary.version} does not continue version {old.version}")
        features = _coordinates(vocabulary, is_tag=False)
        before_and_after = zip(old.terms, vocabulary.terms, strict=False)
        gone = [place for place, (was, now) in enumerate(before_and_after) if now.retired and not was.retired]
        prior, typical = self.prior.grown(vocabulary.dimensions), typical_form(self.learner, vocabulary)
        start = CompactState.of(self.learner, [self.learner.start(prior)], typical)
        with self._changing:
            columns = self._table.widened_columns(len(tags), len(features))
            if gone:
                columns = without_terms(columns, np.isin(tags, gone), np.isin(features, gone))
            with self._lock.writing():
                self._table.columns, self._table.tags, self._table.features = columns, len(tags), len(features)
                self._tag_coordinates, self._feature_coordinates = tags, features
                self.vocabulary, self.prior, self._typical_form, self._start = vocabulary, prior, typical, start

    def relearned(self, learner: Learner, prior: Prior) -> CandidateIndex:
        """A copy with the same profiles and appeal for another learner or prior, by which everybody is at the start.

        Traits belong to a prior: they are as expected, until `set_others` is told what others said.
        """
        other = CandidateIndex(self.vocabulary, learner, prior=prior, schema=self.schema)
        start = other._start.columns() | {"learned": np.zeros(1)}
        if self._table.doubts or other._table.doubts:  # nobody has said anything under the new one
            start |= {"said": np.zeros((other._table.said, 1)), "doubts": np.ones((other._table.doubts, 1))}
        with self._changing:  # nothing is written meanwhile, and readers go on
            other._table, other._ids = self._table.copy(start), self._ids.copy()
        if other.prior.trait_map is not None:
            for chunk in np.flatnonzero(other._table.used).tolist():
                places = chunk * CHUNK + np.arange(other._table.used[chunk])
                _, features, _ = read_rows(other._table.columns, places, self._tag_coordinates, self._feature_coordinates)
                other._table.set_columns(places, other._expected(features))
        return other

    def _expected(self, features: Matrix) -> dict[str, NDArray[np.float64]]:
        """What others are expected to say of people with these features, before anybody has."""
        said, doubts = np.zeros((self._table.said, len(features))), np.ones((self._table.doubts, len(features)))
        if self._table.doubts and self.prior.trait_map is not None:
            said = self.prior.expected_traits(features)[:, : self._table.said].T
        return {"said": said, "doubts": doubts}

    def numbers_of(self, ids: Iterable[Hashable]) -> PersonNumbers:
        """The number of each; -1 of whoever is not in the index."""
        return self._ids.numbers_or_none(ids)

    def ids_of(self, numbers: PersonNumbers) -> list[Hashable]:
        """The identifiers of people, by their numbers in this index."""
        return self._ids.ids(numbers.tolist())

    @property
    def ids_and_numbers(self) -> IdNumbers:
        return self._ids

    def save(self, folder: Path | str, more_about: Mapping[str, Any] = {}, arrays: Mapping[str, Array] = {}) -> None:
        """Write the index to a folder, replacing what was there as a whole. More can be saved with it (see `storage.write`)."""
        about = {
            "tags": len(self._tag_coordinates),
            "features": len(self._feature_coordinates),
            "vocabulary": [self.vocabulary.version, [[n.name, n.is_tag, n.retired, n.kinds] for n in self.vocabulary.terms]],
            "schema": [list(self.schema.kinds), self.schema.minimum_age, self.schema.age_required],
            "learner": repr(self.learner),
            **more_about,
        }
        with self._lock.reading():
            storage.write(Path(folder), self._table, self._ids, self.prior.to_bytes(), about, arrays)

    @classmethod
    def open(cls, folder: Path | str, learner: Learner) -> CandidateIndex:
        """The index that was saved in a folder. Its files are memory-mapped, so it opens at once, and they are never changed."""
        try:
            return cls.opened(folder, learner)[0]
        except Damaged as damage:
            raise InvalidInput(
                "folder", f"{folder}: is not a saved index, or a damaged one ({damage}); build it anew"
            ) from damage

    @classmethod
    def opened(cls, folder: Path | str, learner: Learner) -> tuple[CandidateIndex, dict[str, Any], dict[str, Array]]:
        """The index that was saved in a folder, and what else was saved with it. Raises Damaged."""
        table, ids, prior, about, arrays = storage.read(Path(folder))
        if about["learner"] != repr(learner):
            raise InvalidInput("learner", f"the index was saved for {about['learner']}, not for {learner}")
        version, names = about["vocabulary"]
        all_kinds, *ages = about["schema"]
        vocabulary = Vocabulary(tuple(Term(name, is_tag, gone, tuple(kinds)) for name, is_tag, gone, kinds in names), version)
        index = cls(vocabulary, learner, prior=Prior.from_bytes(prior), schema=Schema(tuple(all_kinds), *ages))
        index._table, index._ids = table, ids
        return index, about, arrays

    def _view(self) -> IndexView:
        return IndexView(self._table, self._ids, self.schema, self._tag_coordinates, self._feature_coordinates)

    def _checked(self, candidates: FilterColumns, features: Matrix) -> Matrix:
        if features.shape != (len(candidates), self.vocabulary.dimensions):
            wanted = f"{len(candidates)} x {self.vocabulary.dimensions}"
            raise InvalidInput("features", f"must be {wanted}, one row per person and one value per term, got {features.shape}")
        bad = np.flatnonzero(~usable_rows(features))
        if bad.size:
            raise InvalidInput("features", f"{candidates.ids[bad[0]]!r}: {problem_with(features[bad[0]])}")
        row, place = np.nonzero(np.abs(features) > _MAX_FEATURE)
        if row.size:
            name = self.vocabulary.terms[place[0]].name
            raise InvalidInput("features", f"{candidates.ids[row[0]]!r}: {name!r} must be within ±{_MAX_FEATURE:g}; rescale it")
        tags = features[:, self._tag_coordinates]
        row, tag = np.nonzero((tags != 0.0) & (tags != 1.0))
        if row.size:
            name = self.vocabulary.terms[self._tag_coordinates[tag[0]]].name
            raise InvalidInput("features", f"{candidates.ids[row[0]]!r}: tag {name!r} must be 0 or 1, got {tags[row[0], tag[0]]}")
        return features


_FIRST_LEARNED = IndexColumns._fields.index("said")  # columns from here on are learned, not part of the profile


def _coordinates(vocabulary: Vocabulary, *, is_tag: bool) -> NDArray[np.int64]:
    """The coordinates of tags, or of features."""
    return np.array([place for place, term in enumerate(vocabulary.terms) if term.is_tag is is_tag], np.int64)
