"""Who is eligible for a viewer at a moment, and who would be without the cooldown (paper, section 6.4)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index.membership import Bits, PersonNumbers, is_in
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.index.view import IndexView, SearchFilter, SearchResult
from kaczmatch.recommend.people.profile import Profile

COOLDOWN = timedelta(days=14)

_NOBODY: PersonNumbers = np.empty(0, np.int32)


@final
@dataclass(frozen=True, slots=True, eq=False)
class EligiblePeople:
    """Who is eligible for one viewer at one moment, by numbers of the index.

    People `in_cooldown` pass every filter but were met too recently; they are sorted by time, the longest ago first. People who
    are `excluded` are left out of every result: the viewer, blocked people and people in cooldown.
    """

    view: IndexView
    profile: Profile
    day: date
    filter: SearchFilter
    in_cooldown: PersonNumbers
    excluded: PersonNumbers
    excluded_passing: int  # how many of `excluded` pass the profiles' filters, to correct counts that include them

    @classmethod
    def of(
        cls,
        view: IndexView,
        profile: Profile,
        now: datetime,
        blocked: Collection[Hashable],
        recent: Mapping[Hashable, datetime],
        cooldown: timedelta,
    ) -> EligiblePeople:
        day = now.astimezone(UTC).date()
        search_filter = view.search_filter(profile, day)
        never = view.numbers({profile.id, *blocked})
        cooling = view.numbers(in_cooldown(recent, now, cooldown))
        if len(cooling):
            cooling = cooling[~is_in(cooling, never)]
        excluded = np.concatenate([never, cooling]) if len(cooling) else never
        passing = view.passing(search_filter, excluded)
        return cls(view, profile, day, search_filter, cooling[passing[len(never) :]], excluded, int(np.count_nonzero(passing)))

    def everybody(self) -> PersonNumbers:
        return self._without_excluded(self.view.everybody(self.filter))

    def everybody_for(self, profile: Profile) -> PersonNumbers:
        """Who would be eligible for a viewer with another profile."""
        return self._without_excluded(self.view.everybody(self.view.search_filter(profile, self.day)))

    def search(
        self, weights: ViewerWeights, want: int, last: Bits, rng: np.random.Generator
    ) -> tuple[PersonNumbers, SearchResult]:
        """About the `want` best people, those in `last` after all others; and the result, which includes excluded people."""
        found = self.view.search(self.filter, weights, want + len(self.excluded), rng, last)
        return self._without_excluded(found.best)[:want], found

    def count(self, found: SearchResult) -> int:
        return found.size - self.excluded_passing

    def eligible_among(self, ids: Collection[Hashable]) -> PersonNumbers:
        """The people in `ids` who are eligible."""
        numbers = self._without_excluded(self.view.numbers(set(ids)))
        return numbers[self.view.passing(self.filter, numbers)]

    def uniform_sample(self, found: SearchResult, count: int, rng: np.random.Generator) -> PersonNumbers:
        """A uniform sample of the eligible people, without replacement."""
        count = min(count, self.count(found))
        if count <= 0:
            return _NOBODY
        # Draw a few more, because some are excluded; draw all where that was not enough.
        more = count + 8 + 2 * count * self.excluded_passing // found.size
        for tries in (more, found.size):
            ranks = rng.choice(found.size, min(tries, found.size), replace=False)
            sample = self._without_excluded(self.view.at_ranks(found, ranks))
            if len(sample) >= count:
                break
        return sample[:count]

    def _without_excluded(self, numbers: PersonNumbers) -> PersonNumbers:
        return numbers[~is_in(numbers, self.excluded)]


def in_cooldown(recent: Mapping[Hashable, datetime], now: datetime, period: timedelta = COOLDOWN) -> list[Hashable]:
    """People whose last interaction is less than `period` ago, the longest ago first. Exactly `period` ago is long enough.

    A time in the future counts as now: a wrong clock does not shorten the cooldown.
    """
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidInput("now", f"must be a time with its zone, such as datetime.now(UTC), got {now!r}")
    cooling = []
    for identifier, at in recent.items():
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("recent", f"{identifier!r}: must be a time with its zone, got {at!r}")
        if now - at < period:
            cooling.append((at, identifier))
    cooling.sort(key=itemgetter(0))  # equal times stay in the order they came in
    return [identifier for _, identifier in cooling]
