"""Logs of swipes, made at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from kaczmatch import appeal_rows
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
        at=np.sort(rng.integers(0, 40, (users, swipes)), axis=1).ravel() * 1_000_000,
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
        at=turn * 1_000_000,
    )


def random_swipes(seed: int, *, users: int = 1, swipes: int = 60, d: int = 13, real: bool = False) -> dict[str, Any]:
    """The columns of a random log: 0/1 tags or real values, uneven sessions, time that moves on, some empty profiles."""
    rng = np.random.default_rng(seed)
    n = users * swipes
    features = rng.normal(size=(n, d)) * rng.lognormal(size=(n, 1)) if real else (rng.random((n, d)) < 0.4).astype(float)
    features[rng.random(n) < 0.03] = 0.0
    return {
        "user": rng.permutation(np.repeat(np.arange(users), swipes)),
        "features": features,
        "label": rng.choice([-1, 1], n),
        "session": np.cumsum(rng.random(n) < 0.15),
        "at": np.datetime64("2026-01-01T00:00:00", "us") + np.cumsum(rng.integers(0, 10**10, n)),
        "others": appeal_rows(rng.normal(size=n)),
    }
