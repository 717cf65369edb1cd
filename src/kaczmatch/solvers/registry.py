"""Every solver under its slug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.solvers.block import BlockKaczmarz
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.cyclic import CyclicKaczmarz
from kaczmatch.solvers.damped import DampedKaczmarz
from kaczmatch.solvers.extended import ExtendedKaczmarz
from kaczmatch.solvers.kaczmarz_plus_plus import KaczmarzPlusPlus
from kaczmatch.solvers.randomised import RandomisedKaczmarz
from kaczmatch.solvers.regularised import RegularisedKaczmarz

SOLVERS: Mapping[str, type[Solver]] = MappingProxyType(
    {
        rule.slug: rule
        for rule in (
            CyclicKaczmarz,
            RandomisedKaczmarz,
            DampedKaczmarz,
            RegularisedKaczmarz,
            BlockKaczmarz,
            ExtendedKaczmarz,
            KaczmarzPlusPlus,
        )
    }
)


def solver(slug: str, **settings: Any) -> Solver:
    """The solver called `slug`, with its defaults where no setting says otherwise."""
    rule = SOLVERS.get(slug) if isinstance(slug, str) else None
    if rule is None:
        raise InvalidInput("slug", f"there is no solver {slug!r}; {did_you_mean(str(slug), SOLVERS)}")
    known = [field.name for field in fields(rule)]
    for name in settings:
        if name not in known:
            raise InvalidInput(
                name, f"{slug} has no such setting; {did_you_mean(name, known)}" if known else f"{slug} has no settings"
            )
    return rule(**settings)
