"""`kaczmatch evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from rich.console import Console

from kaczmatch.cli.terminal.errors import interruptible, plain_errors
from kaczmatch.cli.terminal.progress import StageProgress
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.evaluate import Choices, measure, read_trial
from kaczmatch.evaluation.peers import all_peers
from kaczmatch.evaluation.report import CONFIGURATION, Report
from kaczmatch.evaluation.trial import TIMES, Protocol, Trial
from kaczmatch.formats.columns import column_mapping
from kaczmatch.formats.configuration import Configuration, read_configuration
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.registry import LEARNERS

WRITING = "writing"
_IN_THE_TERMINAL = ("own-swipes", "simple", "auc", "probabilities", "peers", "matches-best", "fusions")


@final
@dataclass(frozen=True, slots=True)
class LogRequest:
    """A log and a protocol, as they were typed."""

    swipes: Path
    candidates: Path
    columns: Sequence[str]  # field=column
    protocol: Mapping[str, Any]
    times: str | None = None
    ignore: Sequence[str] = ()  # columns of the candidates
    like_from: float | None = None  # where decisions are ratings

    def trial(self, appeal: AppealModel, side: str | None) -> Trial:
        times = TIMES if self.times is None else _numbers("at", self.times)
        protocol = Protocol(**self.protocol, times=times, appeal=appeal)
        return read_trial(self.swipes, self.candidates, protocol, column_mapping(self.columns), self.ignore, self.like_from, side)


def _numbers(field: str, text: str) -> tuple[int, ...]:
    """Whole numbers between commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise InvalidInput(field, f"must be whole numbers with commas between them, such as 0,5,20, got {text!r}")
    return tuple(int(word) for word in words)


def run(
    request: LogRequest,
    learners: Sequence[str],
    config: Path | None,
    *,
    both_ways: bool,
    side: str | None,
    peers: bool,
    out: Path | None,
    as_json: bool,
    ray: str | None = None,
    workers: int = 1,
) -> None:
    with plain_errors():
        found = None if config is None else read_configuration(config)
        chosen = [*learners, *([_typed(found)] if found else [])] or tuple(LEARNERS)
        choices = Choices(chosen, both_ways, side, all_peers() if peers else (), all_times=request.times is not None)
        progress = StageProgress()
        with interruptible(lambda: kept_words(progress, out)), progress:
            progress.stage("reading", 1)
            trial = request.trial(AppealModel() if found is None else found.appeal, side)
            report = measure(trial, choices, progress, runner_of(ray, workers, processes=True))
            progress.stage(WRITING, 1)
            page = None if out is None else report.write(out, request.swipes.name)
        if as_json:
            sys.stdout.write(report.ranking_table.json())
        else:
            _say(report, out)
        if page is not None:
            told = f"tables, figures and report: {page}, settings: {page.parent / CONFIGURATION}"
            Console(stderr=True).print(told, highlight=False, soft_wrap=True)
        if report.shuffled.verdict == "leak":
            raise InvalidInput(
                "shuffled", "shuffled decisions did not come out at 0.5; do not trust these numbers, and report the log"
            )


def _typed(found: Configuration) -> str:
    settings = ", ".join(f"{name}={value!r}" for name, value in found.settings.items())
    return f"{found.slug}({settings})" if settings else found.slug


def kept_words(progress: StageProgress, out: Path | None) -> str:
    """What an interrupted evaluation leaves behind: it writes its files at the end."""
    if progress.at == WRITING and out is not None:
        return f"the tables and figures that were finished are in {out}; the report is not."
    return f"nothing is kept. It was at “{progress.at}”; files are written at the end. Fewer learners (--learner) take less time."


def _say(report: Report, out: Path | None) -> None:
    console = Console(highlight=False)
    first, *others = [*report.advice, *report.hand_over(out)]
    console.print(first, style="bold")
    for words in [*others, report.scope]:
        console.print(words, markup=False, soft_wrap=True)
    console.print()
    shown = [replace(part, tables=[table for table in part.tables if table.name in _IN_THE_TERMINAL]) for part in report.parts]
    show_parts(shown)
