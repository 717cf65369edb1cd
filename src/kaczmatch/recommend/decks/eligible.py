"""Who is eligible for a viewer at a moment, who rests after being met (paper, section 6.4), and who may come again."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.index.membership import Bits, PersonNumbers, is_in, to_bits
from kaczmatch.recommend.index.search_kernel import ViewerWeights
from kaczmatch.recommend.index.view import IndexView, SearchFilter, SearchResult
from kaczmatch.recommend.people.profile import Profile

COOLDOWN = timedelta(days=14)

_NOBODY: PersonNumbers = np.empty(0, np.int32)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a viewer has answered so far. Whoever was answered is not new any more.

    People whose like is open never come back. People who were passed come back after the cooldown, as repeats, where those are
    allowed. A skip is no answer: after the cooldown its person is new again.
    """

    liked: Collection[Hashable] = ()
    passed: Mapping[Hashable, datetime] = field(default_factory=dict)
    skipped: Mapping[Hashable, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.liked, str):
            raise InvalidInput("liked", f"must be a collection of identifiers, got the text {self.liked!r}")


@final
@dataclass(frozen=True, slots=True, eq=False)
class EligiblePeople:
    """Who is eligible for one viewer at one moment, by numbers of the index.

    People `in_cooldown` pass every filter but were met too recently. `repeats` were passed, and their cooldown is over. Both are
    sorted by time, the longest ago first. People who are `excluded` are left out of every result: the viewer, blocked people,
    everybody whom the viewer has answered, and people in cooldown.
    """

    view: IndexView
    profile: Profile
    day: date
    filter: SearchFilter
    answers: Answers
    in_cooldown: PersonNumbers
    repeats: PersonNumbers
    excluded: PersonNumbers
    excluded_passing: int  # how many of `excluded` pass the profiles' filters, to correct counts that include them

    @classmethod
    def of(
        cls,
        view: IndexView,
        profile: Profile,
        now: datetime,
        blocked: Collection[Hashable],
        answers: Answers,
        cooldown: timedelta,
    ) -> EligiblePeople:
        day = now.astimezone(UTC).date()
        search_filter = view.search_filter(profile, day)
        passed, passed_cooling = _by_cooldown(answers.passed, now, cooldown)
        _, skipped_cooling = _by_cooldown(answers.skipped, now, cooldown)
        out, cold = {profile.id, *blocked, *answers.liked}, _merged(passed_cooling, skipped_cooling)
        found = view.ids_and_numbers.numbers_or_none([*out, *cold, *(one for _, one in passed)])
        ends = len(out), len(out) + len(cold)
        never, *met = (numbers[numbers >= 0] for numbers in (found[: ends[0]], found[ends[0] : ends[1]], found[ends[1] :]))
        cooling, repeats = (numbers[~is_in(numbers, never)] for numbers in met)  # whoever is blocked is neither
        excluded = np.concatenate([never, cooling, repeats])
        passing = view.passing(search_filter, excluded)
        waiting, may_repeat = passing[len(never) : len(never) + len(cooling)], passing[len(never) + len(cooling) :]
        return cls(
            view,
            profile,
            day,
            search_filter,
            answers,
            cooling[waiting],
            repeats[may_repeat],
            excluded,
            int(np.count_nonzero(passing)),
        )

    def everybody(self) -> PersonNumbers:
        return self._without_excluded(self.view.everybody(self.filter))

    def everybody_for(self, profile: Profile) -> PersonNumbers:
        """Who would be eligible for a viewer with another profile."""
        return self._without_excluded(self.view.everybody(self.view.search_filter(profile, self.day)))

    def search(
        self, weights: ViewerWeights, want: int, last: Bits, rng: np.random.Generator
    ) -> tuple[PersonNumbers, SearchResult]:
        """About the `want` best people, those in `last` after all others; and the result, which counts excluded people too."""
        found = self.view.search(
            self.filter, weights, want, rng, last, to_bits(self.excluded, self.view.ids_and_numbers.capacity)
        )
        return found.best, found

    def count(self, found: SearchResult) -> int:
        return found.size - self.excluded_passing

    def eligible_among(self, ids: Collection[Hashable]) -> PersonNumbers:
        """The people in `ids` who are eligible."""
        numbers = self._without_excluded(np.unique(self.view.numbers(ids)))  # a set of ids has another order in every process
        return numbers[self.view.passing(self.filter, numbers)]

    def uniform_sample(self, found: SearchResult, count: int, rng: np.random.Generator) -> PersonNumbers:
        """A uniform sample of the eligible people, without replacement."""
        count = min(count, self.count(found))
        if count <= 0:
            return _NOBODY
        more = count + 8 + 2 * count * self.excluded_passing // found.size  # because some are excluded
        sample = self._without_excluded(self.view.sample(found, more, rng))
        if len(sample) < count:
            sample = rng.permutation(self.everybody())
        return sample[:count]

    def everybody_was_answered(self) -> bool:
        """Whether somebody passes the filters, but the viewer has answered them all. Who blocked whom has no part in it."""
        mine = self.view.numbers({*self.answers.liked, *self.answers.passed, *self.answers.skipped})
        return bool(self.view.passing(self.filter, mine).any())

    def next_at(self, cooldown: timedelta, *, repeats: bool) -> datetime | None:
        """The end of the first cooldown after which somebody is new again, or may be repeated."""
        ends = [
            met[one] + cooldown
            for one in self.view.ids(self.in_cooldown)
            for met in (self.answers.skipped, self.answers.passed if repeats else {})
            if one in met
        ]
        return min(ends, default=None)

    def _without_excluded(self, numbers: PersonNumbers) -> PersonNumbers:
        return numbers[~is_in(numbers, self.excluded)]


def in_cooldown(met: Mapping[Hashable, datetime], now: datetime, period: timedelta = COOLDOWN) -> list[Hashable]:
    """People whose last interaction is less than `period` ago, the longest ago first. Exactly `period` ago is long enough.

    A time in the future counts as now: a wrong clock does not shorten the cooldown.
    """
    return [one for _, one in _by_cooldown(met, now, period)[1]]


_Met = list[tuple[datetime, Hashable]]


def _by_cooldown(met: Mapping[Hashable, datetime], now: datetime, period: timedelta) -> tuple[_Met, _Met]:
    """Whose cooldown is over, and who is in it, each the longest ago first."""
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidInput("now", f"must be a time with its zone, such as datetime.now(UTC), got {now!r}")
    over: _Met = []
    cooling: _Met = []
    for identifier, at in met.items():
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("answers", f"{identifier!r}: must be a time with its zone, got {at!r}")
        (cooling if now - at < period else over).append((at, identifier))
    over.sort(key=itemgetter(0))  # equal times stay in the order they came in
    cooling.sort(key=itemgetter(0))
    return over, cooling


def _merged(one: _Met, other: _Met) -> list[Hashable]:
    return [identifier for _, identifier in sorted([*one, *other], key=itemgetter(0))]
