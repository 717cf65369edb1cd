"""What appeal does to exposure, on real swipes: how unequally candidates come to the top when it is a coordinate, and when not.

    python benchmarks/exposure.py FOLDER [--out FOLDER]        the folder that further.py takes

MovieLens: after 20 swipes everybody is shown the best 20 of the rest of their own list; speed dating: after 5 dates the best 3 of
the evening's rest. Gini of how often each is shown, a list that has them: 0 for everybody alike, 1 for one only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import kaczmatch
from further import Data, dating, movielens
from kaczmatch import fit_prior
from kaczmatch.core.vectors import Vector
from kaczmatch.report.results import Table
from tables import add_out, tell


def gini(shares: Vector) -> float:
    ordered = np.sort(shares)
    n = len(ordered)
    return float(2.0 * np.arange(1, n + 1) @ ordered / (n * ordered.sum()) - (n + 1) / n)


def shown(data: Data, t: int, top: int, *, tags: bool, appeal: bool) -> Vector:
    """How often each candidate is among the best, divided by how often it could have been."""
    log = data.log
    assert log.candidate_row is not None
    learner = kaczmatch.learner("probit", appeal=appeal)
    prior = fit_prior(learner, log.select(data.fit))
    counts, lists = np.zeros((2, len(log.features)))
    for user in data.test:
        rows = data.rows(user)
        state = learner.start(prior)
        for row in rows[:t]:
            state = learner.swipe(state, log.shown_candidate(row), int(log.label[row]))
        rest = rows[t:]
        known = data.known[t][rest]
        scores = learner.score(state, log.features[log.candidate_row[rest]], known) if tags else known[:, 0]
        counts[log.candidate_row[rest[np.argsort(-scores, kind="stable")[:top]]]] += 1.0
        lists[log.candidate_row[rest]] += 1.0
    return np.asarray(counts[lists > 0] / lists[lists > 0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    add_out(parser)
    options = parser.parse_args()
    rows = []
    for data, t, top in ((movielens(options.folder), 20, 20), (dating(options.folder), 5, 3)):
        for name, tags, appeal in (("tags only", True, False), ("tags and appeal", True, True), ("appeal alone", False, True)):
            shares = shown(data, t, top, tags=tags, appeal=appeal)
            rows.append({"log": data.name, "scored by": name, "Gini": gini(shares), "never shown": float(np.mean(shares == 0.0))})
    tell(options.out, Table("exposure", "How unequally candidates come to the top", rows))


if __name__ == "__main__":
    main()
