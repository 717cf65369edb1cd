"""How well open pairs that become matches are found, for every fusion of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.ranking_metrics import auc, hit_rate, precision
from kaczmatch.core.vectors import Column, Matrix, Vector
from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.match_pairs import MatchPairs
from kaczmatch.recommend.scoring import FUSIONS

TOPS = (1, 3, 5)
FORWARD = "own side only"
EVERYBODY = "everybody"


@final
@dataclass(frozen=True, slots=True)
class MatchScore:
    """One contender under one fusion after one number of swipes, for everybody or for the viewers of one side."""

    name: str
    fusion: str
    swipes: int
    side: str
    pairs: int
    matches: int
    match_auc: float  # all pairs together
    auc_per_user: Interval
    precision: Mapping[int, float]  # by length of the list
    success: Mapping[int, float]


@final
@dataclass(frozen=True, slots=True)
class MatchScores:
    """Every contender, fusion, number of swipes and side. Empty where no open pair became a match."""

    scores: Sequence[MatchScore]

    @property
    def times(self) -> list[int]:
        return sorted({each.swipes for each in self.scores})

    def best_fusions(self) -> list[MatchScore]:
        """Each contender under its best fusion of both sides, at the last number of swipes; best first."""
        last = max(self.times)
        best: dict[str, MatchScore] = {}
        for each in self.scores:
            if (each.side, each.swipes) != (EVERYBODY, last) or each.fusion == FORWARD:
                continue
            if each.name not in best or each.match_auc > best[each.name].match_auc:
                best[each.name] = each
        return sorted(best.values(), key=lambda score: -score.match_auc)

    def best_auc(self, fusion: str, swipes: int) -> float:
        """The match AUC of the best contender under a fusion."""
        inside = (each for each in self.scores if (each.fusion, each.swipes, each.side) == (fusion, swipes, EVERYBODY))
        return max(each.match_auc for each in inside)


def match_scores(found: MatchPairs, rng: np.random.Generator, side: Column | None = None) -> list[MatchScore]:
    """For everybody and, where `side` holds each user's side, for each side that looks."""
    groups: list[tuple[str, NDArray[np.bool_]]] = [(EVERYBODY, np.ones(len(found.viewer), np.bool_))]
    if side is not None:
        groups += [(str(value), side[found.viewer] == value) for value in np.unique(side).tolist()]
    scores: list[MatchScore] = []
    for group, inside in groups:
        keys: list[tuple[str, str]] = []
        fused: list[Vector] = []
        for place, name in enumerate(found.names):
            forward, backward = found.forward[place][inside], found.backward[place][inside]
            for fusion, values in [(FORWARD, forward), *((key, fuse(forward, backward)) for key, fuse in FUSIONS.items())]:
                keys.append((name, fusion))
                fused.append(np.round(values, 12))
        scores += _scores(keys, np.array(fused), found, inside, group, rng)
    return scores


def _scores(
    keys: Sequence[tuple[str, str]],
    fused: Matrix,
    found: MatchPairs,
    inside: NDArray[np.bool_],
    group: str,
    rng: np.random.Generator,
) -> list[MatchScore]:
    """One score per row of `fused`."""
    match, viewer = found.match[inside], found.viewer[inside]
    begin = np.flatnonzero(np.r_[True, viewer[1:] != viewer[:-1]]) if len(viewer) else np.zeros(0, np.int64)
    bounds = np.append(begin, len(viewer))
    areas = _per_viewer(fused, match, bounds, 0)
    resampled = Resamples(areas[np.isfinite(areas).all(axis=1)], rng)
    tops = {k: _per_viewer(fused, match, bounds, k) for k in TOPS}
    return [
        MatchScore(
            name=name,
            fusion=fusion,
            swipes=found.t,
            side=group,
            pairs=len(match),
            matches=int(match.sum()),
            match_auc=auc(fused[place], match),
            auc_per_user=resampled.mean(place),
            precision={k: _mean(values[:, place]) for k, values in tops.items()},
            success={k: _mean(values[:, len(fused) + place]) for k, values in tops.items()},
        )
        for place, (name, fusion) in enumerate(keys)
    ]


def _mean(values: Vector) -> float:
    return float(values.mean()) if len(values) else float("nan")


@compiled
def _per_viewer(scores: Matrix, match: NDArray[np.bool_], bounds: NDArray[np.int64], k: int) -> Matrix:
    """One row per viewer: the AUC of each list of scores, or for k > 0 the precision and then the success among its first k."""
    lists = scores.shape[0]
    found = np.empty((len(bounds) - 1, lists if k == 0 else 2 * lists))
    for viewer in range(len(bounds) - 1):
        part = slice(bounds[viewer], bounds[viewer + 1])
        for row in range(lists):
            if k == 0:
                found[viewer, row] = auc(scores[row, part], match[part])
            else:
                found[viewer, row] = precision(scores[row, part], match[part], k)
                found[viewer, lists + row] = hit_rate(scores[row, part], match[part], k)
    return found
