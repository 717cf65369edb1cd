"""Policies compared in a market where both sides choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any, final

import numpy as np

from kaczmatch.charts.market import market_chart
from kaczmatch.core.errors import InvalidInput, check_integer, did_you_mean
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation.market.arms import DEFAULT, GREEDY, PAPER, MarketPolicy, market_policies
from kaczmatch.simulation.market.engine import Pace, Refits
from kaczmatch.simulation.market.outcome import SOON, MarketOutcome
from kaczmatch.simulation.market.town import ABOUT, Census, town

ASKED_OF = "archetypes"  # where the default has to show this:
TIMES_PAPER, OF_GREEDY, MOST_GINI = 3.0, 0.95, 0.50


@final
@dataclass(frozen=True, slots=True)
class MarketComparison:
    """What came of each policy, by its name, one outcome per seed."""

    population: str
    census: Census
    pace: Pace
    outcomes: Mapping[str, Sequence[MarketOutcome]]

    @property
    def seeds(self) -> int:
        return len(next(iter(self.outcomes.values())))

    def mean(self, policy: str, measure: str) -> float:
        """NaN for a policy that was not run."""
        return float(np.mean([getattr(one, measure) for one in self.outcomes[policy]])) if policy in self.outcomes else np.nan

    @classmethod
    def of_whole_seeds(
        cls, population: str, census: Census, pace: Pace, outcomes: Mapping[str, Sequence[MarketOutcome]]
    ) -> MarketComparison:
        """What an interrupted run is good for: the seeds that every policy has played, or the policies of the first one."""
        whole = min(map(len, outcomes.values()))
        return cls(population, census, pace, {name: found[: whole or 1] for name, found in outcomes.items() if found})

    def ratio(self, policy: str, other: str) -> float:
        """Matches a card of one policy in units of another's."""
        below = self.mean(other, "matches_per_100")
        return self.mean(policy, "matches_per_100") / below if below > 0.0 else np.nan


def policies_named(names: Sequence[str], refits: Refits | None = None) -> list[MarketPolicy]:
    """The policies of these names, or all. Those that believe something refit it after each round, where `refits` are given."""
    known = {arm.name: arm for arm in market_policies()}
    if refits:
        believe = {name: arm for name, arm in known.items() if isinstance(arm.shared.learner, BeliefLearner)}
        known |= {name: replace(arm, shared=replace(arm.shared, refits=refits)) for name, arm in believe.items()}
    for name in names:
        if name not in known:
            raise InvalidInput("policy", f"there is no policy {name!r}; {did_you_mean(name, known)}")
    return [known[name] for name in names] if names else list(known.values())


def compare_policies(
    population: str,
    census: Census,
    pace: Pace,
    seeds: int,
    policies: Sequence[MarketPolicy],
    tick: Callable[[str], None],
    outcomes: dict[str, list[MarketOutcome]] | None = None,
    runner: Runner = LocalRunner(1),  # noqa: B008
    group: str = "",
) -> MarketComparison:
    """Every policy in the same towns; a policy in one town is a part.

    `tick` is told what is finished; `outcomes` is filled, so that an interrupted run has them. `group` names a tag or a kind.
    """
    outcomes = {} if outcomes is None else outcomes
    outcomes |= {arm.name: [] for arm in policies}
    numbers = range(check_integer("seeds", seeds, low=1, high=10_000))

    def keep(_: None, played: tuple[str, int, MarketOutcome]) -> None:
        name, seed, found = played
        outcomes[name].append(found)
        tick(f"{name}, seed {seed}")

    parts = [(seed, arm) for seed in numbers for arm in policies]
    runner.fold(partial(_played, population, census, pace, group), parts, keep, None)
    return MarketComparison(population, census, pace, outcomes)


_town = lru_cache(1)(town)  # the parts of one town follow each other


def _played(
    population: str, census: Census, pace: Pace, group: str, part: tuple[int, MarketPolicy]
) -> tuple[str, int, MarketOutcome]:
    seed, arm = part
    return arm.name, seed, arm.outcome(_town(population, seed, census), pace, group)


def market_part(found: MarketComparison) -> ReportPart:
    rows = [_row(found, name) for name in found.outcomes]
    note = (
        f"Mean over {found.seeds} seeds. matches: effective mutual matches per 100 cards shown, to both sides together; error: standard error over seeds. of_possible: share of all matches that an oracle, who knows what everybody would say, could make. "
        "gini: of how often each person was shown. "
        f"soon: share of people with one within {SOON} cards. first: cards seen until it, all where there was none. waiting: share of likes whose receiver was not shown "
        "who gave them. ranking: AUC, at the end, of those whom people were not shown. group_shown, group_matches: of somebody of the group, in units of somebody else's."
    )
    tables = [Table(f"market-{found.population}", f"Policies in a market: {found.population}", rows, note)]
    if found.population == ASKED_OF and {DEFAULT, PAPER, GREEDY} <= set(found.outcomes):
        tables.append(Table("market-asked", "What is asked of the default", _asked(found)))
    seeds = [
        {"policy": name, "seed": seed, **asdict(one)}
        for name, all_of in found.outcomes.items()
        for seed, one in enumerate(all_of)
    ]
    tables.append(Table(f"market-{found.population}-seeds", "Every seed", seeds, in_report=False))
    chart = market_chart(rows, title=f"Matches and fairness: {found.population}")
    caption = "Up is more matches, left is more equal exposure. Diamonds have both the admirer quota and the exposure cap."
    return ReportPart(f"market-{found.population}", f"A market: {found.population}", _words(found), tables, [Figure(f"market-{found.population}", chart, caption)])  # fmt: skip


