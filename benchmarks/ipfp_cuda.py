"""The equilibrium of `fair` picks for a million people on one GPU, checked against double precision on a sample.

    python benchmarks/ipfp_cuda.py [--people 250000 500000 1000000] [--dimensions 80] [--out FOLDER]

Needs a CUDA card, torch, triton and numpy, and nothing else. It prints the device time from states on the card until everybody's
attention is within the tolerance, and how far the sums of some people are from sums over everybody in double precision. Ends with
1 where they differ by more than the tolerance.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from picks_cuda import loaded, market, tell

SAMPLE = 200


def measured(picks: ModuleType, fair: ModuleType, people: int, given: argparse.Namespace) -> dict[str, Any]:
    """One row of the table."""
    on_card = picks.to_card(market(people, given.dimensions, 0))
    torch.cuda.reset_peak_memory_stats()
    fair.equilibrium_on_card(on_card, given.temperature, given.tolerance, 1, lambda _round, _error: None)  # compiles
    errors: list[float] = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    log_a, rounds, error = fair.equilibrium_on_card(
        on_card, given.temperature, given.tolerance, given.rounds, lambda _round, error: errors.append(error)
    )
    end.record()
    torch.cuda.synchronize()
    memory = torch.cuda.max_memory_allocated()
    checked, worst = error_in_double(picks, on_card, log_a, given.temperature)
    return {
        "people": people,
        "dimensions": given.dimensions,
        "temperature": given.temperature,
        "tolerance": given.tolerance,
        "rounds": rounds,
        "seconds": round(begin.elapsed_time(end) / 1e3, 2),
        "error": error,
        "GiB": round(memory / 2**30, 1),
        "people checked": checked,
        "their largest error in double precision": worst,
        "errors": str([round(one, 5) for one in errors]),
    }


def error_in_double(picks: ModuleType, m: dict[str, torch.Tensor], log_a: torch.Tensor, temperature: float) -> tuple[int, float]:
    """How many people were checked, and how far the attention of any of them is from one unit."""
    rows = torch.randint(0, len(m["row"]), (SAMPLE,), generator=torch.Generator().manual_seed(1)).cuda()
    rows = rows[m["real"][rows]]
    w, p, half = (m[name].double() for name in ("weights", "profiles", "half"))
    worst, a = 0.0, log_a.exp()
    for some in rows.split(20):
        mutual = (0.5 + half[some, None] * torch.erf(w[some] @ p.T * 0.5**0.5)) * (
            0.5 + half * torch.erf(p[some] @ w.T * 0.5**0.5)
        )
        kept = picks.passes(m, some) * torch.exp(mutual * 0.5 / temperature)
        worst = max(worst, float((a[some] ** 2 + a[some] * (kept @ a) - 1.0).abs().max()))
    return len(rows), worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[1_000_000], help="one row of the table for each")
    parser.add_argument("--dimensions", type=int, default=80)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--tolerance", type=float, default=1e-2)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--out", type=Path, help="a folder for the table as JSON")
    given = parser.parse_args()
    picks, fair = loaded(), importlib.import_module("kaczmatch.cuda.equilibrium")
    rows = [measured(picks, fair, people, given) for people in given.people]
    tell("fair-cuda", rows, given.out)
    sys.exit(any(row["their largest error in double precision"] > row["error"] + given.tolerance for row in rows))


if __name__ == "__main__":
    main()
