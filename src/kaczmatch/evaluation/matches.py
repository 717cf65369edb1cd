"""What the test of pairs yields, for every fusion of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.ranking import auc, precision, success
from kaczmatch.core.vectors import Column, Matrix, Vector
from kaczmatch.evaluation.bootstrap import Resamples
from kaczmatch.evaluation.mutual import MatchTest
from kaczmatch.recommend.scoring import FUSIONS
from kaczmatch.report.results import Table

TOPS = (1, 3, 5)
FORWARD = "own side only"


def match_rows(found: MatchTest, rng: np.random.Generator, side: Column | None = None) -> list[dict[str, Any]]:
    """A row for each contender and fusion, for everybody and, where `side` says who is who, for each side that looks."""
    groups: list[tuple[str, Any]] = [("everybody", np.ones(len(found.viewer), np.bool_))]
    if side is not None:
        groups += [(str(value), side[found.viewer] == value) for value in np.unique(side).tolist()]
    rows = []
    for group, inside in groups:
        named: list[dict[str, Any]] = []
        scores = []
        for place, name in enumerate(found.names):
            forward, backward = found.forward[place][inside], found.backward[place][inside]
            fused = {FORWARD: forward} | {key: fuse(forward, backward) for key, fuse in FUSIONS.items()}
            for key, values in fused.items():
                named.append({"learner": name, "fusion": key, "swipes": found.t, "side": group})
                scores.append(np.round(values, 12))
        numbers = _numbers(np.array(scores), found.match[inside], found.viewer[inside], rng)
        rows += [name | number for name, number in zip(named, numbers, strict=True)]
    return rows


def _numbers(scores: Matrix, match: Column, viewer: Column, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The metrics of each row of `scores`."""
    begin = np.flatnonzero(np.r_[True, viewer[1:] != viewer[:-1]]) if len(viewer) else np.zeros(0, np.int64)
    bounds = np.append(begin, len(viewer))
    areas = _a_viewer(scores, match, bounds, 0)
    drawn = Resamples(areas[np.isfinite(areas).all(axis=1)], rng)
    tops = {k: _a_viewer(scores, match, bounds, k) for k in TOPS}
    rows = []
    for place, values in enumerate(scores):
        area = drawn.mean(place)
        row: dict[str, Any] = {"pairs": len(values), "matches": int(match.sum()), "match_auc": auc(values, match)}
        row |= {"auc_a_user": area.mean, "low": area.low, "high": area.high}
        for k, both in tops.items():
            shares, any_found = both[:, place], both[:, len(scores) + place]
            row |= {f"precision_at_{k}": _mean(shares), f"success_at_{k}": _mean(any_found)}
        rows.append(row)
    return rows


def _mean(values: Vector) -> float:
    return float(values.mean()) if len(values) else float("nan")


@compiled
def _a_viewer(scores: Matrix, match: NDArray[np.bool_], bounds: NDArray[np.int64], k: int) -> Matrix:
    """A row a viewer: the AUC of each list of scores, or for k > 0 the precision and then the success among its first k."""
    lists = scores.shape[0]
    found = np.empty((len(bounds) - 1, lists if k == 0 else 2 * lists))
    for viewer in range(len(bounds) - 1):
        part = slice(bounds[viewer], bounds[viewer + 1])
        for row in range(lists):
            if k == 0:
                found[viewer, row] = auc(scores[row, part], match[part])
            else:
                found[viewer, row] = precision(scores[row, part], match[part], k)
                found[viewer, lists + row] = success(scores[row, part], match[part], k)
    return found


def match_tables(rows: Sequence[dict[str, Any]]) -> list[Table]:
    """All of it as a file; for reading, the best fusion of each contender at the last number of swipes."""
    last = max(row["swipes"] for row in rows)
    whole = [row for row in rows if row["side"] == "everybody" and row["swipes"] == last and row["fusion"] != FORWARD]
    best: dict[str, dict[str, Any]] = {}
    for row in whole:
        if row["learner"] not in best or row["match_auc"] > best[row["learner"]]["match_auc"]:
            best[row["learner"]] = row
    wanted = ("learner", "fusion", "match_auc", "auc_a_user", f"precision_at_{TOPS[1]}", f"success_at_{TOPS[1]}")
    shown = [{key: row[key] for key in wanted} for row in sorted(best.values(), key=lambda row: -row["match_auc"])]
    fusions = [
        {"fusion": key, **{f"after_{t}": _best(rows, key, t) for t in sorted({row["swipes"] for row in rows})}}
        for key in (FORWARD, *FUSIONS)
    ]
    return [
        Table("matches-best", f"Matches after {last} swipes, each learner under its best fusion", shown),
        Table("fusions", "Match AUC of the best learner under each fusion", fusions),
        Table("matches", "Matches: every learner, fusion, number of swipes and side", rows, in_report=False),
    ]


def _best(rows: Sequence[dict[str, Any]], fusion: str, t: int) -> float:
    inside = (row for row in rows if row["fusion"] == fusion and row["swipes"] == t and row["side"] == "everybody")
    return max(float(row["match_auc"]) for row in inside)
