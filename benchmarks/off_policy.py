"""Do off-policy intervals cover the truth? Simulated people use the real service; then its log judges policies it never dealt by.

python benchmarks/off_policy.py [--studies 100] [--couples 30] [--days 2] [--floor 0.3] [--out FOLDER]

The truth of a study is the likes a card that the policy would have earned at the very occasions that were dealt for, by the
people's own probabilities to like, which the service never sees.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from kaczmatch.core.errors import InvalidInput
from kaczmatch.inference.clustered import RatioEstimate
from kaczmatch.recommend.decks.policy import Always, DeckPlan, MutualPolicy, Policy
from kaczmatch.recommend.samplers.greedy import Greedy
from kaczmatch.recommend.samplers.uniform import Uniform
from kaczmatch.report.results import Table
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy
from tables import add_out, tell
from worlds.simulated import logged

CHANCE = Always(deck_plan=DeckPlan(sampler=Uniform(), reason="judged"))
BEST = Always(deck_plan=DeckPlan(sampler=Greedy(), reason="judged"))
POLICIES: dict[str, Policy] = {"chance": CHANCE, "mutual, without admirer quota": MutualPolicy(admirer_quota=0.0), "greedy": BEST}
ESTIMATES = {"IPS": "ips", "SNIPS": "snips", "doubly robust": "doubly_robust"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--couples", type=int, default=30)
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--floor", type=float, default=0.3)
    add_out(parser)
    options = parser.parse_args()
    found: dict[tuple[str, str], list[tuple[RatioEstimate, float]]] = {}
    refused = dict.fromkeys(POLICIES, 0)
    for seed in track(range(options.studies), "studies", console=Console(stderr=True)):
        town = logged(seed, options.couples, options.days, options.floor)
        for name, policy in POLICIES.items():
            try:
                told = OffPolicyEvaluation(town.context).evaluate(TargetPolicy(policy), np.random.default_rng(seed))
            except InvalidInput:
                refused[name] += 1
                continue
            truth = town.truth(policy, deals=3)
            found.setdefault((name, "as logged, for comparison"), []).append((told.logged, truth))
            for words, field in ESTIMATES.items():
                found.setdefault((name, words), []).append((getattr(told, field), truth))
    people, decks = 2 * options.couples, 2 * options.couples * options.days
    print("refused: " + ", ".join(f"{name} in {number}" for name, number in refused.items()))
    rows = []
    for (name, words), studies in found.items():
        errors = np.array([one.value - truth for one, truth in studies])
        covered = sum(one.covers(truth) for one, truth in studies)
        width = np.mean([(one.high - one.low) / 2.0 for one, _ in studies])
        truth = np.mean([truth for _, truth in studies])
        rows.append(
            {
                "policy judged": name,
                "estimate": words,
                "covers the truth": f"{covered} of {len(studies)}",
                "mean error": float(errors.mean()),
                "root mean square error": float(np.sqrt(np.square(errors).mean())),
                "mean half width": float(width),
                "truth": float(truth),
            }
        )
    title = (
        f"{options.studies} studies of {people} people and {decks} decks of 6; dealt by mutual with a floor of {options.floor}"
    )
    tell(options.out, Table("off-policy", title, rows))


if __name__ == "__main__":
    main()
