"""How often people were shown of late, read from the store when a process starts."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Impression

_AT_ONCE: Final = 1_000


def recent_exposure(context: Context, index: CandidateIndex) -> Exposure:
    """Of the people in an index. From then on a process counts the decks it deals, which are a fair sample of all."""
    exposure = Exposure(cap=context.config.exposure_cap)
    after: tuple[object, ...] = (context.clock() - timedelta(days=14),)
    while True:
        with context.store.read() as reader:
            page = reader.find(Impression, after=after, limit=_AT_ONCE)
        if not page:
            return exposure
        for card in page:
            if card.candidate in index:
                exposure.record([card.candidate], card.at)
        after = tuple(getattr(page[-1], name) for name in Impression.listed_by())
