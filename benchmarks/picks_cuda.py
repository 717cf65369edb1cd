"""Everybody's ten best of a million people on one GPU, checked against scoring everybody on the CPU.

    python benchmarks/picks_cuda.py [--people 1000000] [--dimensions 80] [--k 10 100] [--out FOLDER]

Needs a CUDA card, torch, triton and numpy, and nothing else. It prints the device time from states on the card to picks on the
card (the middle of five runs after one to warm up), and for a sample of people whether the picks are those of the whole row,
scored on the CPU. Ends with 1 where they are not.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

SAMPLE = 300
PACKAGE = Path(__file__).parents[1] / "src" / "kaczmatch"


def loaded() -> ModuleType:
    """The module without the rest of kaczmatch, which need not be installed beside the card."""
    package = ModuleType("kaczmatch")
    package.__path__ = [str(PACKAGE)]
    sys.modules["kaczmatch"] = package
    return importlib.import_module("kaczmatch.cuda.top_picks")


def market(n: int, dimensions: int, seed: int) -> dict[str, np.ndarray]:
    """Two kinds, ages from 18 on, six cities, a quarter looking within 10 to 100 km: about a tenth of all pairs can meet."""
    rng = np.random.default_rng(seed)
    i_am = (1 << (rng.random(n) < 0.5)).astype(np.uint32)
    look = np.where(rng.random(n) < 0.9, 3 - i_am, np.where(rng.random(n) < 0.5, i_am, 3)).astype(np.uint32)
    age = np.minimum(18 + np.abs(rng.standard_normal(n) * 12), 80).astype(np.int32)
    order = np.lexsort((age, look, i_am))
    i_am, look, age = i_am[order], look[order], age[order]
    tags = rng.random((n, 60), dtype=np.float32) < 0.15
    tags[:, 0] = True
    profiles, weights = np.zeros((n, dimensions), np.float32), np.zeros((n, dimensions), np.float32)
    profiles[:, :60] = tags / np.sqrt(tags.sum(1, dtype=np.float32))[:, None]
    profiles[:, 60] = 1.0
    weights[:, :60] = rng.standard_normal((n, 60), dtype=np.float32) * 1.2
    weights[:, 60] = rng.standard_normal(n) * 0.5 - 0.6
    rest = dimensions - 61  # traits
    profiles[:, 61:] = rng.standard_normal((n, rest), dtype=np.float32) * 0.3
    weights[:, 61:] = rng.standard_normal((n, rest), dtype=np.float32) * 0.3
    weights /= 1.0 + rng.random((n, 1), dtype=np.float32)
    cities = rng.standard_normal((6, 3))
    place = (cities / np.linalg.norm(cities, axis=1)[:, None])[(rng.random(n) ** 2 * 6).astype(int)]
    place = place + 0.002 * rng.standard_normal((n, 3))
    place /= np.linalg.norm(place, axis=1)[:, None]
    km = np.where(rng.random(n) < 0.75, np.inf, 10.0 + 90.0 * rng.random(n))
    apart = np.unique(np.sort(rng.integers(0, n, (3 * n, 2)), axis=1), axis=0)
    apart = apart[apart[:, 0] != apart[:, 1]]
    both = np.concatenate([apart, apart[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return {
        "weights": weights,
        "profiles": profiles,
        "random_share": (0.05 + 0.3 * rng.random(n)).astype(np.float32),
        "i_am": i_am,
        "i_look_for": look,
        "age": age,
        "youngest": np.maximum(age - 2 - rng.integers(0, 8, n), 18).astype(np.int32),
        "oldest": (age + 2 + rng.integers(0, 8, n)).astype(np.int32),
        "x": place[:, 0].astype(np.float32),
        "y": place[:, 1].astype(np.float32),
        "z": place[:, 2].astype(np.float32),
        "max_squared_chord": np.where(np.isinf(km), 9.0, (2 * np.sin(np.minimum(km, 1e4) / 6371 / 2)) ** 2).astype(np.float32),
        "excluded": both[:, 1].astype(np.int32),
        "excluded_from": np.searchsorted(both[:, 0], np.arange(n + 1)),
    }


@triton.jit
def phi_of(z, out, BLOCK: tl.constexpr, phi: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 0.5 + 0.5 * phi(tl.load(z + at)))


def error_of_phi() -> float:
    """The largest error of the kernel's Φ on a fine grid; beyond it both are 0 or 1 to the last bit."""
    z = torch.linspace(-12.0, 12.0, 1 << 24, device="cuda")
    out = torch.empty_like(z)
    kernels = sys.modules["kaczmatch.cuda.pick_kernels"]
    phi_of[((1 << 24) // 1024,)](z, out, 1024, kernels.approximate_phi)
    return float((out.double() - torch.special.ndtr(z.double())).abs().max())


def measured(picks: ModuleType, on_card: dict[str, torch.Tensor], k: int) -> dict[str, Any]:
    """One row of the table."""
    torch.cuda.reset_peak_memory_stats()
    picks.picks_on_card(on_card, k)
    times = []
    for _ in range(5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        keys, how = picks.picks_on_card(on_card, k)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    memory = torch.cuda.max_memory_allocated()
    here = {name: values.cpu() for name, values in on_card.items()}
    rows = torch.randint(0, len(here["row"]), (SAMPLE,), generator=torch.Generator().manual_seed(1))
    rows = rows[here["real"][rows]]
    expected = torch.cat([picks.score_against_everybody(here, some, k) for some in rows.split(30)])
    same = (expected == keys.cpu()[rows]).all(1)
    return {
        "k": k,
        "seconds": round(sorted(times)[2], 3),
        "GiB": round(memory / 2**30, 1),
        "pairs that can meet": round(float(picks.passes(here, rows).float().mean()), 3),
        "people checked": len(rows),
        "with the same picks": int(same.sum()),
        "scored against everybody": how["scored against everybody"],
        "tiles": str(how["tiles"]),
    }


def tell(name: str, rows: list[dict[str, Any]], out: Path | None) -> None:
    """Print the rows, and keep them with what they were measured on, where docs/record.py finds them."""
    on = {"card": torch.cuda.get_device_name(), "torch": torch.__version__}
    rows = [row | on for row in rows]
    print(json.dumps(rows, indent=1, ensure_ascii=False))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=80)
    parser.add_argument("--k", type=int, nargs="+", default=[10], help="picks of one person; one row of the table for each")
    parser.add_argument("--out", type=Path, help="a folder for the table as JSON")
    given = parser.parse_args()
    picks = loaded()
    on_card = picks.to_card(market(given.people, given.dimensions, 0))
    asked, error = {"people": given.people, "dimensions": given.dimensions}, {"largest error of Φ": error_of_phi()}
    rows = [asked | measured(picks, on_card, k) | error for k in given.k]
    tell("picks-cuda", rows, given.out)
    sys.exit(any(row["with the same picks"] != row["people checked"] for row in rows))


if __name__ == "__main__":
    main()
