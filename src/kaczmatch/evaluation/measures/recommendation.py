"""Which contender to use, decided by the paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.calibration import MATTERS
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, OWN_RATE
from kaczmatch.evaluation.protocol.contenders import Contender

EXPECTED = ("probit-diag + population + appeal", "probit + population + appeal", "probit-traits + population")
FAR_SMALLER = 4  # times: where two are within error of each other, that much memory decides


@final
@dataclass(frozen=True, slots=True)
class Recommendation:
    """`chosen` is what to use. It is appeal alone where `proven` is false: then no learner beats that beyond luck."""

    chosen: str
    best: str  # the highest mean AUC: of the proven, or where there are none, of all
    proven: bool
    equals: Sequence[str]  # the proven that are within error of the best
    costly: Sequence[str] = ()  # equals that are far smaller, but whose probabilities are worse by what matters


def recommend(scores: BootstrapScores, contenders: Sequence[Contender], log_loss: Mapping[str, float]) -> Recommendation:
    """The best that is proven, or one within error of it whose state is far smaller.

    Bytes are never paid for with log-loss: a smaller one must predict as well, where the best predicts at all.
    """
    sizes = {each.name: each.bytes_per_user for each in contenders}

    def mean(name: str) -> float:
        return scores.mean_auc(name).mean

    proven = [name for name in sizes if _proven(scores, name)]
    if not proven:
        return Recommendation(APPEAL, max(sizes, key=mean), False, ())
    best = max(proven, key=mean)
    equals = [name for name in proven if not scores.mean_difference(best, name).above_zero]
    smaller = [name for name in equals if FAR_SMALLER * sizes[name] <= sizes[best]]
    costly = [name for name in smaller if best in log_loss and log_loss.get(name, math.inf) >= log_loss[best] + MATTERS]
    cheap = [name for name in smaller if name not in costly]
    return Recommendation(max(cheap or [best], key=mean), best, True, equals, costly)


def _proven(scores: BootstrapScores, name: str) -> bool:
    """Whether it is above appeal alone and above chance. Those that we expected to win are not picked from many."""
    if name in EXPECTED:
        return scores.mean_difference(name, APPEAL).above_zero and scores.mean_difference(name, OWN_RATE).above_zero
    return scores.surely_better(name, APPEAL) and scores.surely_better(name, OWN_RATE)
