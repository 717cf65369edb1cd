"""Can the self-test of `kaczmatch evaluate` be trusted? How often it cries wolf, and how often it finds a small leak.

Logs in which there is something to learn, each with a new seed. In every second run appeal knows a little of the decisions that
are ranked: so much that its AUC on shuffled decisions is 0.52.

python benchmarks/self_test.py [--runs 200] [--knowledge strict] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.special import ndtri

from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL
from kaczmatch.evaluation.measures.shuffled_labels import ShuffledCheck, shuffled_check
from kaczmatch.evaluation.protocol.contenders import Contender, contenders
from kaczmatch.evaluation.protocol.folds import Fold
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Places, Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.report.results import Table
from tables import add_out, tell

USERS, SWIPES, CANDIDATES, TAGS = 120, 50, 60, 8
TIMES = (0, 10)
LEAK = 0.02  # AUC


@dataclass(frozen=True, eq=False)
class PeekingTrial(Trial):  # type: ignore[misc]  # a trial is final, but for a fault in it
    """Its appeal knows a little of the decisions that are ranked."""

    leak: float = 0.0

    def appeal_when_ranked(self, rows: Places, t: int) -> Vector:
        appeal = super().appeal_when_ranked(rows, t)
        if not self.leak:
            return appeal
        noise = np.random.default_rng([int(rows.sum()), t]).normal(size=len(rows))  # so that the shift is known
        return appeal / max(float(appeal.std()), 1e-9) + noise + self.table.like[rows] * 2.0 * float(ndtri(0.5 + self.leak))


def log(seed: int) -> SwipeTable:
    rng = np.random.default_rng(seed)
    features = (rng.random((CANDIDATES, TAGS)) < 0.4).astype(float)
    taste, charm = rng.normal(size=TAGS) + rng.normal(size=(USERS, TAGS)), rng.normal(size=CANDIDATES)
    user = np.repeat(np.arange(USERS), SWIPES)
    candidate = np.argsort(rng.random((USERS, CANDIDATES)), axis=1)[:, :SWIPES].ravel()
    felt = np.einsum("ij,ij->i", taste[user], features[candidate]) + charm[candidate] - 0.4 * TAGS * taste[user].mean(axis=1)
    at = np.sort(rng.integers(0, 10**6, (USERS, SWIPES)), axis=1).ravel() * 1_000_000
    return SwipeTable(
        users=list(range(USERS)),
        candidates=list(range(CANDIDATES)),
        tags=[f"tag {place}" for place in range(TAGS)],
        features=features,
        user=user,
        candidate=candidate,
        like=felt + rng.logistic(size=len(user)) > 0.0,
        at=at,
    )


def checked(trial: Trial) -> ShuffledCheck:
    def fitted(one: Trial) -> list[Contender]:
        return contenders(one, ["all-ones", "tk", "probit-diag"], tick=lambda _: None)

    return shuffled_check([Fold(trial, fitted(trial))], lambda _, one: fitted(one), TIMES, SilentProgress())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="of each kind")
    parser.add_argument("--knowledge", choices=("strict", "mature"), default="strict")
    add_out(parser)
    options = parser.parse_args()
    rows = []
    for name, leak in (("no leak", 0.0), (f"a leak of {LEAK}", LEAK)):
        found = []
        for seed in track(range(options.runs), name, console=Console(stderr=True)):
            protocol = Protocol(times=TIMES, rest=10, knowledge=options.knowledge, seed=seed)
            found.append(checked(PeekingTrial(log(seed), protocol, leak=leak)))
        scores = [next(each for each in check.scores if each.name == APPEAL) for check in found]
        off = [(each.auc.mean - 0.5) / each.half_width for check in found for each in check.scores if each.half_width > 0.0]
        rows.append(
            {
                "log": name,
                "runs": len(found),
                **{verdict: sum(check.verdict == verdict for check in found) for verdict in ("sound", "leak", "cannot tell")},
                "shuffles": float(np.mean([check.shuffles for check in found])),
                "appeal_alone": float(np.mean([each.auc.mean for each in scores])),
                "spread_in_half_widths": float(np.sqrt(np.mean(np.square(off)))),
                "farthest_in_half_widths": float(np.max(np.abs(off))),
            }
        )
    title = f"The self-test on {USERS:,} users with {SWIPES} swipes each, protocol {options.knowledge}: verdicts"
    tell(options.out, Table("self-test", title, rows))


if __name__ == "__main__":
    main()
