"""From which number of swipes, and of other users, is it better to ask who swiped alike than to learn from a person's own swipes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kaczmatch.evaluation.beside import ALONE, DEFAULT, Beside, verdict
from kaczmatch.evaluation.bootstrap import Resamples
from kaczmatch.evaluation.contenders import contenders
from kaczmatch.evaluation.frozen import frozen
from kaczmatch.evaluation.peers.contract import Clock, Peer
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.progress import Progress
from kaczmatch.evaluation.trial import Places, Trial, at_most
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.report.results import Row, Table

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the fit group


def overtaking_tables(trial: Trial, found: Beside, peer: Peer, progress: Progress, clock: Clock) -> list[Table]:
    """A peer that learns from others, in logs with fewer of them: against everybody who learns from own swipes alone, and the default."""
    times = found.times
    individuals = [ALONE, *(each.name for each in found.peers if isinstance(each, IndividualPeer) and not each.appeal)]
    columns = [list(found.standing.found.names).index(name) for name in individuals]
    numbers = sorted({max(1, round(share * int(trial.fit.sum()))) for share in SHARES})
    progress.stage("who overtakes whom", 2 * len(numbers) * len(times) * len(trial.tested))
    rows: list[dict[str, Any]] = []
    for number in numbers:
        fewer = with_fewer(trial, number)
        default = [each for each in contenders(fewer, [ALONE], tick=lambda _: None) if each.name == DEFAULT]
        ours = frozen(fewer, default, times, fewer.tested, advance=progress.advance).auc[:, :, 0]
        theirs = peer.show(fewer, times, fewer.tested, clock=clock, advance=progress.advance).auc
        rng = np.random.default_rng([trial.protocol.seed, 14, number])
        for place, t in enumerate(times):
            values = np.column_stack([theirs[place], ours[place], found.standing.found.auc[place][:, columns]])
            drawn = Resamples(values[found.standing.found.cohort], rng)
            over = [drawn.difference(0, 2 + column) for column in range(len(individuals))]
            row: dict[str, Any] = {"fit_users": number, "swipes": t, "peer": drawn.mean(0).mean}
            row |= {"alone": drawn.mean(2).mean, "default": drawn.mean(1).mean}
            row |= dict(zip(("over_alone", "over_alone_low", "over_alone_high"), over[0], strict=True))
            row |= {"ahead_of": sum(gap.above_zero for gap in over), "individuals": len(over)}
            gap = drawn.difference(0, 1)
            row |= dict(zip(("over_default", "over_default_low", "over_default_high"), gap, strict=True))
            rows.append(row | {"against_alone": verdict(over[0]), "against_default": verdict(gap)})
    note = (
        f"The AUC of {peer.name} minus that of {ALONE} alone, the same users; in brackets how many of the {len(individuals)} learners that know a user's own swipes and the tags "
        f"alone it is ahead of (95 % interval above 0). Fit users: in a log with so many others beside the {len(trial.tested):,} who are tested."
    )
    return [
        Table("overtaking", f"Where {peer.name} is ahead of individual learners", _grid(rows, times), note),
        Table("overtaking-at-each", f"{peer.name} by fit users and swipes", rows, in_report=False),
    ]


def with_fewer(trial: Trial, number: int) -> Trial:
    """The same log without the others of the fit group: not for a prior, not for appeal."""
    keep = np.sort(np.concatenate([at_most(number, np.flatnonzero(trial.fit)), np.flatnonzero(~trial.fit)]))
    return Trial(_of_users(trial.table, keep), trial.protocol)


def _of_users(table: SwipeTable, users: Places) -> SwipeTable:
    rows = np.isin(table.user, users)
    return replace(
        table,
        users=[table.users[user] for user in users],
        user=np.searchsorted(users, table.user[rows]),
        candidate=table.candidate[rows],
        like=table.like[rows],
        time=None if table.time is None else table.time[rows],
        session=None if table.session is None else table.session[rows],
        others={name: column[rows] for name, column in table.others.items()},
    )


def _grid(rows: Sequence[dict[str, Any]], times: Sequence[int]) -> list[dict[str, Any]]:
    cells = {(row["fit_users"], row["swipes"]): f"{row['over_alone']:+.3f} ({row['ahead_of']})" for row in rows}
    numbers = sorted({row["fit_users"] for row in rows})
    return [{"fit_users": number} | {f"after_{t}": cells[number, t] for t in times} for number in numbers]


def overtaking_words(table: Table, name: str) -> str:
    """Where a peer that learns from others is ahead, of the default and of everybody who learns alone."""
    ahead_of = {
        "every individual learner": [row for row in table.rows if row["ahead_of"] == row["individuals"]],
        f"{ALONE} alone": [row for row in table.rows if row["against_alone"] == "better"],
        DEFAULT: [row for row in table.rows if row["against_default"] == "better"],
    }
    return " ".join(f"{name} is ahead of {whom}: {_places(rows)}." for whom, rows in ahead_of.items())


def _places(rows: Sequence[Row]) -> str:
    """Numbers of swipes, and the numbers of fit users with which they are enough."""
    swipes: dict[int, list[int]] = {}
    for row in rows:
        swipes.setdefault(row["fit_users"], []).append(row["swipes"])
    users: dict[str, list[int]] = {}
    for number, times in swipes.items():
        users.setdefault(", ".join(map(str, times)), []).append(number)
    places = [f"after {times} swipes with {', '.join(map(str, numbers))} fit users" for times, numbers in users.items()]
    return "; ".join(places) or "never within this log"
