"""Names to choose from, as --help shows them. They are written down here because importing them would take seconds (tested)."""

from __future__ import annotations

from typing import Final

LEARNERS: Final = (
    "tk, k-nonorm, ogd, nk, block-tk, block-nk, block-adaptive, probit, probit-diag, probit-traits, all-ones, rocchio, pa-ii, "
    "pegasos, logistic"
)
POPULATIONS: Final = "<uniform|sparse|correlated|archetypes>"
LABELS: Final = "<raw-dot|cosine|calibrated>"
PRIORS: Final = "<informed|ones|own-tags>"
SAMPLING: Final = "<row-norm|cosine>"
DEMOS: Final = "dating|mentoring|jobs"
SAMPLERS: Final = "row-norm, cosine, uniform, greedy, thompson, mutual, information"
