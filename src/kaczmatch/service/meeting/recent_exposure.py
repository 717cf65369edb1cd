"""How often people were shown of late, read from the store when a process starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.service.domain.appearances import counts_since, exposure_counts
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.store import Reader

UNDER_WAY: Final = timedelta(minutes=2)  # a deck comes to the store a minute after its time at the latest


def recent_exposure(context: Context, index: CandidateIndex) -> tuple[Exposure, datetime]:
    """Of the people in an index, by all decks up to a moment, which is told. No deck of before can come any more."""
    exposure, until = Exposure(cap=context.config.exposure_cap, index_ids=index.ids_and_numbers), context.clock() - UNDER_WAY
    with context.store.read() as reader:
        _count(exposure, reader, exposure_counts(reader, until))
    return exposure, until


def count_decks(context: Context, exposure: Exposure, since: datetime, until: datetime | None = None) -> None:
    """Add decks after a moment. From then on a process counts the decks it deals, which are a fair sample of all."""
    with context.store.read() as reader:
        _count(exposure, reader, counts_since(reader, since, until))


def _count(exposure: Exposure, reader: Reader, counted: Iterable[tuple[Mapping[int, float], datetime]]) -> None:
    for counts, at in counted:
        people = reader.people_with(counts)
        exposure.add({person: counts[number] for number, person in people.items()}, at)
