"""Kaczmarz's method: project onto one equation after the other, in their order.

    x ← x + ω (bᵢ - aᵢ·x)/‖aᵢ‖² aᵢ,    i = k mod m,    0 < ω < 2

S. Kaczmarz (1937), Angenäherte Auflösung von Systemen linearer Gleichungen, Bull. Int. Acad. Polon. Sci. Lett. A 35.
Converges to the solution nearest the start where there is one. How fast depends on the order of the rows, which no theorem
bounds well; where there is none, it ends in a cycle around the least-squares solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.projection import project_rows
from kaczmatch.solvers.system import LinearSystem


def check_relaxation(relaxation: float) -> float:
    """ω, if the projections still contract: strictly between 0 and 2."""
    if check_number("relaxation", relaxation, low=0.0, high=2.0, open_low=True) == 2.0:
        raise InvalidInput("relaxation", "must be above 0 and below 2: at 2 a step is a reflection and never comes closer")
    return relaxation


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CyclicKaczmarz(Solver):
    """Rows in their order, again and again (Kaczmarz 1937)."""

    slug: ClassVar[str] = "cyclic"
    draws: ClassVar[bool] = False

    relaxation: float = 1.0

    def __post_init__(self) -> None:
        check_relaxation(self.relaxation)

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m = len(system.b)
        at = 0

        def advance(rows: int) -> float:
            nonlocal at
            order = np.arange(at, at + rows) % m
            project_rows(system.rows, system.b, system.squared, order, self.relaxation, 0.0, x)
            at = (at + rows) % m
            return rows

        return advance
