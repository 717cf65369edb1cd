"""Commands for research, and their options. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kaczmatch.cli.terminal import choices
from kaczmatch.cli.terminal.runners import Processes, Ray, Workers

PANEL = "To find out what learns best"


class ExperimentName(StrEnum):
    TABLE_ALPHA = "table-alpha"
    TABLE_METRICS = "table-metrics"
    CURVES = "curves"
    NOISE = "noise"
    COLD_START = "cold-start"
    THRESHOLDS = "thresholds"
    BLOCKS = "blocks"
    CONVERGENCE = "convergence"
    DRIFT = "drift"
    CLAIMS = "claims"
    ALL = "all"


class ConditionName(StrEnum):
    PAPER = "paper"
    HONEST = "honest"


class KnownWhen(StrEnum):
    STRICT = "strict"
    MATURE = "mature"
    FORWARD = "forward"


class PopulationName(StrEnum):
    PAPER = "paper"
    ARCHETYPES = "archetypes"
    POPULARITY = "popularity"
    OKCUPID = "okcupid"


Out = Annotated[Path | None, typer.Option(help="Folder for CSV, JSON, SVG, PNG and report.html.", file_okay=False)]
Json = Annotated[bool, typer.Option("--json", help="Print the table on standard output.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, 2, …")]

Swipes = Annotated[
    Path,
    typer.Option(help="One row per swipe: user, candidate, decision, at (.csv, .jsonl, .parquet).", dir_okay=False),
]
Candidates = Annotated[
    Path, typer.Option(help="One row per candidate: id, then one number per tag, or lists in tags and features.", dir_okay=False)
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="field=column where a file has other names, such as user=user_id; repeatable. "
        "Fields: user, candidate, decision, at, seq, session; id, tags, features of candidates.",
    ),
]
Ignored = Annotated[
    list[str] | None, typer.Option("--ignore", help="A column of the candidates that is no tag and no feature; repeatable.")
]
LikeFrom = Annotated[float | None, typer.Option(help="The rating from which on it is a like, where decisions are ratings.")]
Split = Annotated[str, typer.Option(help="user, or a column with one value per user: even ones are fitted on, odd ones tested.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the bootstrap and of whatever else is random.")]


def evaluate(
    swipes: Swipes,
    candidates: Candidates,
    column: Columns = None,
    ignore: Ignored = None,
    like_from: LikeFrom = None,
    split: Split = "user",
    folds: Annotated[int | None, typer.Option(help="Test everybody once: so many parts, each fitted on the others.")] = None,
    at: Annotated[str | None, typer.Option(help="Learn on so many first swipes, such as 0,5,20; usually up to 200.")] = None,
    rest: Annotated[int, typer.Option(min=2, help="Rank at least so many swipes after them.")] = 5,
    at_least: Annotated[int, typer.Option(min=0, help="Test users with so many swipes in all.")] = 0,
    protocol: Annotated[
        KnownWhen, typer.Option(help="Others' decisions: those before, all of them, or a fit before and tested people after.")
    ] = KnownWhen.STRICT,
    learner: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeatable, also with settings: 'probit-diag(alpha=2)'. Usually all: {choices.LEARNERS}."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A learner with its settings, as an evaluation writes them.", dir_okay=False)
    ] = None,
    both_ways: Annotated[
        bool, typer.Option("--both-ways/--one-way", help="Users and candidates of one id are the same people: test matches.")
    ] = False,
    side: Annotated[str | None, typer.Option(help="Column that tells the two sides apart, for matches.")] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Compare with other libraries' learners; needs the extra bench.")
    ] = False,
    seed: Seed = 0,
    ray: Ray = None,
    workers: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Find out which learner to use on your own swipe log, with the figures that show it."""
    from kaczmatch.cli.research.evaluate import LogRequest, run

    tested = {"split": split, "folds": folds, "rest": rest, "at_least": at_least, "seed": seed, "knowledge": protocol.value}
    request = LogRequest(swipes, candidates, column or [], tested, at, ignore or [], like_from)
    wanted = (request, learner or [], config)
    run(*wanted, both_ways=both_ways, side=side, peers=peers, out=out, as_json=json, ray=ray, workers=workers)


def reproduce(
    experiment: Annotated[ExperimentName, typer.Argument(help="What to reproduce.")] = ExperimentName.ALL,
    condition: Annotated[ConditionName | None, typer.Option(help="The paper's labels or honest ones; all runs both.")] = None,
    seeds: Seeds = 5,
    users: Annotated[int, typer.Option(min=2, max=2000, help="Active users per seed.")] = 100,
    quick: Annotated[bool, typer.Option("--quick", help="A fifth of the sessions: for a look, not for a comparison.")] = False,
    ray: Ray = None,
    workers: Processes = 1,
    out: Out = None,
    json: Annotated[bool, typer.Option("--json", help="Print the rows of one table on standard output.")] = False,
) -> None:
    """Check the paper: reproduce its tables and figures, then run the honest experiment."""
    from kaczmatch.cli.research.reproduce import run

    asked = (experiment.value, condition and condition.value, seeds, users)
    run(*asked, quick=quick, out=out, as_json=json, ray=ray, workers=workers)


