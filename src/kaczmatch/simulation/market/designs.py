"""Experiments in a market where people meet across arms: what each way to assign arms finds, beside the truth.

The truth is what a policy changes when everybody has it. Arms by user miss it: it takes two for a match, and what one arm likes
the other is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from kaczmatch.recommend.people.location import Location
from kaczmatch.service.domain.experiment import Arm, Assigned, Experiment
from kaczmatch.simulation.market.engine import MarketLog, Pace, PolicyOf, play
from kaczmatch.simulation.market.outcome import effective
from kaczmatch.simulation.market.town import Town

_NEAR_KM: Final = 50.0


@final
@dataclass(frozen=True, slots=True)
class Regions:
    """A town spread over places far from each other; `travellers` are those who would meet people anywhere."""

    number: int = 4
    travellers: float = 0.1

    def of(self, town: Town) -> Town:
        """People of both sides in turn, so that every region has as many of each."""
        travels = np.random.default_rng([town.seed, 3]).random(len(town)) < self.travellers
        profiles = [
            replace(
                profile,
                location=Location.from_coordinates(0.0, 10.0 * self.region(place)),
                within_km=np.inf if travels[place] else _NEAR_KM,
            )
            for place, profile in enumerate(town.profiles)
        ]
        return replace(town, profiles=profiles)

    def region(self, place: int) -> int:
        return place // 2 % self.number


@final
@dataclass(frozen=True, slots=True)
class DesignEstimate:
    """Matches per 100 cards that an arm has more than the first: if everybody had it, and by each way to assign arms."""

    truth: float
    by: dict[Assigned, float]


def compare_designs(town: Town, arms: tuple[Arm, Arm], regions: Regions, pace: Pace, block: int) -> DesignEstimate:
    """Both arms for everybody in turn, then three experiments, all with the same people; `block` rounds make a block of time."""
    spread = regions.of(town)
    everybody = [_rate(play(spread, _always(arm), pace), spread) for arm in arms]
    by: dict[Assigned, float] = {}
    for assigned in Assigned:
        # Twice, with the arms exchanged, so that it does not matter who happened to be in which.
        both = [_difference(spread, order, assigned, regions, pace, block) for order in (arms, arms[::-1])]
        by[assigned] = (both[0] - both[1]) / 2.0
    return DesignEstimate(everybody[1] - everybody[0], by)


def _difference(town: Town, arms: tuple[Arm, Arm], assigned: Assigned, regions: Regions, pace: Pace, block: int) -> float:
    """What one experiment finds: the second arm minus the first."""
    experiment = Experiment(name="interference", salt=str(town.seed), arms=arms, assigned=assigned)
    arm_of = _placed(experiment, regions, block)
    log = play(town, lambda viewer, number: arm_of(viewer, number).policy, pace)
    cards = zip(log.viewer.tolist(), log.round.tolist(), strict=True)
    treated = np.array([arm_of(viewer, number) is arms[1] for viewer, number in cards], np.bool_)
    return _rate(log, town, treated) - _rate(log, town, ~treated)


def _always(arm: Arm) -> PolicyOf:
    return lambda _viewer, _round: arm.policy


def _placed(experiment: Experiment, regions: Regions, block: int) -> Callable[[int, int], Arm]:
    """The arm of somebody in a round."""
    unit: dict[Assigned, Callable[[int, int], int]] = {
        Assigned.USER: lambda viewer, _: viewer,
        Assigned.CLUSTER: lambda viewer, _: regions.region(viewer),
        Assigned.TIME: lambda _, number: number // block,
    }
    return lambda viewer, number: experiment.arm(str(unit[experiment.assigned](viewer, number)))


def _rate(log: MarketLog, town: Town, cards: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None) -> float:
    """Effective matches per 100 of some cards; not a number where an arm has none."""
    made = effective(log, town)
    some = made if cards is None else made[cards]
    return 100.0 * float(some.mean()) if len(some) else float("nan")
