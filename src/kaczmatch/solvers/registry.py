"""Every solver under its slug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.solvers.block_methods import BlockKaczmarz, KaczmarzPlusPlus
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.row_methods import ExtendedKaczmarz, Projections, RegularisedKaczmarz

SOLVERS: Mapping[str, Solver] = MappingProxyType(
    {
        "cyclic": Projections(order="cyclic"),
        "randomised": Projections(),
        "damped": Projections(alpha=1.0),
        "regularised": RegularisedKaczmarz(),
        "block": BlockKaczmarz(),
        "extended": ExtendedKaczmarz(),
        "kaczmarz++": KaczmarzPlusPlus(),
    }
)


def solver(slug: str, **settings: Any) -> Solver:
    """The solver called `slug`, with its defaults where no setting says otherwise."""
    found = SOLVERS.get(slug) if isinstance(slug, str) else None
    if found is None:
        raise InvalidInput("slug", f"there is no solver {slug!r}; {did_you_mean(str(slug), SOLVERS)}")
    known = [field.name for field in fields(found)]
    for name in settings:
        if name not in known:
            raise InvalidInput(name, f"is not a setting of {slug!r}; {did_you_mean(name, known) if known else 'it has none'}")
    return replace(found, **settings)
