"""What traits cost a deck: the same people dealt by `probit-traits`, and by `probit-diag` with appeal, in turns.

    python benchmarks/trait_decks.py [--side 2500] [--traits 8] [--out FOLDER]

Some people of a town have swiped. The population is fitted to that twice, with traits and without, and decks are dealt by the
service's default policy. A deck with traits is to take at most a tenth longer.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.report.results import Table
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.simulation.market.populations import Census, town
from kaczmatch.simulation.market.refit import MarketDecision, Refitted, refit
from kaczmatch.simulation.market.town import START, Town
from tables import add_out, tell

DECK, VIEWERS, SWIPED, SWIPES = 32, 50, 400, 30
LONGEST: Final = 1.1  # times the deck without traits
WITHOUT, WITH = "appeal", "traits"


@dataclass(frozen=True)
class Dealer:
    """Decks by one learner."""

    people: Town
    population: Refitted
    recommender: Recommender

    @classmethod
    def fitted(cls, people: Town, decided: list[MarketDecision], features: Matrix, traits: int) -> Dealer:
        population = refit(decided, features, (traits,), seed=0)
        fold, now = population.fold, decided[-1].at
        indexed = IndexedStates.of(people.vocabulary, fold.learner, fold.prior, people.profiles[0].schema)
        indexed.index.upsert(*people.profiles)
        indexed.learn({place: tracked.state for place, tracked in population.tracked.items()})
        indexed.index.set_appeal({place: population.heard.of(place, None, now) for place in range(len(people))})
        return cls(people, population, indexed.recommender(ServiceConfig().policy))

    def deal(self, viewer: int) -> None:
        now, fold = START + timedelta(days=1), self.population.fold
        heard = self.population.heard.of(viewer, None, now)
        me = Viewer(self.people.profiles[viewer], fold.learner, self.population.tracked[viewer].state, heard)
        self.recommender.deck(me, DECK, now=now, rng=np.random.default_rng(viewer))


def milliseconds(dealers: dict[str, Dealer], viewers: list[int], rounds: int) -> dict[str, float]:
    """Of a deck, averaged over viewers, the best round after one to warm up."""
    best = dict.fromkeys(dealers, math.inf)
    for number in range(rounds + 1):
        for name, dealer in dealers.items():
            start = time.perf_counter()
            for viewer in viewers:
                dealer.deal(viewer)
            if number:
                best[name] = min(best[name], 1e3 * (time.perf_counter() - start) / len(viewers))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=2_500, help="people on each side")
    parser.add_argument("--traits", type=int, default=8)
    add_out(parser)
    options = parser.parse_args()
    people = town("archetypes", 0, Census(side=options.side))
    rng, features = np.random.default_rng(0), np.array([profile.features for profile in people.profiles])
    swiped = rng.permutation(len(people))[:SWIPED].tolist()
    decided = [
        MarketDecision(viewer, candidate, 1 if people.says[viewer, candidate] else -1, START + timedelta(seconds=turn))
        for turn, viewer in enumerate(swiped)
        for candidate in rng.choice(len(people), SWIPES, replace=False).tolist()
    ]
    dealers = {name: Dealer.fitted(people, decided, features, many) for name, many in ((WITHOUT, 0), (WITH, options.traits))}
    found = milliseconds(dealers, swiped[:VIEWERS], rounds=15)
    title = f"A deck of {DECK} among {len(people):,} people, mean of {VIEWERS} viewers"
    rows = [{"heard of candidates": name, "milliseconds": ms, "times as long": ms / found[WITHOUT]} for name, ms in found.items()]
    tell(options.out, Table("trait-decks", title, rows, timed=True))
    if found[WITH] > LONGEST * found[WITHOUT]:
        print(f"OVER ITS LIMIT of {LONGEST}")


if __name__ == "__main__":
    main()