def simulate(
    learner: Annotated[list[str] | None, typer.Option(help=f"Repeatable: {choices.LEARNERS}.")] = None,
    population: Annotated[str, typer.Option(help="How tags lie.", metavar=choices.POPULATIONS)] = "uniform",
    labels: Annotated[str, typer.Option(help="What people like.", metavar=choices.LABELS)] = "cosine",
    prior: Annotated[str, typer.Option(help="Where learners start.", metavar=choices.PRIORS)] = "ones",
    sampling: Annotated[str, typer.Option(help="Whom they are shown.", metavar=choices.SAMPLING)] = "row-norm",
    label_noise: Annotated[float, typer.Option(help="Share of swipes that say the opposite of what is felt.")] = 0.2,
    like_rate: Annotated[float, typer.Option(help="Share of likes that calibrated labels aim at.")] = 0.4,
    drift_at: Annotated[int, typer.Option(min=0, help="Swipe from which everybody has another taste; 0 for never.")] = 0,
    fatigue: Annotated[float, typer.Option(help="Chance that a session's last like becomes a pass.")] = 0.0,
    people: Annotated[int, typer.Option(help="Size of the population.")] = 2_000,
    tags: Annotated[int, typer.Option(help="Number of tags.")] = 60,
    users: Annotated[int, typer.Option(help="Active users per seed.")] = 100,
    sessions: Annotated[int, typer.Option(help="Sessions of each user.")] = 200,
    deck: Annotated[int, typer.Option(help="Candidates per session.")] = 32,
    seeds: Seeds = 1,
    out: Out = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Also write a swipe log here (.csv, .jsonl, .parquet), its candidates beside it."),
    ] = None,
    json: Json = False,
) -> None:
    """Try learners on simulated people whose tastes are known, and write their swipe log."""
    from kaczmatch.cli.research.simulate import run

    settings = {
        "population": population,
        "labels": labels,
        "prior": prior,
        "sampling": sampling,
        "label_noise": label_noise,
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


def market(
    population: Annotated[PopulationName, typer.Option(help="Who meets whom.")] = PopulationName.ARCHETYPES,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"default, paper, popularity, or a sampler ({choices.SAMPLERS}) with ' + quota', ' + cap' or both behind it, "
            "such as 'greedy + quota + cap'; repeatable; usually all."
        ),
    ] = None,
    seeds: Seeds = 3,
    side: Annotated[int, typer.Option(min=2, help="People on each side.")] = 300,
    rounds: Annotated[int, typer.Option(min=1, help="Decks for everybody, a day between them.")] = 6,
    deck: Annotated[int, typer.Option(min=1, max=100, help="Cards of a deck.")] = 10,
    like_rate: Annotated[float, typer.Option(help="Share of people liked; the paper's population has its own.")] = 0.2,
    label_noise: Annotated[float, typer.Option(help="Share of answers that say the opposite of what is felt.")] = 0.2,
    people: Annotated[Path | None, typer.Option(help="Real profiles (.csv, .csv.gz), for okcupid.", dir_okay=False)] = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the population again after each round, as the service does.")
    ] = False,
    traits: Annotated[
        bool | None, typer.Option("--traits/--no-traits", help="Refit with traits, or without; --refit alone finds out.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Refit, and keep covariances of tags, in over ten times the memory.")
    ] = False,
    group: Annotated[str, typer.Option(help="A tag or kind: how often these people are shown and matched, beside others.")] = "",
    workers: Processes = 1,
    ray: Ray = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare deck policies in a simulated market in which both sides choose and learn."""
    from kaczmatch.cli.research.market import run
    from kaczmatch.simulation.market.engine import Refits

    census = {"side": side, "like_rate": like_rate, "label_noise": label_noise, "people": people}
    refits = None
    if refit or full or traits is not None:
        refits = Refits(traits, full)
    pace = {"rounds": rounds, "deck": deck}
    more = {"refits": refits, "group": group, "ray": ray, "workers": workers}
    run(population.value, policy or [], census, pace, seeds, out=out, as_json=json, **more)  # type: ignore[arg-type]


def replay(
    swipes: Annotated[
        str, typer.Option(help="A Parquet file, or a folder of them: user, candidate, decision, at. Or its address (s3://…).")
    ],
    candidates: Annotated[str, typer.Option(help="One row per candidate, as for evaluate: a file, or its address.")],
    out: Annotated[str, typer.Option(help="Folder for the states (user, swipes, state in Parquet files), or its address.")],
    learner: Annotated[str | None, typer.Option(help=f"Who learns; usually probit-diag: {choices.LEARNERS}.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Learner and settings, as kaczmatch evaluate writes them.", dir_okay=False)
    ] = None,
    prior: Annotated[Path | None, typer.Option(help="Where users start: a file of Prior.to_bytes().", dir_okay=False)] = None,
    column: Columns = None,
    ignore: Ignored = None,
    workers: Workers = None,
    ray: Ray = None,
) -> None:
    """Learn from a log of any size: one state per user, in parts. A run that was killed goes on where it was."""
    from kaczmatch.cli.research.replay import run

    asked = {"slug": learner, "config": config, "prior": prior, "ray": ray, "workers": workers}
    run(swipes, candidates, out, columns=column or [], ignore=ignore or [], **asked)  # type: ignore[arg-type]


EXAMPLES: dict[Callable[..., None], str] = {
    evaluate: "kaczmatch evaluate --swipes swipes.csv --candidates candidates.csv --out report",
    reproduce: "kaczmatch reproduce table-metrics --quick",
    simulate: "kaczmatch simulate --learner tk --learner probit --users 20 --log swipes.csv",
    replay: "kaczmatch replay --swipes log --candidates candidates.parquet --out states",
    market: "kaczmatch market --population archetypes --seeds 1 --side 100",
}


def register(app: typer.Typer) -> None:
    for command, example in EXAMPLES.items():
        app.command(rich_help_panel=PANEL, epilog=f"Example: {example}")(command)
