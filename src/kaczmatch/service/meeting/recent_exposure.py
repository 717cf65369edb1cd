"""How often people were shown of late, read from the store when a process starts."""

from __future__ import annotations

from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.service.domain.appearances import exposure_counts
from kaczmatch.service.domain.context import Context


def recent_exposure(context: Context, index: CandidateIndex) -> Exposure:
    """Of the people in an index. From then on a process counts the decks it deals, which are a fair sample of all."""
    exposure = Exposure(cap=context.config.exposure_cap)
    with context.store.read() as reader:
        for counts, at in exposure_counts(reader):
            people = reader.people_with(counts)
            exposure.add({person: counts[number] for number, person in people.items() if person in index}, at)
    return exposure
