"""`kaczmatch market` and its options. What it does is imported when it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class PopulationName(StrEnum):
    PAPER = "paper"
    ARCHETYPES = "archetypes"
    POPULARITY = "popularity"
    OKCUPID = "okcupid"


def market(
    population: Annotated[PopulationName, typer.Option(help="Who meets whom.")] = PopulationName.ARCHETYPES,
    policy: Annotated[
        list[str] | None, typer.Option(help="default, paper, 'greedy + quota', …; repeatable; usually all.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, 2, …")] = 3,
    side: Annotated[int, typer.Option(min=2, help="People on each side.")] = 300,
    rounds: Annotated[int, typer.Option(min=1, help="Decks for everybody, a day between them.")] = 6,
    deck: Annotated[int, typer.Option(min=1, max=100, help="Cards of a deck.")] = 10,
    like_rate: Annotated[float, typer.Option(help="Share of people liked; the paper's population has its own.")] = 0.2,
    label_noise: Annotated[float, typer.Option(help="Share of answers that say the opposite.")] = 0.2,
    people: Annotated[Path | None, typer.Option(help="Real profiles (.csv, .csv.gz), for okcupid.", dir_okay=False)] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for CSV, JSON, SVG, PNG and report.html.", file_okay=False)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the table on standard output.")] = False,
) -> None:
    """Let policies meet a market in which both sides choose and learn."""
    from kaczmatch.cli.market import run

    census = {"side": side, "like_rate": like_rate, "label_noise": label_noise, "people": people}
    run(population.value, policy or [], census, {"rounds": rounds, "deck": deck}, seeds, out=out, as_json=json)


def register(app: typer.Typer) -> None:
    app.command()(market)
