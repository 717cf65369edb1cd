"""What all scripts here share: their options, and what becomes of their tables and figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kaczmatch.report.results import Figure, Table


def options(doc: str | None, *, seeds: int = 5, users: int | None = None) -> argparse.ArgumentParser:
    """`--seeds`, `--users` where there are any, and `--out`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=seeds, help="how many: 0, 1, 2, …")
    if users is not None:
        parser.add_argument("--users", type=int, default=users, help="per seed")
    parser.add_argument("--out", type=Path, help="a folder for the tables as JSON and the figures as SVG")
    return parser


def tick(words: str) -> None:
    """What is being run, where somebody sits before it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


def tell(out: Path | None, tables: Sequence[Table], figures: Sequence[Figure] = ()) -> None:
    """Print tables; write them, and figures, into a folder, where docs/record.py reads them."""
    tick("")
    for table in tables:
        print(f"\n{table.title}\n\n{table.markdown()}", flush=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for table in tables:
            (out / f"{table.name}.json").write_text(table.json(), encoding="utf-8")
        for figure in figures:
            (out / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
