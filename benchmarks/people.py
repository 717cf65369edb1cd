"""How well are people ranked whom a person has yet to meet? Everybody of a log of both sides is tested once.

python benchmarks/people.py FOLDER [--folds 3] [--out FOLDER]

FOLDER has the speed-dating experiment as swipes.csv and candidates.csv (docs/which-learner.md). Parts are made of whole
evenings, and what is learned from others, priors, traits and factors, is fitted on the other parts. The same people are in
every column. `own dates not learned` is the default as it would rank the same dates without what the person decided so far:
what is between the two is what own swipes buy.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.ranking_metrics import auc
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, HoldoutRanking, holdout_ranking, rounded
from kaczmatch.evaluation.peers.registry import peers_of
from kaczmatch.evaluation.protocol.contenders import TRAITS, Contender, contenders
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.report.results import Table
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
    ranking = HoldoutRanking.joined([ranked(one) for one in trial.folds])
    scores = BootstrapScores.of(ranking, np.random.default_rng(0))
    means = [
        {"learner": name} | {f"after_{t}": scores.auc_at(place, name).mean for place, t in enumerate(TIMES)}
        for name in ranking.names
    ]
    leads = [
        {"beside": other, "dates": t, "lead": gap.mean, "low": gap.low, "high": gap.high}
        for other in (APPEAL, WITHOUT, "implicit ALS")
        for place, t in enumerate(TIMES)
        for gap in [scores.difference_at(place, TRAITS, other)]
    ]
    who = f"{scores.users} of {len(table.users)} people, who had {TIMES[-1] + trial.protocol.rest} dates or more"
    tell(
        options.out,
        Table("people", f"AUC over dates to come, by dates seen: {who}", means),
        Table("people-leads", f"{TRAITS} minus others, intervals that hold at once with 95 %", leads),
        Table("people-tested", "Who is tested", [{"people": len(table.users), "tested": scores.users, "folds": options.folds}]),
    )


def ranked(trial: Trial) -> HoldoutRanking:
    """One part: ours and the baselines, the same without own dates, and the peers that learn from others."""
    ours = contenders(trial, ["probit-diag", "probit-traits"], tick=lambda _: None)
    found = holdout_ranking(trial, ours, TIMES, trial.tested, advance=lambda _: None)
    default = next(each for each in ours if each.name == TRAITS)
    peers = peers_of("implicit")
    areas = [peer.run(trial, TIMES, trial.tested, clock=time.perf_counter, advance=lambda _: None).auc for peer in peers]
    columns = np.stack([without_own(trial, default, found), *areas], axis=2)
    nothing = np.full((*found.auc.shape[:2], len(found.names) + columns.shape[2]), np.nan)
    names = [*found.names, WITHOUT, *(peer.name for peer in peers)]
    return HoldoutRanking(names, TIMES, found.users, np.concatenate([found.auc, columns], axis=2), nothing, nothing)


def without_own(trial: Trial, one: Contender, found: HoldoutRanking) -> NDArray[np.float64]:
    """AUC of the start that everybody has, with what others had said of the candidates by then."""
    areas = np.full(found.auc.shape[:2], np.nan)
    start = one.learner.start(one.prior)
    for place, t in enumerate(TIMES):
        for column in np.flatnonzero(found.testable(place)).tolist():
            rows = trial.holdout_rows(found.users[column : column + 1], t)
            features, like = trial.table.features[trial.table.candidate[rows]], trial.table.like[rows]
            scores = one.learner.score(start, features, one.heard_when_ranked(trial, rows, t))
            areas[place, column] = auc(rounded(np.asarray(scores)), like)
    return areas


if __name__ == "__main__":
    main()
