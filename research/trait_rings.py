"""How far a ring of accounts moves what everybody thinks of a candidate through traits.

    python research/trait_rings.py [--users 400] [--candidates 120] [--out FOLDER]

Accounts without history, and accounts shaped by earlier swipes, all like one candidate. What they move is the mean viewer's
log-odds of a like: of a newcomer of whom nobody spoke, and of candidates with 20 raters. Whom all 20 disliked, twenty accounts
move the most: then half of all raters are theirs. The fit knows the raters, or (`later`) all of them came after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from _script import options, tell
from kaczmatch import CandidateTraits, ShownCandidate, State, SwipeLog, TraitModel, fit_population
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.report.results import Table
from simulated_traits import TraitWorld

KNOWN: Final = 20  # raters with which a candidate counts as known
LATER: Final = 100  # people who come after the fit
LIMITS: Final = {"first": 0.6, "eleventh": 0.1, "twenty": 3.5, "known": 1.0}  # log-odds
MOVED: Final = ("known", "most_disliked", "known_later", "most_disliked_later")
Decide = Callable[[Vector, np.random.Generator], bool]  # like or pass, by traits as shown


def _of_first_trait(said: Vector, _: np.random.Generator) -> bool:
    return bool(said[0] > 0.0)


# How accounts were used before: on how many people, and whom they liked.
SHAPES: Final[Mapping[str, tuple[int, Decide]]] = {
    "new": (0, _of_first_trait),
    "passed on 5": (5, lambda _said, _rng: False),
    "passed on 20": (20, lambda _said, _rng: False),
    "passed on 100": (100, lambda _said, _rng: False),
    "liked 100": (100, lambda _said, _rng: True),
    "100 by the first trait": (100, _of_first_trait),
    "100 at random": (100, lambda _said, rng: bool(rng.random() < 0.3)),
}


@dataclass(frozen=True)
class Market:
    """A fitted population: everybody's features, and what `KNOWN` raters said of those who have as many."""

    model: TraitModel
    features: Matrix
    sums: dict[int, CandidateTraits]  # by raters whom the fit knows
    later: dict[int, CandidateTraits]  # by raters who came after the fit

    @classmethod
    def simulated(cls, seed: int, *, users: int = 200, candidates: int = 60, traits: int = 4) -> Market:
        world, each = TraitWorld.of(seed, candidates), candidates // 2
        return cls.fitted(world.swipes(users, each), world.swipes(LATER, each, first=users), traits, seed)

    @classmethod
    def fitted(cls, log: SwipeLog, later: SwipeLog, traits: int, seed: int = 0) -> Market:
        found = fit_population(log, learner=ProbitTraits(traits=traits), traits=True, seed=seed)
        assert isinstance(found.learner, ProbitTraits)
        assert found.sites is not None
        model = TraitModel(learner=found.learner, prior=found.prior)
        rater = np.asarray(later.user).astype(np.int64)
        sites = SiteLog(rater, np.asarray(later.candidate_row), np.asarray(later.at), follow_traits(model, later, rater).sites)
        return cls(model, log.features, _of_first_raters(found.sites), _of_first_raters(sites))

    def account(self, shape: str, rng: np.random.Generator) -> State:
        swipes, decide = SHAPES[shape]
        learner = self.model.learner
        state = learner.start(self.model.prior)
        for row in rng.choice(list(self.sums), swipes).tolist():
            said = self.model.shown(self.features[row], self.sums[row], 0.0)
            state = learner.swipe(state, ShownCandidate(self.features[row], said), "like" if decide(said, rng) else "pass")
        return state

    def log_odds(self, row: int, traits: CandidateTraits) -> float:
        """Of a like by the mean viewer."""
        learner = self.model.learner
        said = self.model.shown(self.features[row], traits, 0.0)
        p = float(learner.probability(learner.start(self.model.prior), self.features[row], said))
        return math.log(p / (1.0 - p))

    def path(self, row: int, before: CandidateTraits, accounts: list[State]) -> list[float]:
        """Log-odds before, and after each account's like."""
        found, traits = [self.log_odds(row, before)], before
        for each in accounts:
            traits = traits.plus(self.model.site(each, self.features[row], "like", 0.0))
            found.append(self.log_odds(row, traits))
        return found


def _of_first_raters(sites: SiteLog) -> dict[int, CandidateTraits]:
    rows = {one: np.flatnonzero(sites.candidate == one)[:KNOWN] for one in np.unique(sites.candidate).tolist()}
    return {
        one: CandidateTraits(sites.sites[said].sum(axis=0, dtype=np.int64)) for one, said in rows.items() if len(said) == KNOWN
    }


def largest(market: Market, shape: str, seed: int = 0, targets: int = 6) -> dict[str, float]:
    """The most that a ring of twenty moves some newcomer; of known candidates a typical one, and the one it moves most."""
    rng = np.random.default_rng([seed, 60])
    accounts = [market.account(shape, rng) for _ in range(20)]
    known = list(market.sums)[:targets]
    nothing = CandidateTraits.unknown(market.model.learner.traits)
    as_newcomer = np.array([market.path(row, nothing, accounts) for row in known])
    by_raters: list[float] = []
    for sums in (market.sums, market.later):
        paths = np.array([market.path(row, sums[row], accounts) for row in list(sums)[:targets]])
        moved = paths[:, 20] - paths[:, 0]
        by_raters += [float(np.median(moved)), float(moved.max())]
    return {
        "first": float((as_newcomer[:, 1] - as_newcomer[:, 0]).max()),
        "eleventh": float((as_newcomer[:, 11] - as_newcomer[:, 10]).max()),
        "twenty": float((as_newcomer[:, 20] - as_newcomer[:, 0]).max()),
        **dict(zip(MOVED, by_raters, strict=True)),
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, seeds=1, users=400)
    parser.add_argument("--candidates", type=int, default=120)
    asked = parser.parse_args(words)
    rows = []
    for traits in (1, 4, 8):
        market = Market.simulated(0, users=asked.users, candidates=asked.candidates, traits=traits)
        rows += [{"traits": traits, "accounts": shape, **largest(market, shape, targets=40)} for shape in SHAPES]
    rows.append({"traits": None, "accounts": "at most", **LIMITS, **dict.fromkeys(MOVED, LIMITS["known"])})
    tell(asked.out, [Table("rings", "What likes of a ring move, log-odds of the mean viewer", rows)])


if __name__ == "__main__":
    main()
