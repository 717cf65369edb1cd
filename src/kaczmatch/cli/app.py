"""Commands and their options. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Learns what each person likes from their own swipes. Start with: kaczmatch reproduce all",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Experiment(StrEnum):
    TABLE_ALPHA = "table-alpha"
    TABLE_METRICS = "table-metrics"
    CURVES = "curves"
    NOISE = "noise"
    ADAPTIVE = "adaptive"
    COLD_START = "cold-start"
    CONVERGENCE = "convergence"
    CEILING = "ceiling"
    DRIFT = "drift"
    CALIBRATION = "calibration"
    BLOCKS = "blocks"
    CLAIMS = "claims"
    ALL = "all"


class ConditionName(StrEnum):
    PAPER = "paper"
    HONEST = "honest"


Out = Annotated[Path | None, typer.Option(help="Folder for CSV, JSON, SVG, PNG and report.html.", file_okay=False)]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, 2, …")]


@app.command()
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="What to reproduce.")] = Experiment.ALL,
    condition: Annotated[ConditionName | None, typer.Option(help="The paper's labels or honest ones; all runs both.")] = None,
    seeds: Seeds = 5,
    users: Annotated[int, typer.Option(min=2, max=2000, help="Active users a seed.")] = 100,
    quick: Annotated[bool, typer.Option("--quick", help="A fifth of the sessions: for a look, not for a comparison.")] = False,
    out: Out = None,
    json: Annotated[bool, typer.Option("--json", help="Print the rows of one table on standard output.")] = False,
) -> None:
    """Reproduce the paper's tables and figures, then run the honest experiment."""
    from kaczmatch.cli.reproduce import run

    run(experiment.value, condition and condition.value, seeds, users, quick=quick, out=out, as_json=json)


@app.command()
def simulate(
    learner: Annotated[list[str] | None, typer.Option(help="A learner's slug; may be repeated.")] = None,
    population: Annotated[str, typer.Option(help="uniform, sparse, correlated or archetypes.")] = "uniform",
    labels: Annotated[str, typer.Option(help="raw-dot, cosine or calibrated.")] = "cosine",
    prior: Annotated[str, typer.Option(help="informed, ones or own-tags.")] = "ones",
    sampling: Annotated[str, typer.Option(help="row-norm or cosine.")] = "row-norm",
    flip: Annotated[float, typer.Option(help="Share of swipes that say the opposite.")] = 0.2,
    like_rate: Annotated[float, typer.Option(help="Share of likes that calibrated labels aim at.")] = 0.4,
    drift_at: Annotated[int, typer.Option(min=0, help="Swipe from which everybody has another taste; 0 for never.")] = 0,
    fatigue: Annotated[float, typer.Option(help="Chance that a session's last like becomes a pass.")] = 0.0,
    people: Annotated[int, typer.Option(help="Size of the population.")] = 2_000,
    tags: Annotated[int, typer.Option(help="Number of tags.")] = 60,
    users: Annotated[int, typer.Option(help="Active users a seed.")] = 100,
    sessions: Annotated[int, typer.Option(help="Sessions of each user.")] = 200,
    deck: Annotated[int, typer.Option(help="Candidates a session.")] = 32,
    seeds: Seeds = 1,
    out: Out = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Also write a swipe log here (.csv, .jsonl, .parquet), its candidates beside it."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the table on standard output.")] = False,
) -> None:
    """Let any learners meet any simulated population."""
    from kaczmatch.cli.simulate import run

    settings = {
        "population": population,
        "labels": labels,
        "prior": prior,
        "sampling": sampling,
        "flip": flip,
        "like_rate": like_rate,
        "drift_at": drift_at,
        "fatigue": fatigue,
        "people": people,
        "tags": tags,
        "users": users,
        "sessions": sessions,
        "deck": deck,
    }
    run(learner or ["tk", "block-nk", "probit-diag"], settings, seeds, out=out, log=log, as_json=json)
