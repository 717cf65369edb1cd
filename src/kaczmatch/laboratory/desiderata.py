"""The paper's five desiderata, measured for every learner."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np

from kaczmatch.laboratory.results import Part, Table
from kaczmatch.laboratory.study import Laboratory, contestants
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.influence import influence
from kaczmatch.simulation import metrics
from kaczmatch.simulation.condition import HONEST
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import World, world

EARLY = 15


def desiderata_part(laboratory: Laboratory) -> Part:
    study = laboratory.study(HONEST)
    sized = replace(study.condition, users=min(laboratory.plan.users, 50))
    early, two_sessions = world(replace(sized, deck=EARLY, sessions=1), 0), world(replace(sized, sessions=2), 0)
    flat = metrics.unseen_auc(np.ones_like(early.priors), early).mean()
    rows, costs = [], []
    for name, one in contestants().items():
        laboratory.tick(name)
        area = metrics.unseen_auc(trace(one, early, (EARLY,)).weights(EARLY), early).mean()
        first, last = _influence(one, two_sessions)
        rows.append(
            {
                "learner": name,
                "D2_auc_after_15": float(area),
                "D2_gain_over_all_ones": float(area - flat),
                "D3_turn_without_an_early_swipe": first,
                "D3_turn_without_a_late_swipe": last,
                "D4_norm_at_the_start": float(np.linalg.norm(priors_of(one, early)[0].weights)),
                "D4_norm_at_the_end": study.mean(name, "norm"),
                "D5_settings": sum(field.init for field in fields(one)),
            }
        )
        costs.append({"learner": name} | _cost(one))
    words = [
        "D1, real time: the cost of a swipe grows with d (squared for probit, whose state is a matrix) and not with the population; the table of times "
        "holds this machine's microseconds. D2, useful after 15 swipes: AUC beside all-ones, which needs none. D3, memory: degrees that the direction "
        "turns without one of the first ten and one of the last ten of 64 swipes; no rule forgets its early swipes as Proposition 1 says. D4, bounded "
        "steps: the norm at the start and after the last swipe. D5, principled step size: how many settings a rule has; every one of them has a "
        "default here that no experiment changes.",
    ]
    return Part(
        "desiderata",
        "The five desiderata",
        words,
        [
            Table("desiderata", "D2 to D5, honest labels, one seed", rows),
            Table("desiderata-cost", "D1: microseconds a live swipe", costs, "Measured in this run; best of three.", timed=True),
        ],
    )


def _influence(one: Learner, here: World) -> tuple[float, float]:
    """Mean turn without one of the first and one of the last ten of 64 swipes, over ten users."""
    followed = trace(one, here)
    turns = []
    for user, prior in list(enumerate(priors_of(one, here)))[:10]:
        shown = followed.shown[user, :64]
        log = {
            "user": np.zeros(len(shown), int),
            "candidate": shown,
            "candidates": here.tags,
            "label": followed.labels[user, : len(shown)].astype(int),
            "session": np.arange(len(shown)) // here.condition.cards,
        }
        turns.append(influence(one, log, prior=prior).turns)
    table = np.array(turns)
    return float(table[:, :10].mean()), float(table[:, -10:].mean())


def _cost(one: Learner) -> dict[str, float]:
    """Microseconds a live swipe over tags, and with candidates from a population a hundred times as large."""
    rng = np.random.default_rng(0)
    found = {}
    for d, people in ((30, 1_000), (60, 1_000), (120, 1_000), (60, 100_000)):
        candidates = (rng.random((people, d)) < 0.5).astype(float)
        rows = [candidates[row].copy() for row in rng.integers(0, people, 300)]
        times = []
        for _ in range(4):  # the first warms up
            state = one.start(np.ones(d))
            start = time.perf_counter()
            for a in rows:
                state = one.swipe(state, a, 1)
            times.append(time.perf_counter() - start)
        found[f"d_{d}_people_{people}"] = min(times[1:]) / len(rows) * 1e6
    return found
