"""Which model and which vocabulary are active. All processes agree on it through one record; the others are written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.moments import microsecond
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.logs.fold import EventFold
from kaczmatch.learners.population.population_fit import without_traits
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import learner
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.records import SINGLE_ROW, ActiveVersions, Model, StoredPrior, StoredVocabulary
from kaczmatch.service.domain.store import Reader, RecordKey, Store

BUILDING, IN_USE, RETIRED, REJECTED = "building", "in use", "retired", "rejected"  # what a `Model` can be
ACTIVE_VERSIONS: RecordKey = (ActiveVersions, (SINGLE_ROW,))
# A setting of a model beside those of its learner. A stored model without it was learned from every answer.
FIRST_ANSWERS_ONLY: Final = "first_answers_only"
TRAIT_HALF_LIFE_DAYS: Final = "trait_half_life_days"  # of a model with traits, from the settings when it was made


@final
class Catalogue:
    """Models and vocabularies by their numbers. They are written once, so those that are committed are read once and kept.

    A work may see one whose commit fails, and its number is given again. So what a work misses here it reads from its own
    transaction and does not keep; it is read and kept before the next work (`keep_up`).
    """

    def __init__(self) -> None:
        self._folds: dict[int, ModelFold] = {}
        self._vocabularies: dict[int, Vocabulary] = {}
        self.last: ActiveVersions | None = None  # that was seen active, for prefetching
        self._missed = True

    def current(self, reader: Reader) -> ActiveVersions:
        current = reader.get(ActiveVersions, SINGLE_ROW)
        if current is None:
            raise RuntimeError("the store has not been set up: there is no model in it")
        if reader.committed:
            self.last = current
            if len(self._vocabularies) < current.vocabulary:  # a fold meets all versions that were in use
                for version in range(1, current.vocabulary + 1):
                    self.vocabulary(reader, version)
        return current

    def keep_up(self, store: Store) -> None:
        """Read what works have missed. It is called before a work, not in it."""
        if self._missed:
            self._missed = False
            with store.read() as reader:
                current = self.current(reader)
                for model in filter(None, (current.model, current.building, current.previous)):
                    self.fold(reader, model)

    def vocabulary(self, reader: Reader, version: int) -> Vocabulary:
        known = self._vocabularies.get(version)
        if known is None:
            self._missed = self._missed or not reader.committed
            stored = reader.get(StoredVocabulary, version)
            if stored is None:
                raise RuntimeError(f"there is no vocabulary of version {version} in the store")
            terms = tuple(Term(name, is_tag, gone, tuple(kinds)) for name, is_tag, gone, kinds in json.loads(stored.terms))
            known = Vocabulary(terms, version)
            if reader.committed:
                self._vocabularies[version] = known
        return known

    def fold(self, reader: Reader, model: int) -> ModelFold:
        known = self._folds.get(model)
        if known is None:
            self._missed = self._missed or not reader.committed
            known = _fold_of(reader, model, self._dimensions_of)
            if reader.committed:
                self._folds[model] = known
        return known if reader.committed else replace(known, dimensions_of=partial(self._dimensions_in, reader))

    def has_traits(self, model: int) -> bool:
        """Whether a model that was used before has them."""
        return model in self._folds and self._folds[model].traits is not None

    def _dimensions_of(self, version: int) -> int:
        return self._vocabularies[version].dimensions if version else 0

    def _dimensions_in(self, reader: Reader, version: int) -> int:
        return self.vocabulary(reader, version).dimensions if version else 0


def _fold_of(reader: Reader, model: int, dimensions_of: Callable[[int], int]) -> ModelFold:
    found = reader.get(Model, model)
    prior = None if found is None else reader.get(StoredPrior, found.prior)
    if found is None or prior is None:
        raise RuntimeError(f"there is no model {model} in the store, or not its prior")
    settings = json.loads(found.settings)
    start, once = Prior.from_bytes(prior.data), bool(settings.get(FIRST_ANSWERS_ONLY, False))
    rule, traits = learner_from(start, found.learner, settings), None
    if isinstance(rule, ProbitTraits):
        half_life = settings[TRAIT_HALF_LIFE_DAYS]
        traits = TraitModel(learner=rule, prior=start, half_life_days=half_life, reference=microsecond(found.created))
    return ModelFold(model, EventFold(rule, start), dimensions_of, once, traits)


def terms_json(vocabulary: Vocabulary) -> str:
    """The terms as `StoredVocabulary` keeps them."""
    return json.dumps([[term.name, term.is_tag, term.retired, term.kinds] for term in vocabulary.terms])


def neutral_prior(rule: Learner, dimensions: int) -> Prior:
    """Where nobody is known to like or dislike anything: no tag counts, and a like is as likely as a pass.

    A weight of one for every tag, the paper's start, expects profiles with half of all tags; real ones have a few, and would all
    fall below its threshold. Rules without a threshold of their own need a direction to start in, and keep it.
    """
    if not isinstance(rule, ProbabilisticLearner):
        return Prior.ones(dimensions)
    return Prior(np.zeros(dimensions), f"neutral-{dimensions}", threshold=0.0)


def model_learner(slug: str, settings: Mapping[str, Any]) -> Learner:
    """The learner of a model's settings."""
    if not isinstance(settings.get(FIRST_ANSWERS_ONLY, True), bool):
        raise InvalidInput(FIRST_ANSWERS_ONLY, f"must be true or false, got {settings[FIRST_ANSWERS_ONLY]!r}")
    own = (FIRST_ANSWERS_ONLY, TRAIT_HALF_LIFE_DAYS)
    rule = learner(slug, **{name: value for name, value in settings.items() if name not in own})
    if isinstance(rule, ProbitTraits) and not settings.get(FIRST_ANSWERS_ONLY, True):
        raise InvalidInput(FIRST_ANSWERS_ONLY, "must be true for probit-traits: a second answer says nothing new of a candidate")
    return rule


def learner_from(prior: Prior, slug: str, settings: Mapping[str, Any]) -> Learner:
    """The learner of a model that starts from a prior. With `probit-traits` it is the prior that has traits, or not."""
    rule = model_learner(slug, settings)
    return without_traits(rule) if isinstance(rule, ProbitTraits) and not prior.traits.size else rule


def model_record(
    number: int, slug: str, settings: Mapping[str, Any], prior: Prior, status: str, created: datetime, half_life_days: float
) -> Model:
    """A new model counts an answer to somebody once, unless its settings say otherwise."""
    rule = model_learner(slug, settings)  # refuses what it cannot be made from
    ageing = {TRAIT_HALF_LIFE_DAYS: half_life_days} if isinstance(rule, ProbitTraits) else {}
    return Model(
        id=number,
        learner=slug,
        settings=json.dumps({FIRST_ANSWERS_ONLY: True, **settings, **ageing}, sort_keys=True),
        prior=prior.version,
        status=status,
        created=created,
    )
