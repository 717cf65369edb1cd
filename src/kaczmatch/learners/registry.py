"""Every learner under its slug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Literal, overload

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import BeliefLearner, Learner, ProbabilisticLearner
from kaczmatch.learners.rules.baselines import AllOnes, Logistic, PassiveAggressive, Pegasos, Rocchio
from kaczmatch.learners.rules.kaczmarz import (
    BlockAdaptive,
    BlockNormalisedKaczmarz,
    BlockTikhonovKaczmarz,
    NormalisedKaczmarz,
    OnlineGradient,
    TikhonovKaczmarz,
    UnnormalisedKaczmarz,
)

LEARNERS: Mapping[str, type[Learner]] = MappingProxyType(
    {
        rule.slug: rule
        for rule in (
            TikhonovKaczmarz,
            UnnormalisedKaczmarz,
            OnlineGradient,
            NormalisedKaczmarz,
            BlockTikhonovKaczmarz,
            BlockNormalisedKaczmarz,
            BlockAdaptive,
            Probit,
            ProbitDiagonal,
            ProbitTraits,
            AllOnes,
            Rocchio,
            PassiveAggressive,
            Pegasos,
            Logistic,
        )
    }
)


@overload
def learner(slug: Literal["probit", "probit-diag", "probit-traits"], **settings: Any) -> BeliefLearner: ...
@overload
def learner(slug: Literal["logistic"], **settings: Any) -> ProbabilisticLearner: ...
@overload
def learner(slug: str, **settings: Any) -> Learner: ...
def learner(slug: str, **settings: Any) -> Learner:
    """The learner called `slug`, with its defaults where no setting says otherwise."""
    rule = LEARNERS.get(slug) if isinstance(slug, str) else None
    if rule is None:
        raise InvalidInput("slug", f"there is no learner {slug!r}; {did_you_mean(str(slug), LEARNERS)}")
    names = {field.metadata.get("setting", field.name): field.name for field in fields(rule) if field.init}
    for name in settings:
        if name not in names:
            raise InvalidInput(name, f"is not a setting of {slug!r}; {did_you_mean(name, names) if names else 'it has none'}")
    return rule(**{names[name]: value for name, value in settings.items()})
