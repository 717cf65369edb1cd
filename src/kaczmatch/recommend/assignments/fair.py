"""A market in which attention has a price: everybody gives one unit of it and gets one (Choo and Siow 2006)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickAssignment, PickMarket
from kaczmatch.recommend.assignments.surplus_kernel import keep_largest, surplus_sums
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.tile_kernel import Keys, TileColumns
from kaczmatch.recommend.picks.tiles import live_pairs, number_of_parts, tile_columns
from kaczmatch.recommend.picks.top_picks import Picks, merged
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

_FEWEST_PARTS: Final = 16  # so that workers have something to share; a fixed number, so that sums are the same on any number


@final
@dataclass(frozen=True, slots=True, eq=False)
class Equilibrium:
    """What solves the market: μᵢⱼ = exp(mᵢⱼ/2β) aᵢaⱼ is how much attention i and j give each other, and aᵢ² what i keeps.

    `error` is how far the attention of anybody is from one unit. `sums` are Σⱼ exp(mᵢⱼ/2β) aⱼ.
    """

    log_a: Vector
    sums: Vector
    rounds: int
    error: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Fair(PickAssignment):
    """The k with whom a person shares most attention in the equilibrium with transferable utility.

    It maximises the expected number of mutual likes plus β times an entropy, among all ways to give everybody one unit of
    attention. So it cannot send everybody to the same few. The smaller β, the more likes count and the more rounds it takes.
    """

    slug: ClassVar[str] = "fair"

    temperature: float = 0.02  # β, in units of the mutual probability; from 0.01 on, e^(1/2β) fits a float32
    tolerance: float = 1e-3
    most_rounds: int = 200

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature, low=0.01)
        check_number("tolerance", self.tolerance, low=1e-6, high=1.0)
        check_integer("most_rounds", self.most_rounds, low=1, high=100_000)

    def assign(self, market: PickMarket, k: int, *, runner: Runner = LocalRunner()) -> AssignedPicks:  # noqa: B008
        columns, tiles = market.columns, tile_columns(market.columns)
        found = self.equilibrium(columns, runner=runner)
        steepness = np.float32(0.5 / self.temperature)
        a, scale = _padded(np.exp(found.log_a), tiles), _padded(1.0 / np.maximum(found.sums, 1e-30), tiles)
        parts = max(number_of_parts(tiles), _FEWEST_PARTS)

        def largest(part: int) -> Keys:
            best, floor = np.zeros((len(tiles.age), k), np.uint64), np.zeros(len(tiles.age), np.float32)
            keep_largest(tiles, live_pairs(tiles, part, parts), steepness, a, scale, floor, best)
            return best

        keys = runner.fold(largest, range(parts), merged, np.zeros((len(tiles.age), k), np.uint64))
        rows = Picks.of_keys(keys[: len(columns)]).candidates
        person, place = np.nonzero(rows >= 0)
        lists = CandidateLists.of_pairs(columns, person, rows[person, place])
        short = found.error > self.tolerance
        limits = f"{found.rounds} rounds were too few: attention is off by up to {found.error:.2g}" if short else ""
        return AssignedPicks.of(lists, lists.which(rows), k, limits)

    def equilibrium(
        self,
        columns: PickColumns,
        *,
        runner: Runner = LocalRunner(),  # noqa: B008
        progress: Callable[[int, float], None] = lambda _round, _error: None,
    ) -> Equilibrium:
        """Proportional fitting in the log domain: aᵢ² + aᵢSᵢ = 1 with Sᵢ = Σⱼ exp(mᵢⱼ/2β) aⱼ, solved for aᵢ again and again.

        A round moves a to the geometric mean of what it was and what solves it. Without that, one-sided markets swing.
        """
        tiles = tile_columns(columns)
        steepness = np.float32(0.5 / self.temperature)
        parts = max(number_of_parts(tiles), _FEWEST_PARTS)
        log_a, rounds = np.zeros(len(columns)), 0
        while True:
            weight = _padded(np.exp(log_a), tiles)
            sums = runner.fold(
                lambda part, weight=weight: surplus_sums(tiles, live_pairs(tiles, part, parts), steepness, weight),  # type: ignore[misc]
                range(parts),
                np.add,
                np.zeros(len(tiles.age)),
            )[: len(columns)]
            rounds += 1
            a = np.exp(log_a)
            error = float(np.abs(a * a + a * sums - 1.0).max(initial=0.0))
            progress(rounds, error)
            if error <= self.tolerance or rounds == self.most_rounds:
                return Equilibrium(log_a, sums, rounds, error)
            log_a = 0.5 * (log_a + np.log(2.0) - np.log(sums + np.sqrt(sums * sums + 4.0)))


def _padded(values: Vector, tiles: TileColumns) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    out = np.zeros(len(tiles.age), np.float32)
    out[: len(values)] = values
    return out
