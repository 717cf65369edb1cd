"""What each part of `probit-traits` is worth on a real log: parts left out, and the whole covariance of tags.

    python research/trait_ablations.py movielens|speed-dating [--data ../shared/data] [--protocol strict] [--guarded]

Every line is fitted on the same people and tested on the others, as by `kaczmatch evaluate`. Without the guard, a site is as
large as its rater's decision makes it. That needs other kernels, so the script runs itself once more for it.
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

from _script import options, tell
from kaczmatch.evaluation.contenders import OWN_RATE, TRAITS, Baseline, Contender, fit_sources
from kaczmatch.evaluation.predictions import predict
from kaczmatch.evaluation.scores import probability_scores, ranking_scores
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.learners.population import trait_fit
from kaczmatch.learners.population import traits as trait_sites
from kaczmatch.report.results import Table
from kaczmatch.runner.local import LocalRunner

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

    def fitted(settings: str = "") -> list[Contender]:
        return chosen(trial, f"probit-traits{settings}", f"probit-traits{settings} + population")

    without = chosen(trial, "probit-diag", DEFAULT)
    yield "no traits", trial, without
    some = fitted()
    yield "4 traits, 8 directions", trial, some
    yield "no directions", trial, fitted("(directions=0)")
    yield "1 trait", trial, fitted("(traits=1)")
    yield "full covariance", trial, fitted("(full=True)")
    pay = bool(chosen(trial, "probit-traits", TRAITS, traits=None))
    yield f"as fitted: {'with' if pay else 'without'} traits", trial, some if pay else without


def without_guard(trial: Trial) -> Iterator[tuple[str, Trial, list[Contender]]]:
    trait_sites.LARGEST_PRECISION, trait_sites.FARTHEST = LARGEST, FARTHEST  # type: ignore[misc]
    trait_sites.FARTHEST_SITE, trait_fit.LARGEST_FITTED = FARTHEST, LARGEST  # type: ignore[misc,attr-defined]
    yield "no guard", trial, chosen(trial, "probit-traits", TRAITS)


def chosen(trial: Trial, learner: str, name: str, *, traits: bool | None = True) -> list[Contender]:
    found = fit_sources(trial, [learner], LocalRunner(1), traits=traits, pooled=False)
    return [each for each in found if isinstance(each, Contender) and each.name == name]


def measured(name: str, trial: Trial, some: list[Contender]) -> dict[str, Any]:
    times, sources = trial.protocol.times, [*some, Baseline(OWN_RATE)]
    found = predict(trial, sources, times, trial.tested, LocalRunner(1))
    heavy = ranking_scores(found, [some[0].name], times, [0]).heaviest()
    said = next(each for each in probability_scores(found, [0]) if each.name == some[0].name)
    return (
        {"variant": name}
        | {f"after_{t}": heavy.at(place, some[0].name).mean for place, t in enumerate(times)}
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
