"""The check of the harness itself: with everybody's answers shuffled there is nothing to learn, and every AUC must be 0.5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kaczmatch.evaluation.bootstrap import Resamples
from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import Frozen, frozen
from kaczmatch.evaluation.trial import Trial, at_most
from kaczmatch.report.results import Table

MOST_USERS = 1_000
_TOLERANCE = 4.0  # half-widths of a 95 % interval, since many are looked at


def shuffled_trial(trial: Trial) -> Trial:
    """The same swipes with each user's answers in a random order."""
    rng = np.random.default_rng([trial.protocol.seed, 3])
    table = trial.table
    order = np.lexsort((rng.random(len(table)), table.user))
    return Trial(replace(table, like=table.like[order]), trial.protocol)


def shuffled(
    trial: Trial,
    contend: Callable[[Trial], list[Contender]],
    times: Sequence[int],
    *,
    advance: Callable[[int], None],
) -> Frozen:
    """The whole run again, appeal and priors included, on shuffled answers."""
    senseless = shuffled_trial(trial)
    return frozen(senseless, contend(senseless), times, at_most(MOST_USERS, senseless.tested), advance=advance)


def check_table(found: Frozen, rng: np.random.Generator) -> Table:
    """Each contender's mean AUC over users and numbers of swipes, and whether it is 0.5 as it must be."""
    known = np.isfinite(found.auc)
    sometimes = known.any(axis=(0, 2))
    values = np.where(known, found.auc, 0.0).sum(axis=0)[sometimes] / known.sum(axis=0)[sometimes]
    drawn = Resamples(values, rng)
    rows = []
    for column, name in enumerate(found.names):
        auc, low, high = drawn.mean(column)
        margin = _TOLERANCE * max(high - low, 1e-12) / 2.0
        rows.append(
            {"learner": name, "auc": auc, "low": low, "high": high, "verdict": "sound" if abs(auc - 0.5) <= margin else "leaks"}
        )
    return Table(
        "shuffled", "Shuffled answers: every AUC must be 0.5", rows, f"{len(values):,} users, mean over numbers of swipes."
    )


def sound(table: Table) -> bool:
    return all(row["verdict"] == "sound" for row in table.rows)
