"""A fold: users who are tested, and what was fitted on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Trial
from kaczmatch.learners.belief.probit_traits import ProbitTraits


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A trial, and the contenders that were fitted in it. They have the same names in all folds."""

    trial: Trial
    contenders: Sequence[Contender]

    @property
    def traits(self) -> int:
        """How many the fitted users have selected."""
        return next(
            (each.learner.traits for each in self.contenders if isinstance(each.learner, ProbitTraits) and each.traits), 0
        )


def largest_contenders(folds: Sequence[Fold]) -> list[Contender]:
    """Each contender once: from the fold in which it needs most memory, because folds select traits of their own."""
    same = zip(*(fold.contenders for fold in folds), strict=True)
    return [max(each, key=lambda one: one.bytes_per_user) for each in same]
