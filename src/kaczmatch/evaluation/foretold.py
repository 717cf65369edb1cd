"""What was said of each swipe just before it was made, and how true it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.bootstrap import Resamples
from kaczmatch.evaluation.calibration import calibration_error, losses, reliability
from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import APPEAL, OWN_RATE
from kaczmatch.evaluation.trial import Places, Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.progressive import progressive
from kaczmatch.report.results import Table

WARM = 20  # swipes after which probabilities should be calibrated


@final
@dataclass(frozen=True, slots=True, eq=False)
class Foretold:
    """Probabilities of each tested user's swipes, every one said before it was learned from."""

    names: Sequence[str]
    probability: Matrix  # contenders x swipes
    like: NDArray[np.bool_]
    user: Places
    number: Places  # the user's swipes before it

    def after(self, swipes: int) -> Foretold:
        """Only what was said of users with so many swipes."""
        kept = self.number >= swipes
        return Foretold(self.names, self.probability[:, kept], self.like[kept], self.user[kept], self.number[kept])


def foretold(trial: Trial, contenders: Sequence[Contender], users: Places, *, advance: Callable[[], None]) -> Foretold:
    """Every contender that says probabilities, the user's own like rate so far, and that rate moved by appeal."""
    rows = trial.rest_rows(users, 0)
    log = trial.log.rows(rows)
    number = rows - trial.begin[trial.table.user[rows]]
    found: dict[str, Vector] = {}
    for each in contenders:
        if isinstance(each.learner, ProbabilisticLearner):
            found[each.name] = progressive(each.learner, log, prior=each.prior)
            advance()
    likes = np.concatenate([[0], np.cumsum(trial.table.like)])
    rate = (likes[rows] - likes[rows - number] + 1.0) / (number + 2.0)
    found |= {APPEAL: np.asarray(expit(logit(rate) + trial.seen[rows])), OWN_RATE: rate}
    return Foretold(list(found), np.array(list(found.values())), trial.table.like[rows], trial.table.user[rows], number)


def loss_table(found: Foretold, rng: np.random.Generator) -> Table:
    """Log-loss of each contender with its paired difference from the user's own rate, and calibration errors."""
    warm = found.after(WARM)
    lost = np.array([losses(each, found.like) for each in found.probability])
    _, place = np.unique(found.user, return_inverse=True)
    swipes = np.bincount(place)
    by_user = np.array([np.bincount(place, each) / swipes for each in lost]).T if len(swipes) else np.empty((0, len(lost)))
    drawn = Resamples(by_user, rng)
    base = list(found.names).index(OWN_RATE)
    rows: list[dict[str, Any]] = []
    for column, name in enumerate(found.names):
        gap = drawn.difference(column, base)
        rows.append(
            {
                "learner": name,
                "log_loss": drawn.mean(column).mean,
                "against_own_rate": gap.mean,
                "low": gap.low,
                "high": gap.high,
                "calibration_error": calibration_error(found.probability[column], found.like),
                f"calibration_error_after_{WARM}": calibration_error(warm.probability[column], warm.like),
            }
        )
    rows.sort(key=lambda row: float(row["log_loss"]))
    note = (
        f"Nats a swipe, mean over {len(swipes):,} users; the difference is from the user's own like rate so far, negative is better. Calibration "
        f"error: mean distance between what was said and what happened, ten bins of equal width, all {len(found.like):,} swipes together."
    )
    return Table("probabilities", "Probabilities said before each swipe", rows, note)


def reliability_table(found: Foretold) -> Table:
    rows = [
        {"learner": name, **one._asdict()}
        for name, probability in zip(found.names, found.after(WARM).probability, strict=True)
        for one in reliability(probability, found.after(WARM).like)
    ]
    return Table("reliability", f"Said and happened, after {WARM} swipes", rows, in_report=False)
