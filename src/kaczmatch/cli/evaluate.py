"""`kaczmatch evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from rich.console import Console

from kaczmatch.cli.session import plain_errors, show
from kaczmatch.cli.watching import Watching
from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.evaluate import Choices, Evaluation, evaluate
from kaczmatch.evaluation.peers.registry import all_peers
from kaczmatch.evaluation.split import BY_USER
from kaczmatch.evaluation.trial import TIMES, Protocol, Trial
from kaczmatch.formats.configuration import read_configuration
from kaczmatch.formats.swipe_table import ColumnNames, read_swipes
from kaczmatch.learners.population.appeal import Appeal
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.report.page import Page

_IN_THE_TERMINAL = ("auc", "probabilities", "peers", "peers-leads", "overtaking", "matches-best", "fusions")
_VERDICTS = {"sound": "good", "leaks": "bad"}


@final
@dataclass(frozen=True, slots=True)
class Request:
    """A log and a protocol, as they were typed."""

    swipes: Path
    candidates: Path
    columns: Mapping[str, str | None]
    protocol: Mapping[str, Any]
    at: str | None

    def trial(self, appeal: Appeal, *others: str | None) -> Trial:
        """The log, with the columns that are wanted beside the usual ones."""
        times = TIMES if self.at is None else _numbers("at", self.at)
        protocol = Protocol(**self.protocol, times=times, appeal=appeal)
        wanted = [name for name in (protocol.split, *others) if name is not None and name != BY_USER]
        return Trial(read_swipes(self.swipes, self.candidates, ColumnNames(**self.columns), wanted), protocol)  # type: ignore[arg-type]


def _numbers(field: str, text: str) -> tuple[int, ...]:
    """Whole numbers between commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise InvalidInput(field, f"must be whole numbers with commas between them, such as 0,5,20, got {text!r}")
    return tuple(int(word) for word in words)


def run(
    request: Request,
    learners: Sequence[str],
    config: Path | None,
    *,
    both_ways: bool | None,
    side: str | None,
    peers: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    with plain_errors():
        found = None if config is None else read_configuration(config)
        choices = Choices(
            learners=learners or ([found.slug] if found else tuple(LEARNERS)),
            settings=None if found is None else {found.slug: found.settings},
            both_ways=both_ways,
            side=side,
            peers=all_peers() if peers else (),
            all_times=request.at is not None,
        )
        with Watching() as watching:
            watching.stage("reading", 1)
            trial = request.trial(Appeal() if found is None else Appeal(**found.appeal), side)
            result = evaluate(trial, choices, watching)
            if out is not None:
                watching.stage("writing", len(result.parts))
                for part in result.parts:
                    part.write(out)
                    watching.advance()
                report = page(trial, result, request.swipes.name).write(result.parts, out)
        if as_json:
            sys.stdout.write(result.table("ranking").json())
        else:
            _say(trial, result)
        if out is not None:
            Console(stderr=True).print(f"tables, figures and report: {report}", highlight=False, soft_wrap=True)
        if not result.sound:
            raise InvalidInput(
                "shuffled", "shuffled answers did not come out at 0.5; do not trust these numbers, and report the log"
            )


def page(trial: Trial, result: Evaluation, name: str) -> Page:
    return Page(
        title=f"What learns from {name}",
        lead="Every learner on one swipe log: learn on a user's first swipes, freeze, rank the rest, without looking ahead.",
        scope=scope(trial),
        command="kaczmatch evaluate",
        advice=result.advice.words,
        headline=_headline(result),
        verdicts=_VERDICTS,
    )


def scope(trial: Trial) -> str:
    """What was read, and how it was divided."""
    table = trial.table
    words = [
        f"{len(table):,} swipes of {len(table.users):,} users on {len(table.candidates):,} candidates,",
        f"{len(table.tags)} tags, {table.like.mean():.0%} likes. The population is fitted on {int(trial.fit.sum()):,} users,",
        f"and {len(trial.tested):,} others are tested.",
    ]
    if table.time is None:
        words.append("No column is the time: everybody's n-th swipe is taken to be at one moment (--time names a column).")
    return " ".join(words)


def _say(trial: Trial, result: Evaluation) -> None:
    console = Console(highlight=False)
    console.print(result.advice.words[0], style="bold")
    for words in [*result.advice.words[1:], scope(trial)]:
        console.print(words, markup=False)
    console.print()
    show([replace(part, tables=[table for table in part.tables if table.name in _IN_THE_TERMINAL]) for part in result.parts])


def _headline(result: Evaluation) -> list[tuple[str, str]]:
    rows = result.table("ranking").rows
    chosen = [row for row in rows if row["learner"] == result.advice.chosen]
    first, last = chosen[0], chosen[-1]
    losses = {row["learner"]: row for row in result.table("probabilities").rows}
    numbers = [
        (f"{first['auc']:.3f}", f"AUC of {first['learner']} after {first['swipes']} swipes"),
        (f"{last['auc']:.3f}", f"AUC after {last['swipes']} swipes; appeal alone {last['auc'] - last['over_appeal']:.3f}"),
    ]
    if result.advice.chosen in losses:
        error = losses[result.advice.chosen]["calibration_error"]
        numbers.append((f"{error:.3f}", "mean distance between the probability said and what happened"))
    names = {table.name for part in result.parts for table in part.tables}
    if "matches-best" in names:
        best = result.table("matches-best").rows[0]
        numbers.append((f"{best['match_auc']:.3f}", f"match AUC of {best['learner']}, {best['fusion']} fusion"))
    return numbers
