"""Who may be shown to somebody right now, and who could be if the cooldown were relaxed."""

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
    """The filters' answer for one viewer at one moment, by numbers of the index.

    `cooled` pass every filter but were met too recently, longest ago first; `away` are to be left out of whatever is found:
    the viewer, the blocked and the recently met.
    """

    view: IndexView
    profile: Profile
    day: date
    filter: SearchFilter
    in_cooldown: PersonNumbers
    excluded: PersonNumbers
    excluded_passing: int  # how many of `away` pass the profiles' filters, so that a count of all can be corrected

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
        sought = view.search_filter(profile, day)
        never = view.numbers({profile.id, *blocked})
        met = view.numbers(in_cooldown(recent, now, cooldown))
        if len(met):
            met = met[~is_in(met, never)]
        away = np.concatenate([never, met]) if len(met) else never
        passing = view.passing(sought, away)
        return cls(view, profile, day, sought, met[passing[len(never) :]], away, int(np.count_nonzero(passing)))

    def everybody(self) -> PersonNumbers:
        return self._without_excluded(self.view.everybody(self.filter))

    def everybody_for(self, profile: Profile) -> PersonNumbers:
        """Who could be shown to somebody with another profile."""
        return self._without_excluded(self.view.everybody(self.view.search_filter(profile, self.day)))

    def search(
        self, weights: ViewerWeights, want: int, last: Bits, rng: np.random.Generator
    ) -> tuple[PersonNumbers, SearchResult]:
        """About the best `want`, of whom some come `last`; and all who pass the filters, those to be left out among them."""
        found = self.view.search(self.filter, weights, want + len(self.excluded), rng, last)
        return self._without_excluded(found.best)[:want], found

    def count(self, found: SearchResult) -> int:
        return found.size - self.excluded_passing

    def eligible_among(self, ids: Collection[Hashable]) -> PersonNumbers:
        """Those of some people who may be shown."""
        numbers = self._without_excluded(self.view.numbers(set(ids)))
        return numbers[self.view.passing(self.filter, numbers)]

    def uniform_sample(self, found: SearchResult, count: int, rng: np.random.Generator) -> PersonNumbers:
        """Some of all who may be shown, each alike."""
        count = min(count, self.count(found))
        if count <= 0:
            return _NOBODY
        # A few more than that, since some will be left out; all of them where that was not enough.
        more = count + 8 + 2 * count * self.excluded_passing // found.size
        for tries in (more, found.size):
            ranks = rng.choice(found.size, min(tries, found.size), replace=False)
            picked = self._without_excluded(self.view.at_ranks(found, ranks))
            if len(picked) >= count:
                break
        return picked[:count]

    def _without_excluded(self, numbers: PersonNumbers) -> PersonNumbers:
        return numbers[~is_in(numbers, self.excluded)]


def in_cooldown(recent: Mapping[Hashable, datetime], now: datetime, period: timedelta = COOLDOWN) -> list[Hashable]:
    """Whose last interaction is less than `period` ago, longest ago first; exactly `period` ago is long enough.

    A time that lies in the future counts as now: a wrong clock does not shorten the wait.
    """
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidInput("now", f"must be a time with its zone, such as datetime.now(UTC), got {now!r}")
    still = []
    for identifier, at in recent.items():
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("recent", f"{identifier!r}: must be a time with its zone, got {at!r}")
        if now - at < period:
            still.append((at, identifier))
    still.sort(key=itemgetter(0))  # equal times stay in the order they came in
    return [identifier for _, identifier in still]
