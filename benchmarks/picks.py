"""Everybody's ten best: our tiles beside blocked numpy products and beside the service's own index, in one run.

Wall-clock time on all cores, since that is what a nightly job takes; run it on a quiet machine. Prints ratios and ends with 1
where one is below its floor.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import numpy as np
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

import kaczmatch
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.top_picks import top_picks
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.report.results import Table
from tables import add_out, tell

DAY = date(2026, 6, 1)
TAGS, K, BLOCK = 60, 10, 512
FLOOR = 5.0
ASKED = 1_000  # people whom the index is asked for; the rest take as long each


def crowd(people: int) -> tuple[list[Profile], list[kaczmatch.State], kaczmatch.Learner, Vocabulary]:
    """Two kinds, ages from 18 on, four cities, half looking within 30 to 200 km: about a tenth of all pairs can meet."""
    rng = np.random.default_rng(0)
    rule = kaczmatch.learner("probit-diag")
    vocabulary = Vocabulary.of([f"tag {i}" for i in range(TAGS)], [])
    cities = ((52.5, 13.4), (48.1, 11.6), (53.6, 10.0), (50.9, 7.0))
    profiles, states = [], []
    starts = []
    for _ in range(200):  # tastes: 200 of them, shared, since learning for everybody would take longer than all picks
        state = rule.start(np.zeros(TAGS))
        for _ in range(40):
            state = rule.swipe(state, (rng.random(TAGS) < 0.2).astype(float), int(rng.choice([-1, 1])))
        starts.append(state)
    for number in range(people):
        age = int(min(18 + abs(rng.normal()) * 12, 80))
        woman = rng.random() < 0.5
        where = np.array(cities[rng.integers(len(cities))]) + rng.normal(0.0, 0.2, 2)
        near = rng.random() < 0.5
        profiles.append(
            Profile(
                id=number,
                i_am=frozenset(["woman" if woman else "man"]),
                i_look_for=frozenset(["man" if woman else "woman"]) if rng.random() < 0.9 else frozenset(["man", "woman"]),
                born=date(DAY.year - age, 1, 1),
                features=(rng.random(TAGS) < 0.2).astype(float),
                ages=(max(18, age - 2 - int(rng.integers(8))), age + 2 + int(rng.integers(8))),
                location=Location.from_coordinates(*where.tolist()),
                within_km=float(rng.uniform(30.0, 200.0)) if near else float("inf"),
            )
        )
        states.append(starts[int(rng.integers(len(starts)))])
    return profiles, states, rule, vocabulary


def by_numpy(c: PickColumns) -> np.ndarray:
    """Blocks of rows against everybody, then argpartition: what one writes first."""
    found = np.empty((len(c), K), np.int64)
    for first in range(0, len(c), BLOCK):
        rows = slice(first, first + BLOCK)
        forward = c.random_share[rows, None] / 2 + (1 - c.random_share[rows, None]) * ndtr(c.weights[rows] @ c.profiles.T)
        forward *= c.random_share / 2 + (1 - c.random_share) * ndtr(c.profiles[rows] @ c.weights.T)
        fits = ((c.i_look_for[rows, None] & c.i_am) != 0) & ((c.i_look_for & c.i_am[rows, None]) != 0)
        fits &= (c.age >= c.youngest[rows, None]) & (c.age <= c.oldest[rows, None])
        fits &= (c.age[rows, None] >= c.youngest) & (c.age[rows, None] <= c.oldest)
        chord = (c.x[rows, None] - c.x) ** 2 + (c.y[rows, None] - c.y) ** 2 + (c.z[rows, None] - c.z) ** 2
        fits &= chord <= np.minimum(c.max_squared_chord[rows, None], c.max_squared_chord)
        fits[np.arange(len(fits)), first + np.arange(len(fits))] = False
        forward[~fits] = -1.0
        found[rows] = np.argpartition(-forward, K, axis=1)[:, :K]
    return found


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50_000)
    parser.add_argument("--curve", type=int, nargs="*", default=[], help="also these numbers of people, our tiles alone")
    add_out(parser)
    given = parser.parse_args()
    profiles, states, rule, vocabulary = crowd(max([given.people, *given.curve]))

    def columns_of(n: int) -> PickColumns:
        people = FilterColumns.from_profiles(profiles[:n], DATING)
        return PickColumns.of(people, [p.features for p in profiles[:n]], rule, states[:n], vocabulary, DAY)

    columns = columns_of(given.people)
    top_picks(columns_of(1_000), K)  # compiles
    ours, picks = seconds(lambda: top_picks(columns, K))
    with threadpool_limits(os.cpu_count()):
        numpys, theirs = seconds(lambda: by_numpy(columns))
    same = np.mean([len(np.intersect1d(a[a >= 0], b)) == (a >= 0).sum() for a, b in zip(picks.candidates, theirs, strict=True)])

    index = CandidateIndex(vocabulary, rule)
    index.upsert(*profiles[: given.people])
    index.set_states(dict(enumerate(states[: given.people])))
    asked = np.random.default_rng(1).choice(given.people, ASKED, replace=False).tolist()

    def ask(number: int) -> None:
        viewer, rng = Viewer(profiles[number], rule, states[number]), np.random.default_rng(number)
        with index.reading() as view:
            view.search(view.search_filter(viewer.profile, DAY), index.viewer_weights(viewer, "product"), K + 1, rng)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(ask, asked))
        indexs = seconds(lambda: list(threads.map(ask, asked)))[0] / ASKED * given.people
    rows = [
        {"way": "tiles", "seconds": round(ours, 2), "times ours": 1.0},
        {"way": "blocked numpy products, argpartition", "seconds": round(numpys, 2), "times ours": round(numpys / ours, 1)},
        {
            "way": f"the index, asked once per person ({ASKED:,} asked)",
            "seconds": round(indexs, 2),
            "times ours": round(indexs / ours, 1),
        },
    ]
    tables = [Table("ways", f"Everybody's {K} best of {given.people:,} people", rows)]
    if given.curve:
        curve = [(n, seconds(lambda n=n: top_picks(columns_of(n), K))[0]) for n in given.curve]
        tables.append(
            Table("curve", "Seconds by the number of people", [{"people": n, "seconds": round(t, 2)} for n, t in curve])
        )
    tell(given.out, *tables)
    print(f"\nThe same people as numpy's for {same:.4%} of all; the rest are ties of float32 sums.")
    ratio = min(numpys, indexs) / ours
    print(f"Floor: {FLOOR} times as fast as the faster of the two; {ratio:.1f}.")
    sys.exit(ratio < FLOOR)


if __name__ == "__main__":
    main()
