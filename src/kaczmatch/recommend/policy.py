"""Which sampler, with which safeguards, for whom; every decision says why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, final

from kaczmatch.core.errors import checked, whole
from kaczmatch.recommend.samplers.contract import Sampler
from kaczmatch.recommend.samplers.cosine import Cosine
from kaczmatch.recommend.samplers.information import Information
from kaczmatch.recommend.samplers.mutual import Mutual
from kaczmatch.recommend.samplers.row_norm import RowNorm


@final
@dataclass(frozen=True, slots=True)
class Experience:
    """How far somebody has come: swipes so far, and the stability Δs after each session, the last one last."""

    swipes: int = 0
    stability: tuple[float, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DeckPlan:
    """How one deck is drawn. `floor` is the share of cards drawn uniformly, `admirers` the largest share of cards for people
    who already liked the viewer, and with `capped` those come last who have had their share of exposure."""

    sampler: Sampler
    reason: str
    floor: float = 0.0
    admirers: float = 0.0
    capped: bool = False

    def __post_init__(self) -> None:
        checked("floor", self.floor, low=0.0, high=1.0)
        checked("admirers", self.admirers, low=0.0, high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(ABC):
    """A rule for such decisions."""

    slug: ClassVar[str]

    @abstractmethod
    def plan(self, experience: Experience) -> DeckPlan:
        """How to draw the next deck of somebody."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Always(Policy):
    """The same for everybody."""

    slug: ClassVar[str] = "always"

    deck_plan: DeckPlan

    def plan(self, experience: Experience) -> DeckPlan:  # noqa: ARG002
        return self.deck_plan


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PaperPolicy(Policy):
    """Row norms for new users, cosine from 200 swipes, back to row norms while the last two Δs are below 0.7."""

    slug: ClassVar[str] = "paper"

    enough: int = 200
    stable: float = 0.7

    def __post_init__(self) -> None:
        whole("enough", self.enough, low=0, high=10**9)
        checked("stable", self.stable, low=-1.0, high=1.0)

    def plan(self, experience: Experience) -> DeckPlan:
        if experience.swipes < self.enough:
            return DeckPlan(sampler=RowNorm(), reason=f"{experience.swipes} swipes so far, fewer than {self.enough}")
        last = experience.stability[-2:]
        if len(last) == 2 and max(last) < self.stable:
            shown = " and ".join(f"{value:.2f}" for value in last)
            return DeckPlan(sampler=RowNorm(), reason=f"the taste is moving: Δs {shown}, both below {self.stable}")
        return DeckPlan(sampler=Cosine(), reason=f"{experience.swipes} swipes so far, at least {self.enough}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MutualPolicy(Policy):
    """`mutual` with an admirer quota, an exposure cap and a uniform floor; for a learner with a belief."""

    slug: ClassVar[str] = "mutual"

    floor: float = 0.03
    admirers: float = 0.5
    introduction: int = 0  # swipes of somebody new that `information` gets
    sampler: Mutual = field(default_factory=Mutual)

    def __post_init__(self) -> None:
        checked("floor", self.floor, low=0.0, high=1.0)
        checked("admirers", self.admirers, low=0.0, high=1.0)
        whole("introduction", self.introduction, low=0, high=10_000)

    def plan(self, experience: Experience) -> DeckPlan:
        new = experience.swipes < self.introduction
        reason = (
            f"{experience.swipes} swipes so far, fewer than {self.introduction}: first learn the taste"
            if new
            else "people likely to like each other"
        )
        return DeckPlan(
            sampler=Information() if new else self.sampler,
            reason=reason,
            floor=self.floor,
            admirers=self.admirers,
            capped=True,
        )
