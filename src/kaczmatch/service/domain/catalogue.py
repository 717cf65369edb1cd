"""Which model and which vocabulary are in use: all processes agree on it through one record, and the rest is written once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import learner
from kaczmatch.recommend.vocabulary import Term, Vocabulary
from kaczmatch.service.domain.folding import EventFold
from kaczmatch.service.domain.records import Fact, Model, StoredPrior, StoredVocabulary
from kaczmatch.service.domain.store import Reader, RecordKey, Transaction

_FACT = "current"


@final
@dataclass(frozen=True, slots=True)
class ActiveVersions:
    """What is in use: a model, the one being built (0: none), and the version of the vocabulary."""

    model: int
    building: int
    vocabulary: int

    @classmethod
    def read(cls, reader: Reader) -> ActiveVersions | None:
        fact = reader.get(Fact, _FACT)
        return None if fact is None else cls(**json.loads(fact.value))

    def write(self, transaction: Transaction) -> None:
        transaction.put(Fact(name=_FACT, value=json.dumps(asdict(self))))


ACTIVE_VERSIONS: RecordKey = (Fact, (_FACT,))


@final
class Catalogue:
    """Models and vocabularies by their numbers, read once each; and what was last seen in use, for reading ahead."""

    def __init__(self) -> None:
        self._folds: dict[int, EventFold] = {}
        self._vocabularies: dict[int, Vocabulary] = {}
        self._facts: dict[str, ActiveVersions] = {}
        self.last: ActiveVersions | None = None

    def current(self, reader: Reader) -> ActiveVersions:
        fact = reader.get(Fact, _FACT)
        if fact is None:
            raise RuntimeError("the store has not been set up: there is no model in it")
        current = self._facts.get(fact.value)
        if current is None:
            current = self._facts[fact.value] = ActiveVersions(**json.loads(fact.value))
        self.last = current
        for version in range(len(self._vocabularies) + 1, current.vocabulary + 1):  # a fold meets all that were in use
            self.vocabulary(reader, version)
        return current

    def vocabulary(self, reader: Reader, version: int) -> Vocabulary:
        if version not in self._vocabularies:
            words = reader.get(StoredVocabulary, version)
            if words is None:
                raise RuntimeError(f"there is no vocabulary of version {version} in the store")
            self._vocabularies[version] = Vocabulary(tuple(Term(*name) for name in json.loads(words.terms)), version)
        return self._vocabularies[version]

    def fold(self, reader: Reader, model: int) -> EventFold:
        if model not in self._folds:
            found = reader.get(Model, model)
            prior = None if found is None else reader.get(StoredPrior, found.prior)
            if found is None or prior is None:
                raise RuntimeError(f"there is no model {model} in the store, or not its prior")
            rule = learner(found.learner, **json.loads(found.settings))
            self._folds[model] = EventFold(model, rule, Prior.from_bytes(prior.data), self._names)
        return self._folds[model]

    def _names(self, version: int) -> int:
        return self._vocabularies[version].dimensions if version else 0


def stored(vocabulary: Vocabulary) -> str:
    return json.dumps([[name.name, name.is_tag, name.retired] for name in vocabulary.terms])


def neutral_prior(rule: Learner, dimensions: int) -> Prior:
    """Where nobody is known to like or dislike anything: no tag counts, and a like is as likely as a pass.

    A weight of one for every tag, the paper's start, expects profiles with half of all tags; real ones have a few, and would all
    fall below its threshold. Rules without a threshold of their own need a direction to start in, and keep it.
    """
    if not isinstance(rule, ProbabilisticLearner):
        return Prior.ones(dimensions)
    return Prior(np.zeros(dimensions), f"neutral-{dimensions}", threshold=0.0)


def model_record(number: int, slug: str, settings: Mapping[str, Any], prior: Prior, status: str, created: Any) -> Model:
    learner(slug, **settings)  # refuses what it cannot be made from
    return Model(
        id=number,
        learner=slug,
        settings=json.dumps(dict(settings), sort_keys=True),
        prior=prior.version,
        status=status,
        created=created,
    )
