"""Tables of a benchmark: printed, and written as JSON into the folder that `--out` names, where docs/record.py reads them."""

from __future__ import annotations

import argparse
from pathlib import Path

from kaczmatch.report.results import Table


def add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="a folder for the tables as JSON")


def tell(out: Path | None, *tables: Table) -> None:
    for table in tables:
        print(f"\n{table.title}\n\n{table.markdown()}", flush=True)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{table.name}.json").write_text(table.json(), encoding="utf-8")
