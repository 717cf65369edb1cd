"""Small logs with a clock, made at random."""

from __future__ import annotations

import numpy as np

from kaczmatch.formats.swipe_table import SwipeTable


def small_table(seed: int, *, users: int = 12, swipes: int = 14, candidates: int = 20, tags: int = 4) -> SwipeTable:
    """Everybody swipes; nobody twice on the same candidate at one moment; times tie between users."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), swipes)
    return SwipeTable(
        users=list(range(users)),
        candidates=list(range(candidates)),
        tags=[f"tag {i}" for i in range(tags)],
        features=(rng.random((candidates, tags)) < 0.5).astype(float),
        user=user,
        candidate=rng.integers(0, candidates, len(user)),
        like=rng.random(len(user)) < 0.5,
        time=np.sort(rng.integers(0, 40, (users, swipes)), axis=1).ravel() * 1_000_000,
    )


def mutual_table(seed: int, people: int = 16, tags: int = 5) -> SwipeTable:
    """Everybody decides about everybody else, each pair in one round, as at a speed-dating evening."""
    rng = np.random.default_rng(seed)
    rounds = [[(place, (turn - place) % people) for place in range(people)] for turn in range(people)]
    rows = [(one, turn, other) for turn, pairs in enumerate(rounds) for one, other in pairs if one != other]
    rows.sort()
    user, turn, candidate = (np.array(column) for column in zip(*rows, strict=True))
    return SwipeTable(
        users=list(range(people)),
        candidates=list(range(people)),
        tags=[f"tag {i}" for i in range(tags)],
        features=(rng.random((people, tags)) < 0.5).astype(float),
        user=user,
        candidate=candidate,
        like=rng.random(len(user)) < 0.6,
        time=turn * 1_000_000,
    )
