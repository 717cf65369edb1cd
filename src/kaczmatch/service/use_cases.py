"""Every use case of the service over one store and one serving index, put together in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import final

import numpy as np

from kaczmatch.service.access.credentials import Credentials
from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.meeting.daily_picks import DailyPicks
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.matches import Matches
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.ranking import CandidateRanking
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipes
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.service.privacy.personal_data import PersonalData


@final
@dataclass(frozen=True, slots=True, eq=False)
class UseCases:
    """What the HTTP API, the demo and background jobs call."""

    context: Context
    serving_index: ServingIndex
    credentials: Credentials
    profiles: Profiles
    swipes: Swipes
    undo: Undo
    decks: Decks
    daily_picks: DailyPicks
    matches: Matches
    safety: Safety
    ranking: CandidateRanking
    preferences: Preferences
    models: Models
    erasure: Erasure
    personal_data: PersonalData
    answers: AnswerCache
    operators: OperatorActions
    feed: Feed

    @classmethod
    def over(
        cls,
        serving_index: ServingIndex,
        credentials: Credentials,
        scrubbing: Scrubbing,
        fresh_rng: Callable[[], np.random.Generator],
        record_erasure: Callable[[str, datetime], None],
    ) -> UseCases:
        """All of them over the store of a serving index. `fresh_rng` makes a generator per deck."""
        context, answers = serving_index.context, AnswerCache()
        serving_index.when_erased(answers.clear)
        decks = Decks(context, serving_index, fresh_rng)
        return cls(
            context=context,
            serving_index=serving_index,
            credentials=credentials,
            profiles=Profiles(context),
            swipes=Swipes(context),
            undo=Undo(context),
            decks=decks,
            daily_picks=DailyPicks(context, decks),
            matches=Matches(context),
            safety=Safety(context, credentials.erased_tokens),
            ranking=CandidateRanking(context, fresh_rng),
            preferences=Preferences(context),
            models=Models(context),
            erasure=Erasure(context, scrubbing, credentials.erased_tokens, record_erasure),
            personal_data=PersonalData(context, answers),
            answers=answers,
            operators=OperatorActions(context),
            feed=Feed(context),
        )
