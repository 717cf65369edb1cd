"""How wrong are experiments in a two-sided market? Arms by user, by region and in blocks of time, beside the truth.

python benchmarks/interference.py [--seeds 8] [--side 120] [--rounds 6] [--deck 3] [--out FOLDER]

Each seed is a town of archetypes in regions, where a tenth of the people would meet people anywhere. The same people live
through both arms for everybody, which is the truth, and through the three experiments, each twice with the arms exchanged.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.report.results import Table
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.experiment import Arm
from kaczmatch.simulation.market.designs import Regions, compare_designs
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.populations import Census, town
from tables import add_out, tell

ARMS = (Arm("chance", MutualPolicy(uniform_floor=1.0, admirer_quota=0.0)), Arm("the service's default", ServiceConfig().policy))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--side", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--deck", type=int, default=3)
    add_out(parser)
    options = parser.parse_args()
    pace, census = Pace(rounds=options.rounds, deck=options.deck), Census(side=options.side, like_rate=0.4, label_noise=0.1)
    seeds = track(range(options.seeds), "towns", console=Console(stderr=True))
    studies = [compare_designs(town("archetypes", seed, census), ARMS, Regions(), pace, block=1) for seed in seeds]
    truth = np.array([study.truth for study in studies])
    difference = f"{ARMS[1].name} minus {ARMS[0].name}"
    rows = [{"arms by": "none: what changes if everybody has it", difference: _with_error(truth), "off the truth by": ""}]
    for assigned in studies[0].by:
        values = np.array([study.by[assigned] for study in studies])
        rows.append({"arms by": assigned, difference: _with_error(values), "off the truth by": _with_error(values - truth)})
    title = f"{options.seeds} towns of {2 * options.side} people, {pace.cards} cards each; matches per 100 cards ± standard error"
    tell(options.out, Table("interference", title, rows))


def _with_error(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Mean and standard error over towns, without those where an experiment gave everybody one arm."""
    known = values[~np.isnan(values)]
    left_out = len(values) - len(known)
    more = f" ({left_out} towns left out: one arm for all)" if left_out else ""
    return f"{known.mean():+.2f} ± {known.std(ddof=1) / np.sqrt(len(known)):.2f}{more}"


if __name__ == "__main__":
    main()
