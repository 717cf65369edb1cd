"""The kinds of people that there are: genders by default, or mentor and mentee, or job and candidate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

from kaczmatch.core.errors import InvalidInput, check_integer, did_you_mean


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """At most 32 kinds, and what is asked about age. Where an age is not required, limits hold only for people who have one.

    `looks_for` and `capacity` are by kind: whom people look for who do not say it, and how many open matches one takes.
    """

    kinds: tuple[str, ...]
    minimum_age: int = 18
    age_required: bool = True
    looks_for: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)  # a default: no filter depends on it
    capacity: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.kinds, str):
            raise InvalidInput("kinds", f"must be several texts, got the text {self.kinds!r}")
        if not 1 <= len(self.kinds) <= 32 or len(set(self.kinds)) != len(self.kinds):
            raise InvalidInput("kinds", f"must be 1 to 32 different texts, got {self.kinds!r}")
        check_integer("minimum_age", self.minimum_age, low=0, high=120)
        for name in ("looks_for", "capacity"):
            for kind in getattr(self, name):
                self.mask([kind], name)
        for wanted in self.looks_for.values():
            self.mask(wanted, "looks_for")
        for most in self.capacity.values():
            check_integer("capacity", most, low=1, high=1_000_000)

    def mask(self, kinds: Iterable[str], name: str) -> int:
        """A non-empty set of kinds as bits."""
        if isinstance(kinds, str):
            raise InvalidInput(name, f"must be a set of kinds, got the text {kinds!r}")
        bits = 0
        for kind in kinds:
            if kind not in self.kinds:
                raise InvalidInput(name, f"there is no {kind!r}; {did_you_mean(str(kind), self.kinds)}")
            bits |= 1 << self.kinds.index(kind)
        if not bits:
            raise InvalidInput(name, "must name at least one kind")
        return bits

    def usually_looks_for(self, i_am: Iterable[str]) -> frozenset[str]:
        """Whom people of these kinds look for if they do not say it."""
        return frozenset[str]().union(*(self.looks_for.get(kind, frozenset()) for kind in i_am))

    def usual_capacity(self, i_am: Iterable[str]) -> int | None:
        """How many open matches people of these kinds take at a time: the least of their kinds; None: any number."""
        return min((self.capacity[kind] for kind in i_am if kind in self.capacity), default=None)


DATING = Schema(("woman", "man", "non-binary"))
MENTORING = Schema(("mentor", "mentee"), minimum_age=16)
