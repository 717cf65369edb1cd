"""Where collaborative filtering overtakes individual learners, as tables and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kaczmatch.evaluation.peers.comparison import ALONE, DEFAULT
from kaczmatch.evaluation.peers.crossover import Crossover, CrossoverPoint
from kaczmatch.evaluation.reporting.words import verdict
from kaczmatch.report.results import Table


def crossover_tables(found: Crossover) -> list[Table]:
    """A grid of fit users and swipes for reading, and every number."""
    cells = {(one.fit_users, one.swipes): f"{one.over_alone.mean:+.3f} ({one.ahead_of})" for one in found.points}
    numbers, times = sorted({one.fit_users for one in found.points}), sorted({one.swipes for one in found.points})
    grid = [{"fit_users": number} | {f"after_{t}": cells[number, t] for t in times} for number in numbers]
    note = (
        f"The AUC of {found.peer} minus that of {ALONE} alone, the same users; in brackets how many of the {found.individuals} learners that know a user's own swipes and the tags "
        f"alone it is ahead of (95 % interval above 0). Fit users: in a log with so many others beside the {found.tested:,} who are tested."
    )
    return [
        Table("crossover", f"Where {found.peer} is ahead of individual learners", grid, note),
        Table("crossover-at-each", f"{found.peer} by fit users and swipes", [_row(one) for one in found.points], in_report=False),
    ]


def _row(one: CrossoverPoint) -> dict[str, Any]:
    row: dict[str, Any] = {"fit_users": one.fit_users, "swipes": one.swipes, "peer": one.peer_auc}
    row |= {"alone": one.alone_auc, "default": one.default_auc}
    row |= dict(zip(("over_alone", "over_alone_low", "over_alone_high"), one.over_alone, strict=True))
    row |= {"ahead_of": one.ahead_of, "individuals": one.individuals}
    row |= dict(zip(("over_default", "over_default_low", "over_default_high"), one.over_default, strict=True))
    return row | {"alone_verdict": verdict(one.over_alone), "default_verdict": verdict(one.over_default)}


def crossover_words(found: Crossover) -> str:
    """Where the peer is ahead: of every individual learner, of ours alone, of the default."""
    ahead_of = {
        "every individual learner": [one for one in found.points if one.ahead_of == one.individuals],
        f"{ALONE} alone": [one for one in found.points if one.over_alone.above_zero],
        DEFAULT: [one for one in found.points if one.over_default.above_zero],
    }
    return " ".join(f"{found.peer} is ahead of {whom}: {_places(points)}." for whom, points in ahead_of.items())


def _places(points: Sequence[CrossoverPoint]) -> str:
    """Numbers of swipes, and the numbers of fit users with which they are enough."""
    swipes: dict[int, list[int]] = {}
    for one in points:
        swipes.setdefault(one.fit_users, []).append(one.swipes)
    users: dict[str, list[int]] = {}
    for number, times in swipes.items():
        users.setdefault(", ".join(map(str, times)), []).append(number)
    places = [f"after {times} swipes with {', '.join(map(str, numbers))} fit users" for times, numbers in users.items()]
    return "; ".join(places) or "never within this log"
