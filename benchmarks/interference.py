"""How wrong are experiments in a two-sided market? Arms by user, by region and in blocks of time, beside the truth.

python benchmarks/interference.py [--seeds 8] [--side 120] [--rounds 6] [--deck 3] [--out FOLDER]

The truth is what a policy changes when everybody has it. Arms by user miss it: it takes two for a match, and what one arm likes
the other is shown. Each seed is a town of archetypes in regions, where a tenth of the people would meet people anywhere. The same
people live through both arms for everybody, which is the truth, and through the three experiments, each twice with the arms
exchanged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from rich.console import Console
from rich.progress import track

from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.recommend.people.location import Location
from kaczmatch.report.results import Table
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.experiment import Arm, Assigned, Experiment
from kaczmatch.simulation.market.engine import MarketLog, Pace, PolicyOf, play
from kaczmatch.simulation.market.outcome import effective
from kaczmatch.simulation.market.town import Census, Town, town
from tables import add_out, tell

ARMS = (Arm("chance", MutualPolicy(uniform_floor=1.0, admirer_quota=0.0)), Arm("the service's default", ServiceConfig().policy))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--side", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--deck", type=int, default=3)
    add_out(parser)
    options = parser.parse_args()
    pace, census = Pace(rounds=options.rounds, deck=options.deck), Census(side=options.side, like_rate=0.4, label_noise=0.1)
    seeds = track(range(options.seeds), "towns", console=Console(stderr=True))
    studies = [compare_designs(town("archetypes", seed, census), ARMS, Regions(), pace, block=1) for seed in seeds]
    truth = np.array([study.truth for study in studies])
    difference = f"{ARMS[1].name} minus {ARMS[0].name}"
    rows = [{"arms by": "none: what changes if everybody has it", difference: _with_error(truth), "off the truth by": ""}]
    for assigned in studies[0].by:
        values = np.array([study.by[assigned] for study in studies])
        rows.append({"arms by": assigned, difference: _with_error(values), "off the truth by": _with_error(values - truth)})
    title = f"{options.seeds} towns of {2 * options.side} people, {pace.cards} cards each; matches per 100 cards ± standard error"
    tell(options.out, Table("interference", title, rows))


def _with_error(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Mean and standard error over towns, without those where an experiment gave everybody one arm."""
    known = values[~np.isnan(values)]
    left_out = len(values) - len(known)
    more = f" ({left_out} towns left out: one arm for all)" if left_out else ""
    return f"{known.mean():+.2f} ± {known.std(ddof=1) / np.sqrt(len(known)):.2f}{more}"


if __name__ == "__main__":
    main()
