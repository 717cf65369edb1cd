"""Can the self-test of `kaczmatch evaluate` be trusted? How often it cries wolf, and how often it finds a small leak.

Logs in which there is something to learn, each with a new seed. In every second run appeal knows a little of the decisions that
are ranked: so much that its AUC on shuffled decisions is 0.52.

python benchmarks/self_test.py [--runs 200] [--knowledge strict] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.special import ndtri

from kaczmatch.evaluation.contenders import APPEAL, Fold, Source, fit_sources
from kaczmatch.evaluation.evaluate import SilentProgress
from kaczmatch.evaluation.self_test import ShuffledCheck, shuffled_check
from kaczmatch.evaluation.trial import Asked, Places, Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.report.results import Table
from kaczmatch.runner.local import LocalRunner
from tables import add_out, tell

USERS, SWIPES, CANDIDATES, TAGS = 120, 50, 60, 8
TIMES = (0, 10)
LEAK = 0.02  # AUC


@dataclass(frozen=True, eq=False)
class PeekingTrial(Trial):
    """Its appeal knows a little of the decisions that are ranked."""

    leak: float = 0.0

    def held_out(self, users: Places, times: Sequence[int]) -> Asked:
        found = super().held_out(users, times)
        if not self.leak:
            return found
        appeal = found.appeal.copy()
        for t in times:
            rows = np.flatnonzero(found.t == t)
            noise = np.random.default_rng([int(found.row[rows].sum()), t]).normal(size=len(rows))  # so that the shift is known
            told = self.table.like[found.row[rows]] * 2.0 * float(ndtri(0.5 + self.leak))
            appeal[rows] = appeal[rows] / max(float(appeal[rows].std()), 1e-9) + noise + told
        return Asked(found.row, found.user, found.t, found.moment, appeal)


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
    def fitted(one: Trial) -> list[Source]:
        return fit_sources(one, ["all-ones", "tk", "probit-diag"], LocalRunner(1), pooled=False)

    return shuffled_check([Fold(trial, fitted(trial))], lambda _, one: fitted(one), TIMES, SilentProgress(), LocalRunner(1))


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
