"""How wrong are experiments in a two-sided market? Arms by user, by region and in blocks of time, beside the truth.

python benchmarks/interference.py [--seeds 8] [--side 120] [--rounds 6] [--deck 3]

Each seed is a town of archetypes in regions, where a tenth of the people would meet people anywhere. The same people live
through both arms for everybody, which is the truth, and through the three experiments, each twice with the arms exchanged.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

from kaczmatch.recommend.policy import MutualPolicy
from kaczmatch.service.arms import Arm, Assigned
from kaczmatch.service.rules import Rules
from kaczmatch.simulation.market.designs import Regions, found
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.populations import Census, town

CHANCE = Arm("chance", MutualPolicy(floor=1.0, admirers=0.0))
BARE, DEFAULT = Arm("mutual without admirer quota", MutualPolicy(admirers=0.0)), Arm("the service's default", Rules().policy)
PAIRS = ((CHANCE, DEFAULT), (BARE, DEFAULT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--side", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--deck", type=int, default=3)
    options = parser.parse_args()
    pace, census = Pace(rounds=options.rounds, deck=options.deck), Census(side=options.side, like_rate=0.4, flip=0.1)
    towns = [town("archetypes", seed, census) for seed in range(options.seeds)]
    print(
        f"{options.seeds} towns of {2 * options.side} people, {pace.cards} cards each; matches per 100 cards ± standard error\n"
    )
    print("| difference | if everybody had it | arms by | found | off the truth by |\n| --- | --- | --- | --- | --- |")
    for first, second in PAIRS:
        name = f"{second.name} minus {first.name}"
        watched = track(towns, name, console=Console(stderr=True))
        studies = [found(one, (first, second), Regions(), pace, block=1) for one in watched]
        truth = np.array([study.truth for study in studies])
        for assigned in studies[0].by:
            values = np.array([study.by[assigned] for study in studies])
            told = f"{name} | {_with_error(truth)}" if assigned is Assigned.USER else " | "
            print(f"| {told} | {assigned} | {_with_error(values)} | {_with_error(values - truth)} |", flush=True)


def _with_error(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Mean and standard error over towns, without those where an experiment gave everybody one arm."""
    known = values[~np.isnan(values)]
    return f"{known.mean():+.2f} ± {known.std(ddof=1) / np.sqrt(len(known)):.2f}"


if __name__ == "__main__":
    main()
