"""`kaczmatch tune`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from kaczmatch.cli.evaluate import Request, scope
from kaczmatch.cli.session import plain_errors, show
from kaczmatch.cli.watching import Watching
from kaczmatch.evaluation.trial import Trial
from kaczmatch.evaluation.tune import Tuning, tune
from kaczmatch.learners.population.appeal import Appeal
from kaczmatch.report.page import Page

CONFIGURATION = "kaczmatch.toml"


def run(request: Request, slug: str, out: Path) -> None:
    with plain_errors():
        with Watching() as watching:
            watching.stage("reading", 1)
            trial = request.trial(Appeal())
            found = tune(trial, slug, watching)
            found.part.write(out)
            report = _page(trial, found, request.swipes.name, slug).write([found.part], out)
        (out / CONFIGURATION).write_text(found.configuration.text(_why(found, request.swipes.name)), encoding="utf-8")
        console = Console(highlight=False)
        console.print(found.words[0], style="bold")
        for words in found.words[1:]:
            console.print(words, markup=False)
        console.print()
        show([found.part])
        Console(stderr=True).print(f"settings: {out / CONFIGURATION}, report: {report}", highlight=False, soft_wrap=True)


def _why(found: Tuning, name: str) -> str:
    return f"kaczmatch tune on {name}: " + ("better than the defaults" if found.changed else "the defaults, nothing was better")


def _page(trial: Trial, found: Tuning, name: str, slug: str) -> Page:
    return Page(
        title=f"{slug} tuned on {name}",
        lead="Settings compared by what the learner says before each swipe, then checked on users they were not chosen on.",
        scope=scope(trial),
        command="kaczmatch tune",
        advice=found.words,
    )
