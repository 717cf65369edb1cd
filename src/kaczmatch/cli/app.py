"""Commands and their options. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kaczmatch.cli import market_command, operator_commands

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
    BEYOND = "beyond"
    LINEAGE = "lineage"
    CLAIMS = "claims"
    ALL = "all"


class ConditionName(StrEnum):
    PAPER = "paper"
    HONEST = "honest"


class AppealFrom(StrEnum):
    OTHERS = "others"
    FIT = "fit"


class AppealAt(StrEnum):
    SPLIT = "split"
    FIRST = "first"


Out = Annotated[Path | None, typer.Option(help="Folder for CSV, JSON, SVG, PNG and report.html.", file_okay=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the table on standard output.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, 2, …")]

Swipes = Annotated[Path, typer.Option(help="One row a swipe (.csv, .jsonl, .parquet).", dir_okay=False)]
Candidates = Annotated[Path, typer.Option(help="One row a candidate: identifier, then a number a tag.", dir_okay=False)]
User = Annotated[str, typer.Option(help="Column of the swipes: who swiped.")]
Candidate = Annotated[str, typer.Option(help="Column of the swipes: on whom.")]
Like = Annotated[str, typer.Option(help="Column of the swipes: 1/0, like/pass, true/false or 1/-1.")]
Order = Annotated[str | None, typer.Option(help="Column of each user's order; usually seq, else by time, else as they stand.")]
Time = Annotated[str | None, typer.Option(help="Column of the time, in seconds or dates; usually timestamp, time or at.")]
Session = Annotated[str | None, typer.Option(help="Column that says which swipes belong together; usually session.")]
Key = Annotated[str | None, typer.Option(help="Identifier column of the candidates; usually as --candidate.")]
Split = Annotated[str, typer.Option(help="user, or a column with one value a user: even ones are fitted on, odd ones tested.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the bootstrap and of whatever else is random.")]


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
    json: Json = False,
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


@app.command()
def evaluate(
    swipes: Swipes,
    candidates: Candidates,
    user: User = "user_id",
    candidate: Candidate = "candidate_id",
    like: Like = "like",
    order: Order = None,
    time: Time = None,
    session: Session = None,
    candidates_key: Key = None,
    split: Split = "user",
    at: Annotated[str | None, typer.Option(help="Learn on so many first swipes, such as 0,5,20; usually up to 200.")] = None,
    rest: Annotated[int, typer.Option(min=2, help="Rank at least so many swipes after them.")] = 5,
    at_least: Annotated[int, typer.Option(min=0, help="Test users with so many swipes in all.")] = 0,
    appeal_from: Annotated[AppealFrom, typer.Option(help="Appeal from all others, or from fitted users.")] = AppealFrom.OTHERS,
    appeal_at: Annotated[AppealAt, typer.Option(help="Appeal as known at the split, or at the first swipe.")] = AppealAt.SPLIT,
    learner: Annotated[list[str] | None, typer.Option(help="A learner's slug; may be repeated; usually all.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings, as kaczmatch tune writes them.", dir_okay=False)] = None,
    both_ways: Annotated[bool | None, typer.Option("--both-ways/--one-way", help="Whether candidates swipe too.")] = None,
    side: Annotated[str | None, typer.Option(help="Column that tells the two sides apart, for matches.")] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Other libraries' learners beside ours; needs the extra bench.")] = False,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Prove on your own swipe log which learner to use."""
    from kaczmatch.cli.evaluate import Request, run

    columns = {"user": user, "candidate": candidate, "like": like, "order": order, "time": time, "session": session}
    protocol = {"split": split, "rest": rest, "at_least": at_least, "seed": seed}
    protocol |= {"appeal_from": appeal_from.value, "appeal_at": appeal_at.value}
    request = Request(swipes, candidates, columns | {"candidates_key": candidates_key}, protocol, at)
    run(request, learner or [], config, both_ways=both_ways, side=side, peers=peers, out=out, as_json=json)


@app.command()
def tune(
    swipes: Swipes,
    candidates: Candidates,
    user: User = "user_id",
    candidate: Candidate = "candidate_id",
    like: Like = "like",
    order: Order = None,
    time: Time = None,
    session: Session = None,
    candidates_key: Key = None,
    split: Split = "user",
    learner: Annotated[str, typer.Option(help="probit or probit-diag.")] = "probit",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for kaczmatch.toml, tables, figure and report.", file_okay=False)] = Path(
        "kaczmatch-tune"
    ),
) -> None:
    """Choose a learner's settings on your own swipe log, or see that the defaults are as good."""
    from kaczmatch.cli.evaluate import Request
    from kaczmatch.cli.tune import run

    columns = {"user": user, "candidate": candidate, "like": like, "order": order, "time": time, "session": session}
    request = Request(swipes, candidates, columns | {"candidates_key": candidates_key}, {"split": split, "seed": seed}, None)
    run(request, learner, out)


config_app = typer.Typer(help="Settings of the service.", no_args_is_help=True)
app.add_typer(config_app, name="config")
ConfigFile = Annotated[Path | None, typer.Option("--config", help="Settings as TOML; KACZMATCH_… variables win.", dir_okay=False)]


@app.command()
def serve(
    config: ConfigFile = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; usually 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Port to listen on; usually 8000.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; more than one on PostgreSQL only.")] = None,
    demo: Annotated[bool | None, typer.Option("--demo/--no-demo", help="Invented people to play with.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder for the database file.", file_okay=False)] = None,
) -> None:
    """Run the service. `kaczmatch serve --demo` shows it with invented people."""
    from kaczmatch.cli.serve import serve as run

    run(config, host=host, port=port, workers=workers, demo=demo, data=data)


@config_app.command("check")
def config_check(config: ConfigFile = None) -> None:
    """Print the settings in force, secrets masked, and say what is wrong with them."""
    from kaczmatch.cli.serve import check

    check(config)


@app.command()
def refit(config: ConfigFile = None) -> None:
    """Learn where newcomers start from what people like, and take it into use."""
    from kaczmatch.cli.serve import refit as run

    run(config)


@app.command()
def openapi() -> None:
    """Print the OpenAPI document of the service."""
    from kaczmatch.cli.serve import openapi as run

    run()


market_command.register(app)
operator_commands.register(app)
