"""The equilibrium of `fair` picks for a million people on one GPU, checked against double precision on a sample.

Needs a CUDA card, torch, triton and numpy, and nothing else. It prints the device time from states on the card until everybody's
attention is within the tolerance, and how far the sums of some people are from sums over everybody in double precision. Ends with
1 where they differ by more than the tolerance.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys

import torch

from picks_cuda import loaded, market

SAMPLE = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=80)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--tolerance", type=float, default=1e-2)
    parser.add_argument("--rounds", type=int, default=100)
    given = parser.parse_args()
    picks = loaded()
    fair = importlib.import_module("kaczmatch.cuda.equilibrium")
    on_card = picks.to_card(market(given.people, given.dimensions, 0))
    fair.equilibrium_on_card(on_card, given.temperature, given.tolerance, 1, lambda _round, _error: None)  # compiles
    errors: list[float] = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    log_a, rounds, error = fair.equilibrium_on_card(
        on_card, given.temperature, given.tolerance, given.rounds, lambda _round, error: errors.append(error)
    )
    end.record()
    torch.cuda.synchronize()
    rows = torch.randint(0, len(on_card["row"]), (SAMPLE,), generator=torch.Generator().manual_seed(1)).cuda()
    rows = rows[on_card["real"][rows]]
    w, p, half = (on_card[name].double() for name in ("weights", "profiles", "half"))
    worst = 0.0
    for some in rows.split(20):
        mutual = (0.5 + half[some, None] * torch.erf(w[some] @ p.T * 0.5**0.5)) * (
            0.5 + half * torch.erf(p[some] @ w.T * 0.5**0.5)
        )
        kept = picks.passes(on_card, some) * torch.exp(mutual * 0.5 / given.temperature)
        a = log_a.exp()
        attention = a[some] ** 2 + a[some] * (kept @ a)
        worst = max(worst, float((attention - 1.0).abs().max()))
    found = {
        "people": given.people,
        "dimensions": given.dimensions,
        "temperature": given.temperature,
        "tolerance": given.tolerance,
        "seconds": round(begin.elapsed_time(end) / 1e3, 2),
        "rounds": rounds,
        "error": error,
        "errors": [round(one, 5) for one in errors],
        "people checked": len(rows),
        "their largest error in double precision": worst,
        "card": torch.cuda.get_device_name(),
        "memory GiB": round(torch.cuda.max_memory_allocated() / 2**30, 1),
        "torch": torch.__version__,
    }
    print(json.dumps(found, indent=1))
    sys.exit(worst > error + given.tolerance)


if __name__ == "__main__":
    main()
