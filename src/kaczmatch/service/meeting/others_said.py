"""What others said of people, as learners take it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from kaczmatch.core.swipes import appeal_rows
from kaczmatch.core.vectors import Matrix
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
) -> Matrix:
    """A row per person, from all that was said of them."""
    ids = [person.id for person in people]
    if fold.traits is not None and people:
        return people_traits(reader, fold, ids, np.array([features_of(person, vocabulary) for person in people]), now)
    return said_as_appeal(reader, context, ids, now)


def said_as_appeal(reader: Reader, context: Context, people: Sequence[str], now: datetime) -> Matrix:
    """A row per person, from all that was said of them."""
    counters = reader.many(PersonCounters, [(user,) for user in people])
    nothing, how = PersonCounters(user=""), context.config.appeal
    return appeal_rows([appeal_to(counters.get((user,), nothing), None, now, how) for user in people])
