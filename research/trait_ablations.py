"""What each part of `probit-traits` is worth on a real log: parts left out, and the whole covariance of tags.

    python research/trait_ablations.py movielens|speed-dating [--data ../shared/data] [--protocol strict] [--guarded]

Every line is fitted on the same people and tested on the others, like `kaczmatch evaluate` with the same protocol. Without online
candidates, only the fitted people's decisions are heard. Without the guard, a site is as large as its rater's decision makes it.
That needs other kernels, so the script runs itself once more for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from _script import options, tell
from kaczmatch.evaluation.measures.holdout_ranking import holdout_ranking
from kaczmatch.evaluation.measures.progressive_validation import probability_scores, progressive_forecasts
from kaczmatch.evaluation.protocol.contenders import TRAITS, Contender, contenders
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.learners.population import trait_fit
from kaczmatch.learners.population import traits as trait_sites
from kaczmatch.report.results import Table

NAMES = {"user": "user_id", "candidate": "candidate_id", "decision": "like", "id": "candidate_id"}
DEFAULT = "probit-diag + population + appeal"
NO_GUARD = "WITHOUT_GUARD"  # set where the script runs itself
LARGEST, FARTHEST = 20.0, 20.0  # what still fits a site's 32 bits


@dataclass(frozen=True)
class Log:
    """Where it lies, and how it is tested."""

    folder: str
    at: str
    protocol: Protocol

    def trial(self, data: Path, knowledge: str) -> Trial:
        folder, split = data / self.folder, self.protocol.split
        names = ColumnNames.of(NAMES | {"at": self.at})
        table = read_swipes(folder / "swipes.csv", folder / "candidates.csv", names, [] if split == "user" else [split])
        return Trial(table, replace(self.protocol, knowledge=knowledge))


LOGS = {
    "movielens": Log("movielens_small", "timestamp", Protocol(times=(0, 5, 20, 50, 100, 200), rest=30, at_least=60)),
    "speed-dating": Log("speed_dating", "order", Protocol(times=(0, 5, 10), rest=2, split="wave")),
}


def variants(trial: Trial) -> Iterator[tuple[str, Trial, list[Contender]]]:
    """A name, what is heard, and the learner that was fitted."""

    def fitted(**settings: Any) -> list[Contender]:
        found = contenders(trial, ["probit-traits"], {"probit-traits": settings}, tick=lambda _: None, traits=True)
        return [each for each in found if each.name == TRAITS]

    without = [each for each in contenders(trial, ["probit-diag"], tick=lambda _: None) if each.name == DEFAULT]
    yield "no traits", trial, without
    some = fitted()
    yield "4 traits, 8 directions", trial, some
    yield "no online candidates", Trial(trial.table, replace(trial.protocol, appeal_from="fit")), some
    yield "no directions", trial, fitted(directions=0)
    yield "1 trait", trial, fitted(traits=1)
    yield "full covariance", trial, fitted(full=True)
    found = contenders(trial, ["probit-traits"], tick=lambda _: None)
    pay = any(each.name == TRAITS for each in found)
    yield f"as fitted: {'with' if pay else 'without'} traits", trial, some if pay else without


def without_guard(trial: Trial) -> Iterator[tuple[str, Trial, list[Contender]]]:
    trait_sites.LARGEST_PRECISION, trait_sites.FARTHEST = LARGEST, FARTHEST  # type: ignore[misc]
    trait_sites.FARTHEST_SITE, trait_fit.LARGEST_FITTED = FARTHEST, LARGEST  # type: ignore[misc,attr-defined]
    found = contenders(trial, ["probit-traits"], tick=lambda _: None, traits=True)
    yield "no guard", trial, [each for each in found if each.name == TRAITS]


def measured(name: str, trial: Trial, some: list[Contender]) -> dict[str, Any]:
    ranking = holdout_ranking(trial, some, trial.protocol.times, trial.tested, advance=lambda _: None)
    areas = ranking.auc[:, ranking.cohort, 0].mean(axis=1)
    forecasts = progressive_forecasts(trial, some, trial.tested, advance=lambda: None)
    said = probability_scores(forecasts, np.random.default_rng(0)).of(some[0].name)
    assert said is not None
    return (
        {"variant": name}
        | {f"after_{t}": float(area) for t, area in zip(ranking.times, areas, strict=True)}
        | {"log_loss": said.log_loss.mean, "calibration_error": said.calibration_error, "bytes": some[0].bytes_per_user}
    )


def guardless(words: list[str]) -> list[dict[str, Any]]:
    """The same script with kernels of its own, which are thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        there = os.environ | {NO_GUARD: "1", "NUMBA_CACHE_DIR": f"{folder}/kernels"}
        subprocess.run([sys.executable, __file__, *words, "--out", folder], env=there, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        (path,) = Path(folder).glob("*.json")
        found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("log", choices=LOGS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--protocol", choices=("strict", "mature", "forward"), default="strict")
    parser.add_argument("--guarded", action="store_true", help="leave out the line that needs other kernels")
    asked = parser.parse_args(words)
    trial = LOGS[asked.log].trial(asked.data, asked.protocol)
    alone = NO_GUARD in os.environ
    rows = [measured(*one) for one in (without_guard if alone else variants)(trial) if one[2]]
    if not alone and not asked.guarded:
        rows += guardless([asked.log, "--data", str(asked.data), "--protocol", asked.protocol])
    title = f"AUC after so many swipes, {asked.log}, {asked.protocol}"
    tell(asked.out, [Table(f"traits-{asked.log}-{asked.protocol}", title, rows)])


if __name__ == "__main__":
    main()
