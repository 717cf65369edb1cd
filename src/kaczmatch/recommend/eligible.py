"""Who may be shown to somebody right now, and who could be if the cooldown were relaxed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import final

import numpy as np

from kaczmatch.recommend.cooldown import cooling
from kaczmatch.recommend.index.membership import Bits, Numbers, among
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.index.view import IndexView, SearchFilter, SearchResult
from kaczmatch.recommend.profile import Profile

_NOBODY: Numbers = np.empty(0, np.int32)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Eligible:
    """The filters' answer for one viewer at one moment, by numbers of the index.

    `cooled` pass every filter but were met too recently, longest ago first; `away` are to be left out of whatever is found:
    the viewer, the blocked and the recently met.
    """

    view: IndexView
    profile: Profile
    day: date
    sought: SearchFilter
    cooled: Numbers
    away: Numbers
    passing_away: int  # how many of `away` pass the profiles' filters, so that a count of all can be corrected

    @classmethod
    def of(
        cls,
        view: IndexView,
        profile: Profile,
        now: datetime,
        blocked: Collection[Hashable],
        recent: Mapping[Hashable, datetime],
        cooldown: timedelta,
    ) -> Eligible:
        day = now.astimezone(UTC).date()
        sought = view.sought(profile, day)
        never = view.numbers({profile.id, *blocked})
        met = view.numbers(cooling(recent, now, cooldown))
        if len(met):
            met = met[~among(met, never)]
        away = np.concatenate([never, met]) if len(met) else never
        passing = view.passing(sought, away)
        return cls(view, profile, day, sought, met[passing[len(never) :]], away, int(np.count_nonzero(passing)))

    def everybody(self) -> Numbers:
        return self._here(self.view.everybody(self.sought))

    def everybody_with(self, profile: Profile) -> Numbers:
        """Who could be shown to somebody with another profile."""
        return self._here(self.view.everybody(self.view.sought(profile, self.day)))

    def search(self, lens: ViewerWeights, want: int, last: Bits, rng: np.random.Generator) -> tuple[Numbers, SearchResult]:
        """About the best `want`, of whom some come `last`; and all who pass the filters, those to be left out among them."""
        found = self.view.search(self.sought, lens, want + len(self.away), rng, last)
        return self._here(found.best)[:want], found

    def count(self, found: SearchResult) -> int:
        return found.size - self.passing_away

    def of_these(self, ids: Collection[Hashable]) -> Numbers:
        """Those of some people who may be shown."""
        numbers = self._here(self.view.numbers(set(ids)))
        return numbers[self.view.passing(self.sought, numbers)]

    def at_random(self, found: SearchResult, count: int, rng: np.random.Generator) -> Numbers:
        """Some of all who may be shown, each alike."""
        count = min(count, self.count(found))
        if count <= 0:
            return _NOBODY
        # A few more than that, since some will be left out; all of them where that was not enough.
        more = count + 8 + 2 * count * self.passing_away // found.size
        for tries in (more, found.size):
            ranks = rng.choice(found.size, min(tries, found.size), replace=False)
            picked = self._here(self.view.pick(found, ranks))
            if len(picked) >= count:
                break
        return picked[:count]

    def _here(self, numbers: Numbers) -> Numbers:
        return numbers[~among(numbers, self.away)]
