"""Everybody who can be shown: put in, changed and taken out in place, read by many threads at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import check_appeal
from kaczmatch.core.vectors import Matrix, as_matrix, as_vector, problem_with, usable_rows
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.recommend.filters import CandidateColumns
from kaczmatch.recommend.index import storage
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import DTYPES, IndexColumns, packed
from kaczmatch.recommend.index.compact_state import CompactState, lens, typical_spread
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.read_write_lock import ReadWriteLock
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.index.view import IndexView
from kaczmatch.recommend.profile import Profile
from kaczmatch.recommend.schema import DATING, Schema
from kaczmatch.recommend.viewer import Viewer
from kaczmatch.recommend.vocabulary import Term, Vocabulary

_LARGEST = 1e15  # of a feature: float32 holds its square


@final
class CandidateIndex:
    """Profiles and what each person likes, ordered by (I am, birth date).

    Readers and writers are kept apart by a gate: a deck sees the index before a change or after it, never between. The
    index keeps a small image of what each person likes, to find a shortlist by; their states are the store's.
    """

    def __init__(
        self, vocabulary: Vocabulary, learner: Learner, *, prior: Prior | ArrayLike | None = None, schema: Schema = DATING
    ) -> None:
        self.vocabulary, self.learner, self.schema = vocabulary, learner, schema
        self.prior = Prior.ones(vocabulary.dimensions) if prior is None else Prior.of(prior)
        if self.prior.dimensions != vocabulary.dimensions:
            raise InvalidInput("prior", f"has {self.prior.dimensions} tags, the vocabulary {vocabulary.dimensions}")
        self._gate = ReadWriteLock()
        self._roster = IdNumbers()
        self._tag_places = np.array([i for i, name in enumerate(vocabulary.terms) if name.is_tag], np.int64)
        self._feature_places = np.array([i for i, name in enumerate(vocabulary.terms) if not name.is_tag], np.int64)
        self._table = ChunkTable(len(self._tag_places), len(self._feature_places))
        self._typical = typical_spread(learner, vocabulary)

    def __len__(self) -> int:
        return len(self._roster)

    def __contains__(self, identifier: Hashable) -> bool:
        return identifier in self._roster

    @contextmanager
    def reading(self) -> Iterator[IndexView]:
        """The index as it is now; writers wait until this is left."""
        with self._gate.reading():
            yield self._view()

    def lens(self, viewer: Viewer, ranked_by: str) -> ViewerWeights:
        """A viewer's side of a search: by a fusion of both sides, or by "forward", the viewer's alone."""
        return lens(viewer, ranked_by, self._typical, self._tag_places, self._feature_places)

    def put(self, *profiles: Profile) -> None:
        """Add people, or change them; whoever is there already keeps what they were found to like."""
        self.put_columns(CandidateColumns.of(profiles, self.schema), [profile.features for profile in profiles])

    def put_columns(self, candidates: CandidateColumns, features: ArrayLike) -> None:
        """The same for many at once, in columns; if an identifier comes twice, the last row counts."""
        if candidates.schema != self.schema:
            raise InvalidInput("schema", "the candidates belong to another schema")
        if not len(candidates):
            return
        values = self._checked(candidates, as_matrix(features, "features"))
        last = {identifier: row for row, identifier in enumerate(candidates.ids)}
        rows = _rows(candidates, values, self._tag_places, self._feature_places).taken(np.fromiter(last.values(), np.int64))
        with self._gate.writing():
            start = CompactState.of(self.learner, [self.learner.start(self.prior)] * len(last), self._typical)
            rows = rows._replace(**start.columns())
            known = [(row, number) for row, i in enumerate(last) if (number := self._roster.number(i)) is not None]
            if known:
                at, numbers = np.array(known).T
                there = self._table.rows(numbers)
                for mine, theirs in zip(rows[_KEPT:], there[_KEPT:], strict=True):
                    mine[..., at] = theirs
                for number in numbers.tolist():
                    self._table.remove(number)
            rows.who[:] = [self._roster.enter(identifier) for identifier in last]
            self._table.insert(rows)

    def remove(self, *ids: Hashable) -> None:
        """Take people out; who is not there is not missed."""
        with self._gate.writing():
            for identifier in ids:
                if identifier in self._roster:
                    self._table.remove(self._roster.leave(identifier))

    def prefer(self, states: Mapping[Hashable, State]) -> None:
        """What people were found to like by now; who is not there is passed over."""
        with self._gate.writing():
            here = [(number, state) for i, state in states.items() if (number := self._roster.number(i)) is not None]
            if not here:
                return
            for number, state in here:
                if state.learner != self.learner.slug or state.dimensions != self.vocabulary.dimensions:
                    raise InvalidInput("states", f"{self._roster.ids([number])[0]!r} has a {state}, not of this index's learner")
            places, which = self._table.all_places(np.array([number for number, _ in here]))
            outlook = CompactState.of(self.learner, [state for _, state in here], self._typical)
            self._table.change(places, {name: column[..., which] for name, column in outlook.columns().items()})

    def set_appeal(self, appeal: Mapping[Hashable, float]) -> None:
        """How others take to people by now, as log-odds."""
        with self._gate.writing():
            here = [(number, value) for i, value in appeal.items() if (number := self._roster.number(i)) is not None]
            if here:
                places, which = self._table.all_places(np.array([number for number, _ in here]))
                values = as_vector([value for _, value in here], "appeal")
                check_appeal(values)
                self._table.change(places, {"appeal": values[which]})

    def adopt(self, vocabulary: Vocabulary) -> None:
        """Go on with a later version of the vocabulary: new names are nobody's yet, retired ones nobody's any more.

        What people like is kept for the names there were; bring their grown states with `prefer`.
        """
        old = self.vocabulary
        kept = [name.is_tag for name in vocabulary.terms[: old.dimensions]]
        if vocabulary != old and (vocabulary.version <= old.version or kept != [name.is_tag for name in old.terms]):
            raise InvalidInput("vocabulary", f"version {vocabulary.version} does not continue version {old.version}")
        other = CandidateIndex(vocabulary, self.learner, prior=self.prior.grown(vocabulary.dimensions), schema=self.schema)
        with self._gate.writing():
            view = self._view()
            everybody = view.all()
            candidates, rows = view.candidates(everybody), view.rows(everybody)
            values = np.zeros((len(everybody), vocabulary.dimensions))
            values[:, : old.dimensions] = view.features(everybody)
            values[:, [i for i, name in enumerate(vocabulary.terms) if name.retired]] = 0.0
            other.put_columns(candidates, values)
            places, which = other._table.all_places(other._roster.numbers(candidates.ids))
            mean = np.zeros((vocabulary.dimensions, len(which)), np.int8)
            mean[: old.dimensions] = rows.mean[:, which]
            learned = {name: getattr(rows, name)[..., which] for name in ("appeal", "unit", "offset", "pull", "careless")}
            other._table.change(places, {**learned, "mean": mean})
            for name in ("vocabulary", "prior", "_roster", "_typical", "_tag_places", "_feature_places", "_table"):
                setattr(self, name, getattr(other, name))

    def save(self, folder: Path | str) -> None:
        """Write the index to a folder, which it replaces as a whole."""
        about = {
            "tags": len(self._tag_places),
            "features": len(self._feature_places),
            "vocabulary": [self.vocabulary.version, [[n.name, n.is_tag, n.retired] for n in self.vocabulary.terms]],
            "schema": [list(self.schema.kinds), self.schema.minimum_age],
            "learner": repr(self.learner),
        }
        with self._gate.reading():
            storage.write(Path(folder), self._table, self._roster, self.prior.to_bytes(), about)

    @classmethod
    def open(cls, folder: Path | str, learner: Learner) -> CandidateIndex:
        """The index that was saved in a folder, mapped from there: it is there at once, and the files stay as they are."""
        table, roster, prior, about = storage.read(Path(folder))
        if about["learner"] != repr(learner):
            raise InvalidInput("learner", f"the index was saved for {about['learner']}, not for {learner}")
        version, names = about["vocabulary"]
        kinds, minimum_age = about["schema"]
        vocabulary = Vocabulary(tuple(Term(*name) for name in names), version)
        index = cls(vocabulary, learner, prior=Prior.from_bytes(prior), schema=Schema(tuple(kinds), minimum_age))
        index._table, index._roster = table, roster
        return index

    def _view(self) -> IndexView:
        return IndexView(self._table, self._roster, self.schema, self._tag_places, self._feature_places)

    def _checked(self, candidates: CandidateColumns, features: Matrix) -> Matrix:
        if features.shape != (len(candidates), self.vocabulary.dimensions):
            wanted = f"{len(candidates)} x {self.vocabulary.dimensions}"
            raise InvalidInput("features", f"must be {wanted}, a row a person and a value a name, got {features.shape}")
        bad = np.flatnonzero(~usable_rows(features))
        if bad.size:
            raise InvalidInput("features", f"{candidates.ids[bad[0]]!r}: {problem_with(features[bad[0]])}")
        row, place = np.nonzero(np.abs(features) > _LARGEST)
        if row.size:
            name = self.vocabulary.terms[place[0]].name
            raise InvalidInput("features", f"{candidates.ids[row[0]]!r}: {name!r} must be within ±{_LARGEST:g}; rescale it")
        tags = features[:, self._tag_places]
        row, tag = np.nonzero((tags != 0.0) & (tags != 1.0))
        if row.size:
            name = self.vocabulary.terms[self._tag_places[tag[0]]].name
            raise InvalidInput("features", f"{candidates.ids[row[0]]!r}: tag {name!r} must be 0 or 1, got {tags[row[0], tag[0]]}")
        return features


_KEPT = IndexColumns._fields.index("appeal")  # from here on, columns are not the profile's but learned


def _rows(candidates: CandidateColumns, features: Matrix, tags: NDArray[np.int64], reals: NDArray[np.int64]) -> IndexColumns:
    """Profiles as rows of the index, with nothing learned yet."""
    n = len(candidates)
    squared = np.einsum("ij,ij->i", features, features)
    inverse = np.divide(1.0, np.sqrt(squared), out=np.zeros(n), where=squared > 0.0)
    rows = {name: np.zeros(n, kind) for name, kind in DTYPES.items()}
    for name in ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "reach"):
        rows[name] = getattr(candidates, name)
    rows["tags"] = packed(features[:, tags] > 0.0)
    rows["features"] = features[:, reals].T.astype(np.float32)
    rows["inverse_norm"] = inverse.astype(np.float32)
    rows["mean"] = np.zeros((features.shape[1], n), np.int8)
    return IndexColumns(**rows)
