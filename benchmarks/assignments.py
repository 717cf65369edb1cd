"""Deferred acceptance beside the package `matching`, and the equilibrium of `fair` picks on all cores, in bounded memory.

Both solve complete lists on one thread. Only solving counts, in processor time, and a rate is entries of lists per second.
`matching` is given twice as many people each time until it no longer answers within `--patience` seconds; the largest size it
did is the one that counts. Ends with 1 where the ratio is below its floor.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
import sys
import time
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty

import numpy as np

from kaczmatch.recommend.assignments.deferred_acceptance import ProposalLists, deferred_acceptance
from kaczmatch.recommend.assignments.fair import Fair
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.report.results import Table
from tables import add_out, tell

FLOOR = 50.0
DIMENSIONS = 62


def complete_lists(n: int, seed: int) -> ProposalLists:
    """Everybody orders everybody at random; the random numbers of receivers are their worths."""
    rng = np.random.default_rng(seed)
    receiver = rng.permuted(np.tile(np.arange(n, dtype=np.int32), (n, 1)), axis=1).ravel()
    return ProposalLists(np.arange(0, n * n + 1, n), receiver, rng.random(n * n, dtype=np.float32))


def by_matching(n: int, told: Queue[float]) -> None:
    """Tells the seconds that `matching` needs; run in a process of its own, since large games end the interpreter."""
    from matching.games import StableMarriage

    rng = np.random.default_rng(0)
    order = [[f"r{r}" for r in rng.permutation(n)] for _ in range(n)]
    theirs = [[f"p{p}" for p in rng.permutation(n)] for _ in range(n)]
    sys.setrecursionlimit(1_000_000)  # it copies all players with a recursion from one to the next
    game = StableMarriage.create_from_dictionaries(
        {f"p{p}": row for p, row in enumerate(order)}, {f"r{r}": row for r, row in enumerate(theirs)}
    )
    begun = time.process_time()
    game.solve(optimal="suitor")
    told.put(time.process_time() - begun)


def largest_of_matching(first: int, patience: float) -> tuple[int, float]:
    """The most people that `matching` can do within so many seconds, and its seconds."""
    done = (0, 0.0)
    for n in itertools.accumulate(itertools.repeat(2), int.__mul__, initial=first):
        own = multiprocessing.get_context("spawn")
        told: Queue[float] = own.Queue()
        child = own.Process(target=by_matching, args=(n, told))
        child.start()
        try:
            done = n, told.get(timeout=patience)
        except Empty:
            child.terminate()
            print(f"matching: {n:,} on each side did not end in {patience:.0f} seconds", file=sys.stderr)
            return done
        finally:
            child.join()
        print(f"matching: {n:,} on each side in {done[1]:.1f} s", file=sys.stderr)
    raise AssertionError("accumulate never ends")


def two_sides(n: int) -> PickColumns:
    """n people on each side, all of one age and place, with random tastes."""
    rng = np.random.default_rng(0)
    both = 2 * n
    tags = (rng.random((both, 60)) < 0.2).astype(np.float32)
    tags[:, 0] = 1.0
    profiles = np.column_stack([tags / np.linalg.norm(tags, axis=1)[:, None], np.ones(both), np.zeros(both)]).astype(np.float32)
    weights = rng.standard_normal((both, DIMENSIONS), dtype=np.float32)
    weights[:, 60], weights[:, 61] = rng.standard_normal(both) * 0.5 - 0.6, 0.0
    i_am = np.repeat(np.array([1, 2], np.uint32), n)
    age = np.full(both, 30, np.int32)
    place = np.ones(both, np.float32), np.zeros(both, np.float32), np.zeros(both, np.float32)
    nobody = np.empty(0, np.int32), np.zeros(both + 1, np.int64)
    return PickColumns(
        range(both), weights, profiles, np.full(both, 0.1, np.float32), i_am, 3 - i_am, age, age - 5, age + 5, *place,
        np.full(both, 9.0, np.float32), *nobody,
    )  # fmt: skip


def fair(people: int, tolerance: float, out: Path | None) -> bool:
    """Measure the equilibrium, and tell whether it was found."""
    Fair(most_rounds=1).equilibrium(two_sides(200))  # compiles
    begun = time.perf_counter()
    found = Fair(tolerance=tolerance).equilibrium(two_sides(people))
    row = {
        "people": f"{people:,} x {people:,}",
        "tolerance": tolerance,
        "rounds": found.rounds,
        "error": found.error,
        "seconds": round(time.perf_counter() - begun, 1),
        "GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    tell(out, Table("fair", "The equilibrium of fair picks", [row]))
    return found.error <= tolerance


def stable(people: int, matching: int, patience: float, out: Path | None) -> bool:
    """Measure deferred acceptance beside `matching`, and tell whether it is fast enough."""
    small, room = complete_lists(100, 1), np.ones(100, np.int32)
    deferred_acceptance(small, room, room)  # compiles
    lists, room = complete_lists(people, 0), np.ones(people, np.int32)
    begun = time.process_time()
    together = deferred_acceptance(lists, room, room)
    ours = time.process_time() - begun
    assert together.sum() == people
    del lists, together
    matching, theirs = largest_of_matching(matching, patience)
    rates = people**2 / ours, matching**2 / theirs
    rows = [
        {"way": "ours", "people": people, "seconds": round(ours, 3), "entries per second": round(rates[0])},
        {"way": "matching", "people": matching, "seconds": round(theirs, 3), "entries per second": round(rates[1])},
    ]
    tell(out, Table("stable", "Deferred acceptance, complete lists", rows))
    print(f"\nFloor: {FLOOR} times the rate of matching; {rates[0] / rates[1]:.0f}.")
    return rates[0] / rates[1] >= FLOOR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10_000, help="on each side, for deferred acceptance")
    parser.add_argument("--matching", type=int, default=250, help="on each side, where the package matching begins; 0: neither")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that matching has for one size")
    parser.add_argument("--market", type=int, default=20_000, help="on each side, for the equilibrium; 0: none")
    parser.add_argument("--tolerance", type=float, default=1e-2)
    add_out(parser)
    given = parser.parse_args()
    within = not given.market or fair(given.market, given.tolerance, given.out)  # first, since it tells the most memory so far
    fast = not given.matching or stable(given.people, given.matching, given.patience, given.out)
    sys.exit(not (within and fast))


if __name__ == "__main__":
    main()
