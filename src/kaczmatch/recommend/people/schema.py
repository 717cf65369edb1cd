"""The kinds of people that there are: genders by default, or mentor and mentee, or founder and engineer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from kaczmatch.core.errors import InvalidInput, check_integer, did_you_mean


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """At most 32 kinds, and the minimum age."""

    kinds: tuple[str, ...]
    minimum_age: int = 18

    def __post_init__(self) -> None:
        if isinstance(self.kinds, str):
            raise InvalidInput("kinds", f"must be several texts, got the text {self.kinds!r}")
        if not 1 <= len(self.kinds) <= 32 or len(set(self.kinds)) != len(self.kinds):
            raise InvalidInput("kinds", f"must be 1 to 32 different texts, got {self.kinds!r}")
        check_integer("minimum_age", self.minimum_age, low=0, high=120)

    def mask(self, kinds: Iterable[str], field: str) -> int:
        """A non-empty set of kinds as bits."""
        if isinstance(kinds, str):
            raise InvalidInput(field, f"must be a set of kinds, got the text {kinds!r}")
        bits = 0
        for kind in kinds:
            if kind not in self.kinds:
                raise InvalidInput(field, f"there is no {kind!r}; {did_you_mean(str(kind), self.kinds)}")
            bits |= 1 << self.kinds.index(kind)
        if not bits:
            raise InvalidInput(field, "must name at least one kind")
        return bits


DATING = Schema(("woman", "man", "non-binary"))
MENTORING = Schema(("mentor", "mentee"), minimum_age=16)
