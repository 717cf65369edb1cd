"""`kaczmatch tune`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from kaczmatch.cli.research.evaluate import WRITING, LogRequest, kept_words
from kaczmatch.cli.terminal.errors import interruptible, plain_errors
from kaczmatch.cli.terminal.progress import StageProgress
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.evaluation.reporting.hand_over import CONFIGURATION, HandOver
from kaczmatch.evaluation.reporting.report import tuning_page
from kaczmatch.evaluation.reporting.tuning import tuning_part, tuning_words
from kaczmatch.evaluation.tune import TuningResult, tune
from kaczmatch.learners.population.appeal import AppealModel


def run(request: LogRequest, slug: str, out: Path, *, ray: str | None = None, workers: int = 1) -> None:
    with plain_errors():
        progress = StageProgress()
        with interruptible(lambda: kept_words(progress, out)), progress:
            progress.stage("reading", 1)
            trial = request.trial(AppealModel())
            result = tune(trial, slug, progress, runner_of(ray, workers, processes=True))
            part = tuning_part(result)
            progress.stage(WRITING, 1)
            part.write(out)
            beside = [*tuning_words(result), *HandOver(result.configuration).words(Path())]  # the page, wherever it lies
            report = tuning_page(trial, result, request.swipes.name, beside).write([part], out)
        (out / CONFIGURATION).write_text(result.configuration.text(_why(result, request.swipes.name)), encoding="utf-8")
        console = Console(highlight=False)
        first, *others = [*tuning_words(result), *HandOver(result.configuration).words(out)]
        console.print(first, style="bold")
        for words in others:
            console.print(words, markup=False, soft_wrap=True)
        console.print()
        show_parts([part])
        Console(stderr=True).print(f"settings: {out / CONFIGURATION}, report: {report}", highlight=False, soft_wrap=True)


def _why(result: TuningResult, name: str) -> str:
    return f"kaczmatch tune on {name}: " + ("better than the defaults" if result.changed else "the defaults, nothing was better")
