"""Whether the momentum or the memory of Kaczmarz++ helps a preference learner: Block-Adaptive with either.

    python research/accelerated_blocks.py [--seeds 5] [--users 25] [--sessions 200] [--out FOLDER]

The swipes are those that Block-Adaptive saw. After each session, from the residuals r of its rows A at v:

    w = Aᵀ(AAᵀ + αI)⁻¹ r,    z ← β(z + w),    v ← unit(v + w + η z)

β and η are 0 for Block-Adaptive itself, fixed, or found from the run as in Kaczmarz++ (`MomentumSchedule`). With a memory, one
earlier session, drawn at random, is then solved for again, from where v is now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from _script import options, tell, tick
from kaczmatch.core.compiled import adapted_damping, ridge_step
from kaczmatch.core.vectors import Matrix, Vector, unit
from kaczmatch.learners.rules.kaczmarz import BlockAdaptive
from kaczmatch.report.results import Row, Table
from kaczmatch.simulation.metrics import alignment
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import HONEST, World, with_label_noise, world
from kaczmatch.solvers.block_methods import MomentumSchedule

FLIPS = (0.0, 0.2)
RULE = BlockAdaptive()


@dataclass(frozen=True)
class Acceleration:
    """What is added to Block-Adaptive."""

    momentum: float = 0.0  # β, with η of the same size
    adaptive: bool = False  # β and η from the run
    memory: bool = False


VARIANTS = {
    "block-adaptive": Acceleration(),
    "with a momentum of 1/2": Acceleration(momentum=0.5),
    "with adaptive momentum": Acceleration(adaptive=True),
    "with a memory": Acceleration(memory=True),
    "with Kaczmarz++ steps (both)": Acceleration(adaptive=True, memory=True),
}


def ends(found: Trace, here: World, user: int, added: Acceleration, rng: np.random.Generator) -> Matrix:
    """One user's preference at the end of each session, from the swipes of `found`."""
    cards, d = here.condition.cards, here.tags.shape[1]
    shown, labels = found.shown[user].reshape(-1, cards), found.labels[user].reshape(-1, cards)
    v, z, pace = here.priors[user], np.zeros(d), MomentumSchedule(d, min(cards, d))
    reached = np.empty((len(shown), d))

    def solved(session: int) -> None:
        nonlocal v, z
        rows, y = here.tags[shown[session]], labels[session].astype(float)
        r = _residuals(rows, y, v)
        w = ridge_step(rows, r, adapted_damping(rows, RULE.alpha, RULE.condition))
        beta, eta = (pace.momentum, pace.eta) if added.adaptive else (added.momentum, added.momentum)
        z = beta * (z + w)
        v = unit(v + w + eta * z)
        pace.saw(float(r @ r))

    for session in range(len(shown)):
        solved(session)
        if added.memory and session:
            solved(int(rng.integers(session)))
        reached[session] = v
    return reached


def compared(seeds: int, users: int, sessions: int) -> list[Row]:
    """Alignment after some sessions, by what is added and how many swipes say the opposite."""
    base = replace(HONEST, users=users, sessions=sessions)
    rows: list[Row] = []
    for flip in FLIPS:
        means: dict[str, list[Vector]] = {}
        for seed in range(seeds):
            here = with_label_noise(world(base, seed), flip)
            found = trace(RULE, here, followed=False)
            for name, added in VARIANTS.items():
                tick(f"{name}, p = {flip:.1f}, seed {seed}")
                rng = np.random.default_rng([seed, 22])
                each = np.stack([ends(found, here, user, added, rng) for user in range(users)])
                means.setdefault(name, []).append(np.array([alignment(at, here.tastes[0]).mean() for at in each.swapaxes(0, 1)]))
        for name, curves in means.items():
            mean = np.mean(curves, axis=0)
            shown = sorted({min(count, len(mean)) for count in (1, 5, 30, len(mean))})
            at = {f"align_at_{count * base.cards}": float(mean[count - 1]) for count in shown}
            rows.append({"flipped_swipes": flip, "learner": name} | at)
    return rows


def _residuals(rows: Matrix, y: Vector, v: Vector) -> Vector:
    """The hinge of all rows at once (paper, eq. 6)."""
    theta, delta = RULE.hinge.theta, RULE.hinge.delta
    scores = rows @ unit(v) / np.linalg.norm(rows, axis=1)
    return np.asarray(np.where(y > 0.0, np.maximum(0.0, theta + delta - scores), -np.maximum(0.0, scores - theta + delta)))


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, users=25)
    parser.add_argument("--sessions", type=int, default=HONEST.sessions)
    asked = parser.parse_args(words)
    title = f"Alignment after so many swipes, honest labels, {asked.users} users per seed"
    tell(asked.out, [Table("accelerated-blocks", title, compared(asked.seeds, asked.users, asked.sessions))])


if __name__ == "__main__":
    main()
