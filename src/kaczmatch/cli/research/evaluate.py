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
from kaczmatch.evaluation.evaluate import Choices, EvaluationResult, evaluate
from kaczmatch.evaluation.peers.registry import all_peers
from kaczmatch.evaluation.protocol.split import BY_USER
from kaczmatch.evaluation.protocol.trial import TIMES, Protocol, Trial
from kaczmatch.evaluation.reporting.advice import advice_words
from kaczmatch.evaluation.reporting.hand_over import CONFIGURATION, hand_over
from kaczmatch.evaluation.reporting.ranking import ranking_table
from kaczmatch.evaluation.reporting.report import evaluation_page, evaluation_parts, match_words, scope_words, trait_words
from kaczmatch.formats.columns import ColumnNames, column_mapping
from kaczmatch.formats.configuration import read_configuration
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.registry import LEARNERS

WRITING = "writing"
_IN_THE_TERMINAL = ("auc", "probabilities", "peers", "peers-leads", "crossover", "matches-best", "fusions")


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

    def trial(self, appeal: AppealModel, *others: str | None) -> Trial:
        """The log, with the columns that are wanted beside the usual ones."""
        times = TIMES if self.times is None else _numbers("at", self.times)
        protocol = Protocol(**self.protocol, times=times, appeal=appeal)
        wanted = [name for name in (protocol.split, *others) if name is not None and name != BY_USER]
        names = ColumnNames.of(column_mapping(self.columns))
        return Trial(read_swipes(self.swipes, self.candidates, names, wanted, self.ignore, self.like_from), protocol)


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
        choices = Choices(
            learners=learners or ([found.slug] if found else tuple(LEARNERS)),
            settings=None if found is None else {found.slug: found.settings},
            both_ways=both_ways,
            side=side,
            peers=all_peers() if peers else (),
            all_times=request.times is not None,
        )
        progress = StageProgress()
        with interruptible(lambda: kept_words(progress, out)), progress:
            progress.stage("reading", 1)
            trial = request.trial(AppealModel() if found is None else found.appeal, side)
            result = evaluate(trial, choices, progress, runner=runner_of(ray, workers, processes=True))
            handed = hand_over(result)
            beside = [*advice_words(result), *handed.words(Path())]  # the page, wherever it lies
            report = None if out is None else _write(result, request.swipes.name, out, beside, progress)
        if out is not None:
            (out / CONFIGURATION).write_text(handed.found.text(f"kaczmatch evaluate on {request.swipes.name}"), encoding="utf-8")
        if as_json:
            sys.stdout.write(ranking_table(result.scores).json())
        else:
            _say(result, [*advice_words(result), *handed.words(out)])
        if report is not None:
            told = f"tables, figures and report: {report}, settings: {report.parent / CONFIGURATION}"
            Console(stderr=True).print(told, highlight=False, soft_wrap=True)
        if result.shuffled.verdict == "leak":
            raise InvalidInput(
                "shuffled", "shuffled decisions did not come out at 0.5; do not trust these numbers, and report the log"
            )


def kept_words(progress: StageProgress, out: Path | None) -> str:
    """What an interrupted evaluation leaves behind: it writes its files at the end."""
    if progress.at == WRITING and out is not None:
        return f"the tables and figures that were finished are in {out}; the report is not."
    return f"nothing is kept. It was at “{progress.at}”; files are written at the end. Fewer learners (--learner) take less time."


def _write(result: EvaluationResult, name: str, out: Path, advice: Sequence[str], progress: StageProgress) -> Path:
    parts = evaluation_parts(result)
    progress.stage(WRITING, len(parts))
    for part in parts:
        part.write(out)
        progress.advance()
    return evaluation_page(result, name, advice).write(parts, out)


def _say(result: EvaluationResult, advice: Sequence[str]) -> None:
    console = Console(highlight=False)
    first, *others = advice
    console.print(first, style="bold")
    for words in filter(None, [*others, scope_words(result.trial), trait_words(result), match_words(result)]):
        console.print(words, markup=False, soft_wrap=True)
    console.print()
    parts = evaluation_parts(result)
    show_parts([replace(part, tables=[table for table in part.tables if table.name in _IN_THE_TERMINAL]) for part in parts])