def market_answer(found: MarketComparison) -> list[str]:
    """What to take home: who makes the most matches and by how much, and what the default gives up or gains."""
    ranked = sorted(found.outcomes, key=lambda name: (-round(found.mean(name, "matches_per_100"), 6), name != DEFAULT))

    def told(name: str) -> str:
        matches, uneven = found.mean(name, "matches_per_100"), found.mean(name, "gini")
        return f"{name} makes {matches:.2f} matches per 100 cards at an exposure Gini of {uneven:.2f}"

    if DEFAULT not in ranked:
        return [f"Most matches: {told(ranked[0])}."]
    ahead = {name: round(found.mean(name, "matches_per_100") - found.mean(DEFAULT, "matches_per_100"), 6) for name in ranked}
    place, level = 1 + sum(more > 0 for more in ahead.values()), sum(more == 0 for more in ahead.values()) - 1
    words = [f"The {told(DEFAULT)}: place {place} of {len(ranked)} by matches{f', level with {level}' if level else ''}."]
    if place > 1:
        words.append(f"Most matches: {told(ranked[0])}.")
    if {PAPER, GREEDY} <= set(ranked):
        over, of_greedy = found.ratio(DEFAULT, PAPER), found.ratio(DEFAULT, GREEDY)
        words.append(f"That is {over:.1f} times the matches of the paper's policy, and {of_greedy:.0%} of greedy's.")
    if len(ranked) > 1:
        words.append(_lead(found, ranked[0], DEFAULT if place > 1 else ranked[1]))
    return words


def _lead(found: MarketComparison, best: str, other: str) -> str:
    """By how much one policy is ahead of another, in the same towns."""
    seeds = zip(found.outcomes[best], found.outcomes[other], strict=True)
    ahead = [one.matches_per_100 - another.matches_per_100 for one, another in seeds]
    error = f" ± {np.std(ahead, ddof=1) / np.sqrt(len(ahead)):.2f}" if len(ahead) > 1 else ""
    soon, beside = found.mean(best, "matched_soon"), found.mean(other, "matched_soon")
    return (
        f"{best} makes {np.mean(ahead):.2f}{error} matches more per 100 cards than {other}, in the same towns; "
        f"{soon:.1%} of people have a match within {SOON} cards, beside {beside:.1%}."
    )


def _row(found: MarketComparison, name: str) -> dict[str, Any]:
    values = [one.matches_per_100 for one in found.outcomes[name]]
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return {
        "policy": name,
        "matches": found.mean(name, "matches_per_100"),
        "error": error,
        "group_shown": found.mean(name, "group_shown"),
        "group_matches": found.mean(name, "group_matches"),
        "of_possible": found.mean(name, "of_possible"),
        "times_paper": found.ratio(name, PAPER),
        "of_greedy": found.ratio(name, GREEDY),
        "gini": found.mean(name, "gini"),
        "soon": found.mean(name, "matched_soon"),
        "first": found.mean(name, "cards_to_match"),
        "waiting": found.mean(name, "waiting"),
        "like_rate": found.mean(name, "like_rate"),
        "ranking": found.mean(name, "ranking"),
    }


def _asked(found: MarketComparison) -> list[dict[str, Any]]:
    """Beside the mean, the least favourable seed."""

    def row(what: str, measured: float, limit: float, each: Sequence[float], *, at_least: bool) -> dict[str, Any]:
        met = measured >= limit if at_least else measured <= limit
        worst = min(each) if at_least else max(each)
        return {"asked": what, "measured": measured, "worst_seed": worst, "limit": limit, "verdict": "met" if met else "not met"}

    per_seed = {name: np.array([one.matches_per_100 for one in found.outcomes[name]]) for name in (DEFAULT, PAPER, GREEDY)}
    with np.errstate(divide="ignore", invalid="ignore"):
        over_paper, of_greedy = per_seed[DEFAULT] / per_seed[PAPER], per_seed[DEFAULT] / per_seed[GREEDY]
    ginis = [one.gini for one in found.outcomes[DEFAULT]]
    return [
        row("matches, times the paper's", found.ratio(DEFAULT, PAPER), TIMES_PAPER, over_paper.tolist(), at_least=True),
        row("matches, share of greedy's", found.ratio(DEFAULT, GREEDY), OF_GREEDY, of_greedy.tolist(), at_least=True),
        row("exposure Gini, at most", found.mean(DEFAULT, "gini"), MOST_GINI, ginis, at_least=False),
    ]


def _words(found: MarketComparison) -> list[str]:
    census, pace = found.census, found.pace
    words = [
        f"{ABOUT[found.population]} {census.side} people a side, everybody learning; {pace.rounds} decks of {pace.deck} cards each, a day between them; "
        f"{census.label_noise:.0%} of answers say the opposite of what is felt."
    ]
    if pace.rounds * pace.deck >= census.side:
        words.append(
            f"{pace.rounds * pace.deck} cards show everybody to everybody, so hardly a policy can differ from another in matches: take more people (--side) or fewer decks (--rounds)."
        )
    capped = {
        name: found.mean(name, "matches_per_100") for name in found.outcomes if name == DEFAULT or name.endswith(("cap", "floor"))
    }
    if DEFAULT in capped and len(capped) > 1:
        best = max(capped, key=lambda name: capped[name])
        more = "" if best == DEFAULT else f"; {best} has {capped[best]:.2f}"
        words.append(f"Under the exposure cap the default has {capped[DEFAULT]:.2f} matches per 100 cards{more}.")
    return words
