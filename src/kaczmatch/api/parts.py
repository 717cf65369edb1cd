"""What the routes work with: the use cases, put together by whoever starts the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from fastapi import Request

from kaczmatch.service.access.credentials import Credentials
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.matches import Matching
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.ranking import CandidateRanking
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swiping
from kaczmatch.service.meeting.undo import Undoing
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.privacy.erasure import Erasure


def _nothing() -> str:
    return ""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The use cases over one store and one world."""

    context: Context
    world: ServingIndex
    access: Credentials
    people: Profiles
    swiping: Swiping
    undoing: Undoing
    decks: Decks
    matching: Matching
    safety: Safety
    ranking: CandidateRanking
    preferences: Preferences
    models: Models
    erasing: Erasure
    operating: OperatorActions
    feed: Feed
    unready: Callable[[], str] = _nothing  # why requests cannot be served yet; empty: they can
    ailing: Callable[[], str] = _nothing  # why another process should be asked instead; empty: all is well
    loopback_keys: frozenset[str] = frozenset()  # keys that this machine alone may use

    @classmethod
    def of(
        cls,
        context: Context,
        world: ServingIndex,
        access: Credentials,
        fresh_rng: Callable[[], np.random.Generator],
        scrubbing: Scrubbing,
        *,
        unready: Callable[[], str] = _nothing,
        ailing: Callable[[], str] = _nothing,
        loopback_keys: frozenset[str] = frozenset(),
    ) -> Parts:
        return cls(
            context,
            world,
            access,
            Profiles(context),
            Swiping(context),
            Undoing(context),
            Decks(context, world, fresh_rng),
            Matching(context),
            Safety(context),
            CandidateRanking(context, fresh_rng),
            Preferences(context),
            Models(context),
            Erasure(context, scrubbing, access.farewells),
            OperatorActions(context),
            Feed(context),
            unready,
            ailing,
            loopback_keys,
        )


def parts(request: Request) -> Parts:
    found: Parts = request.app.state.parts
    return found
