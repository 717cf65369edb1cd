"""How often a matching on learned preferences is stable for what people truly like, and whether uncertainty helps.

    python research/stability.py [--seeds 10] [--users 200] [--swipes 500] [--out FOLDER]

People of two sides swipe on others. Deferred acceptance then gives everybody one partner by what was learned (Gale and Shapley
1962). By the truth, no two people would both rather have each other. This counts how far estimates are from that, and whether it
helps to use what a learner knows of its uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from _script import options, tell, tick
from kaczmatch import Learner, State, learner
from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Integers, unit_rows
from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.proposals import propose
from kaczmatch.report.results import Figure, Table
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import HONEST, UNSEEN, World, world

SIDE: Final = 5  # people on each side of a market
TIMES: Final = (10, 20, 50, 100, 200, 500)  # and 0
DRAWS: Final = 100  # of everybody's taste
PERFECT, IGNORED = "perfect knowledge", "probit, uncertainty ignored"
EXPECTED, LIKELIEST = "probit, stable in expectation", "probit, most likely stable"
NAMES: Final = (PERFECT, "block-nk", IGNORED, EXPECTED, LIKELIEST)
MEASURES: Final = {
    "stable": "Share of matchings that are stable for the truth",
    "blocking_pairs": f"Blocking pairs of a matching, of {SIDE * SIDE} pairs",
    "lost_welfare": "Welfare lost beside perfect knowledge",
}

Liking = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MatchingMarket:
    """How much people of each side like those of the other. The last two axes are owner and other; there may be one of draws."""

    first: Liking
    second: Liking

    def matching(self) -> Integers:
        """Whom each of the first side gets if that side proposes."""
        n = self.first.shape[-1]
        at, one, none = np.arange(n), np.ones(n, np.int32), np.zeros(n, np.int32)
        across = (at * n + at[:, None]).ravel()
        lists = CandidateLists(
            begin=np.arange(2 * n + 1) * n,
            other=np.concatenate([np.tile(at + n, n), np.tile(at, n)]).astype(np.int32),
            forward=np.concatenate([self.first.ravel(), self.second.ravel()]).astype(np.float32),
            back=np.concatenate([n * n + across, across]),
        )
        pairs = propose(lists, lists.forward, lists.forward[lists.back], np.append(one, none), np.append(none, one))
        return np.asarray(lists.other[pairs] - n, np.int64)

    def blocking(self, partner: Integers) -> NDArray[np.int64]:
        """How many pairs would both rather have each other than whom they get; one number per draw."""
        rows = np.arange(len(partner))
        rather = self.first > self.first[..., rows, partner][..., None]
        back = self.second > self.second[..., rows, np.argsort(partner)][..., None]
        return np.asarray((rather & back.swapaxes(-1, -2)).sum(axis=(-1, -2)))

    def welfare(self, partner: Integers) -> float:
        """The share of the other side whom somebody likes less than whom they get, as a mean over everybody."""
        rows = np.arange(len(partner))
        first = self.first < self.first[rows, partner][:, None]
        second = self.second < self.second[rows, np.argsort(partner)][:, None]
        return float((first.mean() + second.mean()) / 2.0)


def most_likely_stable(drawn: MatchingMarket) -> Integers:
    """Of the matchings for single draws, the one that is stable for most draws; of equals, the one with fewest blocking pairs."""
    every = [MatchingMarket(*both).matching() for both in zip(drawn.first, drawn.second, strict=True)]
    blocking = [drawn.blocking(partner) for partner in every]
    return every[max(range(len(every)), key=lambda place: (np.mean(blocking[place] == 0), -np.mean(blocking[place])))]


def measured(seeds: int, users: int, swipes: int) -> tuple[dict[tuple[str, int], dict[str, float]], int]:
    """Means by name and swipes, and of how many markets. Everybody learned on people whom they are not matched with."""
    markets = max(min(users, UNSEEN) // (2 * SIDE), 1)
    sized = replace(HONEST, deck=10, sessions=swipes // 10, users=2 * SIDE * markets)
    times = [t for t in (0, *TIMES) if t <= sized.swipes]
    found: dict[tuple[str, int], list[tuple[float, ...]]] = {}
    for seed in range(seeds):
        here = world(sized, seed)
        truth = _markets(unit_rows(here.tastes[0]) @ unit_rows(_tags(here)).T)
        best = [market.matching() for market in truth]
        for name, t, matchings in [*_on_estimates(here, seed), *((PERFECT, t, best) for t in times)]:
            tick(f"{name}, {t} swipes, seed {seed}")
            for market, ideal, partner in zip(truth, best, matchings, strict=True):
                pairs, lost = int(market.blocking(partner)), market.welfare(ideal) - market.welfare(partner)
                found.setdefault((name, t), []).append((pairs == 0, pairs, lost))
    means = {key: dict(zip(MEASURES, np.mean(values, axis=0).tolist(), strict=True)) for key, values in found.items()}
    return means, markets * seeds


def _tags(here: World) -> Liking:
    """Of the users, who are people on whom nobody swiped."""
    return here.unseen[: here.condition.users]


def _markets(liking: Liking) -> list[MatchingMarket]:
    """From how much everybody likes everybody."""
    starts = range(0, liking.shape[-1], 2 * SIDE)
    sides = [(slice(at, at + SIDE), slice(at + SIDE, at + 2 * SIDE)) for at in starts]
    return [MatchingMarket(liking[..., one, other], liking[..., other, one]) for one, other in sides]


def _on_estimates(here: World, seed: int) -> Iterator[tuple[str, int, list[Integers]]]:
    """The matching of each market by what was learned after so many swipes."""
    tags, rng = _tags(here), np.random.default_rng([seed, 7])
    paper, ours = learner("block-nk"), learner("probit")
    x = ours.coordinates(tags)
    for t, states in _states(paper, here):
        yield "block-nk", t, [market.matching() for market in _markets(np.stack([paper.score(one, tags) for one in states]))]
    for t, states in _states(ours, here):
        for name, liking in (
            (IGNORED, [x @ ours.mean(one) for one in states]),
            (EXPECTED, [ours.probability(one, tags) for one in states]),
        ):
            yield name, t, [market.matching() for market in _markets(np.stack(liking))]
        drawn = np.stack([ours.draws(one, DRAWS, rng) @ x.T for one in states], axis=1)
        yield LIKELIEST, t, [most_likely_stable(market) for market in _markets(drawn)]


def _states(one: Learner, here: World) -> Iterator[tuple[int, Sequence[State]]]:
    priors = priors_of(one, here)
    yield 0, [one.start(prior) for prior in priors]
    found = trace(one, here, TIMES, followed=False)
    for t in found.checkpoints:
        yield t, found.states(t, priors)


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, seeds=10, users=200)
    parser.add_argument("--swipes", type=int, default=max(TIMES))
    asked = parser.parse_args(words)
    means, markets = measured(asked.seeds, asked.users, asked.swipes)
    times = sorted({t for _, t in means})
    tables = [
        Table(
            f"stability-{measure.replace('_', '-')}",
            f"{title}; {markets} markets",
            [{"learner": name} | {f"after_{t}": means[name, t][measure] for t in times} for name in NAMES],
        )
        for measure, title in MEASURES.items()
    ]
    points: list[dict[str, Any]] = [{"learner": name, "swipes": t, **values} for (name, t), values in means.items()]
    chart = line_chart(
        points, x="swipes", y="blocking_pairs", title="Stability of matchings on learned preferences", names=NAMES,
        x_title="swipes", y_title="blocking pairs",
    )  # fmt: skip
    tell(asked.out, tables, [Figure("stability", chart, f"mean of {markets} markets of {SIDE} on each side")])


if __name__ == "__main__":
    main()
