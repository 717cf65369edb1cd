"""The policies that are compared, each with what its market shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from kaczmatch.learners.registry import learner
from kaczmatch.recommend.assignments.registry import ASSIGNMENTS, assignment
from kaczmatch.recommend.decks.policy import Always, DeckPlan, PaperPolicy, Policy
from kaczmatch.recommend.samplers.contract import Draw, Pool, Sampler, TwoStageSampler, descending
from kaczmatch.recommend.samplers.ranked_draw import draw_ranked
from kaczmatch.recommend.samplers.registry import SAMPLERS, sampler
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.simulation.market.engine import MarketLog, MarketSettings, Pace, play, play_and_rank
from kaczmatch.simulation.market.outcome import MarketOutcome, outcome
from kaczmatch.simulation.market.town import Town

DEFAULT: Final = "default"
PAPER: Final = "paper"
GREEDY: Final = "greedy"
QUOTA: Final = 0.5
FLOOR: Final = 0.03


@final
@dataclass(frozen=True, slots=True)
class MarketPolicy:
    """One policy for everybody."""

    name: str
    policy: Policy
    shared: MarketSettings

    def play(self, town: Town, pace: Pace) -> MarketLog:
        return play(town, lambda _viewer, _round: self.policy, pace, self.shared)

    def outcome(self, town: Town, pace: Pace, group: str = "") -> MarketOutcome:
        log, ranking = play_and_rank(town, lambda _viewer, _round: self.policy, pace, self.shared)
        return outcome(log, town, ranking, group)


def market_policies() -> list[MarketPolicy]:
    """The service's default, the paper's pipeline and two readings that are kinder to it, yardsticks, every sampler with and
    without admirer quota and exposure cap, and the default with half of each deck from picks."""
    ours, theirs = MarketSettings(), MarketSettings(learner=learner("block-nk"), fusion="geometric")
    compared = [
        MarketPolicy(DEFAULT, ServiceConfig().policy, ours),
        MarketPolicy(PAPER, PaperPolicy(), theirs),
        MarketPolicy("paper, cosine at once", PaperPolicy(cosine_from_swipes=0), theirs),
        MarketPolicy("paper, greedy at once", _always(sampler("greedy")), theirs),
        MarketPolicy("popularity", _always(Popularity()), ours),
    ]
    for slug in SAMPLERS:
        for safeguards, quota, capped in _SAFEGUARDS:
            policy = _always(sampler(slug), admirers=QUOTA if quota else 0.0, capped=capped)
            compared.append(MarketPolicy(slug + safeguards, policy, ours))
    compared += [
        MarketPolicy(f"{DEFAULT} + {slug} picks", ServiceConfig().policy, MarketSettings(picks=assignment(slug)))
        for slug in ASSIGNMENTS
    ]
    with_floor = _always(sampler("greedy"), admirers=QUOTA, capped=True, floor=FLOOR)  # all that the default has, but its draws
    return [*compared, MarketPolicy("greedy + quota + cap + floor", with_floor, ours)]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Popularity(TwoStageSampler):
    """The highest appeal, as the service counts it. A yardstick, not a sampler of the library."""

    slug: ClassVar[str] = "popularity"
    why: ClassVar[str] = "liked by many"

    def first_stage_size(self, size: int) -> int:  # noqa: ARG002
        return 2**31 - 1  # everybody

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        return draw_ranked(descending(np.where(pool.capped, -np.inf, pool.others[:, 0]), rng), size)


_SAFEGUARDS: Final = (("", False, False), (" + quota", True, False), (" + cap", False, True), (" + quota + cap", True, True))


def _always(chosen: Sampler, *, admirers: float = 0.0, capped: bool = False, floor: float = 0.0) -> Always:
    return Always(
        deck_plan=DeckPlan(sampler=chosen, reason="compared", admirer_quota=admirers, exposure_capped=capped, uniform_floor=floor)
    )
