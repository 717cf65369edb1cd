"""Policies choose, per user, the sampler and the safeguards of the next deck: a deck plan, which says why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, final

from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.recommend.samplers.contract import Sampler
from kaczmatch.recommend.samplers.cosine import Cosine
from kaczmatch.recommend.samplers.information import Information
from kaczmatch.recommend.samplers.mutual import Mutual
from kaczmatch.recommend.samplers.row_norm import RowNorm


@final
@dataclass(frozen=True, slots=True)
class Experience:
    """What a policy knows about a user: swipes so far, and the stability Δs after each session, the latest last."""

    swipes: int = 0
    stability: tuple[float, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DeckPlan:
    """How one deck is drawn.

    `uniform_floor` is the share of cards drawn uniformly, `admirer_quota` the largest share for people who liked the viewer. With
    `exposure_capped`, people over the exposure cap come last. With `cooldown_relaxed`, people in cooldown fill a deck for which
    too few others are left, the longest ago first. `pick_share` is the largest share of cards for picks, which are not drawn.
    """

    sampler: Sampler
    reason: str
    uniform_floor: float = 0.0
    admirer_quota: float = 0.0
    exposure_capped: bool = False
    cooldown_relaxed: bool = False
    pick_share: float = 0.0

    def __post_init__(self) -> None:
        check_number("uniform_floor", self.uniform_floor, low=0.0, high=1.0)
        check_number("admirer_quota", self.admirer_quota, low=0.0, high=1.0)
        check_number("pick_share", self.pick_share, low=0.0, high=0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(ABC):
    """Makes a deck plan from a user's experience."""

    slug: ClassVar[str]

    @abstractmethod
    def plan(self, experience: Experience) -> DeckPlan:
        """How to draw the next deck of a user."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Always(Policy):
    """The same plan for everybody."""

    slug: ClassVar[str] = "always"

    deck_plan: DeckPlan

    def plan(self, experience: Experience) -> DeckPlan:  # noqa: ARG002
        return self.deck_plan


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PaperPolicy(Policy):
    """Row norms for new users, cosine from 200 swipes, back to row norms while the last two Δs are below 0.7.

    The cooldown is relaxed where too few others are left (paper, section 6.4).
    """

    slug: ClassVar[str] = "paper"

    cosine_from_swipes: int = 200
    min_stability: float = 0.7

    def __post_init__(self) -> None:
        check_integer("cosine_from_swipes", self.cosine_from_swipes, low=0, high=10**9)
        check_number("min_stability", self.min_stability, low=-1.0, high=1.0)

    def plan(self, experience: Experience) -> DeckPlan:
        sampler: Sampler = RowNorm()
        last = experience.stability[-2:]
        if experience.swipes < self.cosine_from_swipes:
            reason = f"{experience.swipes} swipes so far, fewer than {self.cosine_from_swipes}"
        elif len(last) == 2 and max(last) < self.min_stability:
            shown = " and ".join(f"{value:.2f}" for value in last)
            reason = f"the taste is moving: Δs {shown}, both below {self.min_stability}"
        else:
            sampler, reason = Cosine(), f"{experience.swipes} swipes so far, at least {self.cosine_from_swipes}"
        return DeckPlan(sampler=sampler, reason=reason, cooldown_relaxed=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MutualPolicy(Policy):
    """`mutual` with an admirer quota, an exposure cap and a uniform floor; for a learner with a belief."""

    slug: ClassVar[str] = "mutual"

    uniform_floor: float = 0.03
    admirer_quota: float = 0.5
    pick_share: float = 0.0  # largest share of a deck for today's picks, where some are published
    introduction_swipes: int = 0  # first swipes of a new user, for which `information` deals
    sampler: Mutual = field(default_factory=Mutual)

    def __post_init__(self) -> None:
        check_number("uniform_floor", self.uniform_floor, low=0.0, high=1.0)
        check_number("admirer_quota", self.admirer_quota, low=0.0, high=1.0)
        check_number("pick_share", self.pick_share, low=0.0, high=0.9)
        check_integer("introduction_swipes", self.introduction_swipes, low=0, high=10_000)

    def plan(self, experience: Experience) -> DeckPlan:
        new = experience.swipes < self.introduction_swipes
        reason = (
            f"{experience.swipes} swipes so far, fewer than {self.introduction_swipes}: first learn the taste"
            if new
            else "people likely to like each other"
        )
        return DeckPlan(
            sampler=Information() if new else self.sampler,
            reason=reason,
            uniform_floor=self.uniform_floor,
            admirer_quota=self.admirer_quota,
            exposure_capped=True,
            pick_share=self.pick_share,
        )
