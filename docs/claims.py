"""Writes docs/claims.md from five seeds; `make docs` runs it."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.laboratory.claims import claims_part
from kaczmatch.laboratory.desiderata import desiderata_part
from kaczmatch.laboratory.study import Laboratory, Plan


def main() -> None:
    laboratory = Laboratory(Plan(seeds=5), print)
    parts = [claims_part(laboratory), desiderata_part(laboratory)]
    page = [
        "# The paper's claims and desiderata, measured\n",
        "Written by `make docs` (five seeds); the report of `kaczmatch reproduce claims --out DIR` says the same.",
        "The arguments behind claims 1 to 8 are in [notes on the paper](paper.md).\n",
    ]
    for part in parts:
        page.append(f"## {part.title}\n")
        page += [f"{words}\n" for words in part.words]
        page += [f"{table.markdown()}\n{table.note}\n" for table in part.tables]
    (Path(__file__).parent / "claims.md").write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
