"""The market of the lab page: a few policies in one small town, played by the engine of `kaczmatch market`."""

from __future__ import annotations

import threading
from dataclasses import fields
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from kaczmatch.simulation.market.arms import market_policies
from kaczmatch.simulation.market.engine import MarketLog, Pace
from kaczmatch.simulation.market.outcome import outcome
from kaczmatch.simulation.market.town import ABOUT, Census, Town, town

PolicyName = Literal["default", "paper", "popularity", "greedy", "thompson", "uniform"]
PopulationName = Literal["archetypes", "paper", "popularity"]

POLICIES: Final[dict[PolicyName, str]] = {
    "default": "what the service does",
    "paper": "the paper’s pipeline",
    "popularity": "whom most have liked",
    "greedy": "the best mutual scores",
    "thompson": "a draw from what is believed",
    "uniform": "anybody",
}
SELECTED: Final = ("default", "paper", "popularity", "uniform")
MARKET_VALUES: Final = {
    "policies": POLICIES,
    "selected_policies": SELECTED,
    "populations": {name: ABOUT[name] for name in ("archetypes", "paper", "popularity")},
}


class MarketRequest(BaseModel):
    """One policy in one town. The same request has the same response."""

    model_config = ConfigDict(extra="forbid")

    policy: PolicyName
    population: PopulationName = "archetypes"
    side: int = Field(default=40, ge=20, le=80, description="People on each side.")
    rounds: int = Field(default=6, ge=1, le=8, description="Decks for everybody, of five cards.")
    noise: float = Field(default=0.2, ge=0.0, le=0.5, description="Label noise.")
    seed: int = Field(default=7, ge=0, le=9_999)


class MarketPoint(BaseModel):
    """How the market stands after some rounds."""

    cards: int  # that each person was shown
    matches: float  # per 100 cards; both said like and both meant it
    waiting: float  # share of likes whose receiver has not been shown who gave them
    gini: float  # of how often each was shown
    first: float  # cards a person saw until the first match; all where there was none


class MarketCurve(BaseModel):
    """After each round."""

    points: list[MarketPoint]


DECK: Final = 5
_one_market_at_a_time = threading.Lock()


def market_curve(asked: MarketRequest) -> MarketCurve:
    with _one_market_at_a_time:
        return _played(asked.policy, asked.population, asked.side, asked.rounds, round(asked.noise, 2), asked.seed)


@lru_cache(maxsize=64)
def _played(policy: str, population: str, side: int, rounds: int, noise: float, seed: int) -> MarketCurve:
    here = _town(population, side, noise, seed)
    arm = next(one for one in market_policies() if one.name == policy)
    log = arm.play(here, Pace(rounds=rounds, deck=DECK))
    return MarketCurve(points=[_point(log, here, number) for number in range(rounds)])


@lru_cache(maxsize=4)
def _town(population: str, side: int, noise: float, seed: int) -> Town:
    return town(population, seed, Census(side=side, label_noise=noise))


def _point(log: MarketLog, here: Town, last: int) -> MarketPoint:
    """From the log as it was after a round."""
    until = log.round <= last
    found = outcome(MarketLog(**{each.name: getattr(log, each.name)[until] for each in fields(log)}), here)
    return MarketPoint(
        cards=DECK * (last + 1),
        matches=round(found.matches_per_100, 3),
        waiting=round(found.waiting, 4),
        gini=round(found.gini, 4),
        first=round(found.cards_to_match, 2),
    )
