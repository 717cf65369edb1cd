"""The paper's table of α: TK on unit rows is gradient descent."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.vectors import unit_rows
from kaczmatch.laboratory import published
from kaczmatch.learners.logs.replay import replay
from kaczmatch.learners.registry import learner
from kaczmatch.learners.rules.kaczmarz import tikhonov_step_bound
from kaczmatch.report.results import ReportPart, Table


def alpha_part() -> ReportPart:
    rng = np.random.default_rng(0)
    rows_ = unit_rows((rng.random((200, 60)) < 0.5).astype(float))
    log = {"user": np.zeros(200, int), "features": rows_, "label": rng.choice([-1, 1], 200)}
    rows = []
    for alpha, fraction, eta in published.ALPHA:
        tk = replay(learner("tk", alpha=alpha), log)[0].cells
        ogd = replay(learner("ogd", eta=1.0 / (1.0 + alpha)), log)[0].cells
        rows.append(
            {
                "alpha": alpha,
                "step_fraction_paper": fraction,
                "step_fraction": 1.0 / (1.0 + alpha),
                "eta_paper": eta,
                "eta": 1.0 / (1.0 + alpha),
                "largest_difference_after_200_swipes": float(f"{np.abs(tk - ogd).max():.1e}"),
                "true_step_bound_60_tags": tikhonov_step_bound(alpha, 60),
            }
        )
    words = [
        "Reproduced: on candidates of unit length TK with α is gradient descent with η = 1/(1 + α), to rounding. "
        "The last column is what Proposition 2 should say for raw 0/1 tags: a step per unit of residual is at most max √m/(m + α), "
        "which exceeds 1/(1 + α) once α > √2."
    ]
    return ReportPart(
        "table-alpha", "The table of α", words, [Table("table-alpha", "Step fraction and equivalent gradient descent", rows)]
    )
