"""What others said of people, as learners take it: appeal, or traits and their doubts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.appeal import appeal_to
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.records import Person, PersonCounters
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.traits import people_traits
from kaczmatch.service.meeting.profile_features import features_of


def others_said(
    reader: Reader, context: Context, fold: ModelFold, vocabulary: Vocabulary, people: Sequence[Person], now: datetime
) -> Vector | Matrix:
    """One number or row per person, from all that was said of them."""
    ids = [person.id for person in people]
    if fold.traits is not None and people:
        return people_traits(reader, fold, ids, np.array([features_of(person, vocabulary) for person in people]), now)
    return appeals(reader, context, ids, now)


def appeals(reader: Reader, context: Context, people: Sequence[str], now: datetime) -> Vector:
    """One number per person, from all that was said of them."""
    counters = reader.many(PersonCounters, [(user,) for user in people])
    nothing, how = PersonCounters(user=""), context.config.appeal
    return np.array([appeal_to(counters.get((user,), nothing), None, now, how) for user in people])
