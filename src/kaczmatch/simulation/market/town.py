"""Everybody in a market, and whom each of them truly likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.vocabulary import Vocabulary

Pairs = NDArray[np.bool_]

START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY: Final = START.date()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Town:
    """One seed of a population, with all that is random drawn once: every policy meets the same people and the same answers.

    The identifier of a profile is its place. A swipe says what its user feels, but for the careless ones; whoever is asked
    twice says the same.
    """

    seed: int
    vocabulary: Vocabulary
    profiles: Sequence[Profile]
    likes: Pairs  # viewers x candidates: what they feel
    says: Pairs  # viewers x candidates: what they would swipe

    def __len__(self) -> int:
        return len(self.profiles)

    @property
    def possible(self) -> Pairs:
        """Pairs that could come of it: they may meet, like each other and would say so."""
        good = self.likes & self.says & compatible(self.profiles)
        return np.asarray(good & good.T)


def compatible(profiles: Sequence[Profile]) -> Pairs:
    """Viewers x candidates: who may be shown to whom at the start, by the readable filters."""
    candidates = FilterColumns.from_profiles(profiles, profiles[0].schema)
    return np.array([passes_all_filters(profile, candidates, DAY) for profile in profiles])
