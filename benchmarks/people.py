"""How well are people ranked whom a person has yet to meet? Everybody of a log of both sides is tested once.

python benchmarks/people.py FOLDER [--folds 3] [--out FOLDER]

FOLDER has the speed-dating experiment as swipes.csv and candidates.csv (docs/which-learner.md). Parts are made of whole
evenings, and what is learned from others, priors, traits and factors, is fitted on the other parts. The same people are in
every column. `own dates not learned` is the default as it would rank the same dates without what the person decided so far:
what is between the two is what own swipes buy.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kaczmatch.evaluation.contenders import APPEAL, TRAITS, UNLEARNED, Source, fit_sources
from kaczmatch.evaluation.peers import all_peers
from kaczmatch.evaluation.predictions import Predictions, predict
from kaczmatch.evaluation.scores import ranking_scores
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.report.results import Table
from kaczmatch.runner.local import LocalRunner
from tables import add_out, tell

TIMES = (0, 5, 10)
WITHOUT = "own dates not learned"
NAMES = ColumnNames(user="user_id", candidate="candidate_id", decision="like", id="candidate_id", at="order")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=3)
    add_out(parser)
    options = parser.parse_args()
    table = read_swipes(options.folder / "swipes.csv", options.folder / "candidates.csv", NAMES, ["wave"])
    trial = Trial(table, Protocol(times=TIMES, rest=2, split="wave", folds=options.folds))
    found = Predictions.joined([predicted(one) for one in trial.folds])
    scores = ranking_scores(found, list(found.said), TIMES, [0]).heaviest()
    called = {name: WITHOUT if name == TRAITS + UNLEARNED else name for name in found.said}
    means = [
        {"learner": called[name]} | {f"after_{t}": scores.at(place, name).mean for place, t in enumerate(TIMES)}
        for name in found.said
    ]
    leads = [
        {"beside": called[other], "dates": t, "lead": gap.mean, "low": gap.low, "high": gap.high}
        for other in (APPEAL, TRAITS + UNLEARNED, "implicit ALS")
        for place, t in enumerate(TIMES)
        for gap in [scores.together(place, TRAITS, other)]
    ]
    who = f"{scores.users()} of {len(table.users)} people, who had {TIMES[-1] + trial.protocol.rest} dates or more"
    tell(
        options.out,
        Table("people", f"AUC over dates to come, by dates seen: {who}", means),
        Table("people-leads", f"{TRAITS} minus others, intervals that hold at once with 95 %", leads),
        Table("people-tested", "Who is tested", [{"people": len(table.users), "tested": scores.users(), "folds": options.folds}]),
    )


def predicted(trial: Trial) -> Predictions:
    """One part: ours, pooled models and baselines, and the peers that learn from others."""
    ours = fit_sources(trial, ["probit-diag", "probit-traits"], LocalRunner(1))
    sources: list[Source] = [*ours, *all_peers(["implicit"])]
    return predict(trial, sources, TIMES, trial.tested, LocalRunner(1))


if __name__ == "__main__":
    main()
