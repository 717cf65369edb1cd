"""Rules with a fixed learning rate η: they step along the candidate's raw tags, or along their unit vector."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, final, get_args

from kaczmatch.core.compiled import compiled, cosine_from_products, products, usable_norm
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.vectors import Vector, unit
from kaczmatch.learners.rules.hinge import SequentialHingeLearner, residual_with_own_theta

Along = Literal["raw", "unit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRateLearner(SequentialHingeLearner):
    """v + η r a.

    The paper's eq. 3 divides a by its length (``direction="unit"``). Its experiments did not (``"raw"``, the default), and only
    that reproduces its table. The setting is called ``direction``. The field is not, because every learner has a method of that
    name.
    """

    eta: float
    along: Along = field(default="raw", metadata={"setting": "direction"})

    @final
    def move(self, a: Vector, r: float) -> Vector:
        """η r a, or η r a/‖a‖."""
        return self.eta * r * (unit(a) if self.along == "unit" else a)

    @final
    def kernel_parameters(self) -> tuple[float, ...]:
        if self.along not in get_args(Along):
            raise InvalidInput("direction", f"must be 'raw' or 'unit', got {self.along!r}")
        eta = check_number("eta", self.eta, low=0.0, high=1e6, open_low=True)
        return eta, float(self.along == "unit"), *self.hinge_parameters()


@compiled
def step_coefficient(cells: Vector, features: Vector, label: float, parameters: Vector) -> float:
    """How much of `features` to add: 0 where there is nothing to learn, NaN where they cannot be used."""
    d = features.shape[0]
    va, vv, aa = products(cells[:d], features)
    if not usable_norm(aa):
        return math.nan
    if aa == 0.0:
        return 0.0
    r = residual_with_own_theta(cells, d, cosine_from_products(va, vv, aa), label, parameters[2:])
    return float(parameters[0]) * r / (math.sqrt(aa) if parameters[1] > 0.0 else 1.0)
