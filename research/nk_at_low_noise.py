"""Which labels, prior, direction and η would give the paper's start of NK in its noise figure, 0.48 at p = 0.10.

python research/nk_at_low_noise.py [--seeds 1] [--users 20] [--sessions 200] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from _script import options, tell, tick
from kaczmatch import learner
from kaczmatch.report.results import Row, Table
from kaczmatch.reproduce.published import LABEL_NOISE, NOISE
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import Condition, world

KINDS = (("raw-dot", "informed"), ("raw-dot", "ones"), ("raw-dot", "own-tags"), ("cosine", "informed"), ("cosine", "ones"))


def tried(seeds: int, users: int, sessions: int) -> list[Row]:
    rows: list[Row] = []
    for labels, prior in KINDS:
        kind: dict[str, Any] = {"labels": labels, "prior": prior}
        condition = Condition(**kind, label_noise=LABEL_NOISE[0], users=users, sessions=sessions)
        worlds = [world(condition, seed) for seed in range(seeds)]
        for direction in ("raw", "unit"):
            for eta in (0.1, 0.5, 0.9):
                tick(f"{labels}, {prior}, {direction}, η = {eta}")
                one = learner("nk", eta=eta, direction=direction)
                final = float(np.mean([trace(one, here, followed=False).alignment[:, -1] for here in worlds]))
                off = final - NOISE["nk"][0]
                rows.append(kind | {"direction": direction, "eta": eta, "final_alignment": final, "above_the_papers": off})
    return sorted(rows, key=lambda row: abs(row["above_the_papers"]))


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, seeds=1, users=20)
    parser.add_argument("--sessions", type=int, default=Condition().sessions)
    asked = parser.parse_args(words)
    rows = tried(asked.seeds, asked.users, asked.sessions)
    tell(asked.out, [Table("nk-at-low-noise", "NK at p = 0.10, the nearest first", rows)])


if __name__ == "__main__":
    main()
