"""A fold: users who are tested, and what was fitted on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Trial


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A trial, and the contenders that were fitted in it. They have the same names in all folds."""

    trial: Trial
    contenders: Sequence[Contender]

    @property
    def traits(self) -> bool:
        """Whether they pay among the fitted users."""
        return any(each.traits is not None for each in self.contenders)


def largest_contenders(folds: Sequence[Fold]) -> list[Contender]:
    """Each contender once: from the fold in which it needs most memory, because some folds may have traits and others not."""
    same = zip(*(fold.contenders for fold in folds), strict=True)
    return [max(each, key=lambda one: one.bytes_per_user) for each in same]
