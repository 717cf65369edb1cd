"""How much of somebody's taste can be worked out from decks? The attack of `tests/worlds/attack.py` as a table and a chart.

python benchmarks/trilateration.py [--looks 1000] [--seeds 3] [--traits 4] [--picture docs/images/trilateration] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from kaczmatch.report.results import Table
from tables import add_out, tell
from worlds.attack import EDITS, AttackedTown, cosines

UNCAPPED = 1e9
# What the attacker arranges: how many women pass the filters, how large a deck is asked for, and the exposure cap.
SCENES = {
    "decks: everybody shown, by order": (32, 32, UNCAPPED),
    "decks: 4 of 32, exposure cap on": (32, 4, 2.0),
    "decks: 4 of 32, no cap": (32, 4, UNCAPPED),
    "decks: 1 of 2, no cap": (2, 1, UNCAPPED),
}
PICKS = {f"picks: 4 of 32, {rule}, one edition per day": rule for rule in ("top", "stable", "fair")}
REFERENCES = ("sees the probability", "sees high or low")


def measured(looks: int, times: list[int], seeds: int, traits: int) -> dict[str, dict[int, list[float]]]:
    found: dict[str, dict[int, list[float]]] = {name: {n: [] for n in times} for name in (*REFERENCES, *SCENES, *PICKS)}
    for seed in range(seeds):
        for scene, (women, size, cap) in SCENES.items():
            prey = AttackedTown(10 * seed, women=women, cap=cap, traits=traits)
            seen, taste = prey.watch(looks, size), prey.taste()
            for n in times:
                told = cosines(seen, taste, n)
                found[scene][n].append(told["sees decks"])
                if scene == next(iter(SCENES)):
                    for name in REFERENCES:
                        found[name][n].append(told[name])
        for scene, rule in PICKS.items():
            prey = AttackedTown(10 * seed)
            seen, taste = prey.watch_picks(looks, 4, rule), prey.taste()
            for n in times:
                found[scene][n].append(cosines(seen, taste, n)["sees decks"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--traits", type=int, default=0, help="learn by probit-traits with so many, fitted")
    parser.add_argument("--picture", type=Path)
    add_out(parser)
    options = parser.parse_args()
    times = [n for n in (30, 60, 120, 250, 500, 1_000, 2_000, 4_000) if n <= options.looks]
    found = measured(options.looks, times, options.seeds, options.traits)
    rows: list[dict[str, Any]] = [
        {"attacker": name} | {f"{n:,}": float(np.mean(by_time[n])) for n in times} for name, by_time in found.items()
    ]
    title = (
        f"Cosine with the victim's weights, mean of {options.seeds}; a look is an edit and a deck, {EDITS} per account and day"
    )
    tell(options.out, Table("trilateration", title, rows))
    if options.picture:
        rows = [
            {"attacker": name, "looks": n, "cosine": float(np.mean(values))}
            for name, by_time in found.items()
            for n, values in by_time.items()
        ]
        chart = (
            alt.Chart({"values": rows}, title="What an attacker works out of somebody's taste", width=520, height=300)
            .mark_line(point=True)
            .encode(
                x=alt.X("looks:Q", title="looks (an edit of tags and a deck each)", scale=alt.Scale(type="log", nice=False)),
                y=alt.Y("cosine:Q", title="cosine with the taste"),
                color=alt.Color("attacker:N", sort=list(found), title=None, legend=alt.Legend(labelLimit=260)),
            )
        )
        for suffix in ("svg", "png"):
            chart.save(options.picture.with_suffix(f".{suffix}"), ppi=110)


if __name__ == "__main__":
    main()
