"""Learners beside what people use today, in one run. Prints ratios; `make bench` runs it.

Every figure is the best of several rounds, all parties on the same swipes: 10,000 users, 64 swipes each, 60 tags.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from river import linear_model
from scipy.special import ndtr
from sklearn.linear_model import SGDClassifier

import kaczmatch
from kaczmatch.learners.belief.gaussian import Probit
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.rules.kaczmarz import BlockLearner
from kaczmatch.report.results import Table
from tables import add_out, tell

USERS, SWIPES, D, POPULATION = 10_000, 64, 60, 2_000
TRAITS = "`probit-traits`"
MOST_BYTES = 2_100  # of a state


def best(rounds: int, work: Callable[[], Any]) -> float:
    """Seconds that `work` takes, the best of some rounds after one to warm up."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class Swipes:
    """One population and its swipes, in the order they happened, for everybody."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.candidates = (rng.random((POPULATION, D)) < 0.5).astype(float)
        n = USERS * SWIPES
        self.columns = {
            "user": rng.permutation(np.repeat(np.arange(USERS), SWIPES)),
            "candidate": rng.integers(0, POPULATION, n),
            "candidates": self.candidates,
            "label": np.where(rng.random(n) < 0.4, 1, -1),
        }
        order = np.argsort(self.columns["user"], kind="stable")
        self.by_user = self.columns["candidate"][order], self.columns["label"][order]
        self.rows = [self.candidates[c] for c in self.columns["candidate"][:1000]]
        self.labels = [int(y) for y in self.columns["label"][:1000]]


def river_seconds(swipes: Swipes) -> float:
    """River's learn_one a swipe, on dictionaries that hold only the tags present, which is its fastest form."""
    dictionaries = [{f"tag{i}": 1.0 for i in np.flatnonzero(a)} for a in swipes.rows]
    model = linear_model.PAClassifier(mode=2)
    labels = [y > 0 for y in swipes.labels]

    def learn() -> None:
        for x, y in zip(dictionaries, labels, strict=True):
            model.learn_one(x, y)

    return best(10, learn) / len(swipes.rows)


def scikit_learn_seconds(swipes: Swipes) -> float:
    """scikit-learn's partial_fit a swipe."""
    model = SGDClassifier()
    rows = [a[None] for a in swipes.rows[:300]]
    labels = [[y] for y in swipes.labels[:300]]
    model.partial_fit(np.eye(2, D), [-1, 1], classes=[-1, 1])

    def learn() -> None:
        for x, y in zip(rows, labels, strict=True):
            model.partial_fit(x, y)

    return best(3, learn) / len(rows)


def compared_learners() -> dict[str, Learner]:
    return {f"`{slug}`": kaczmatch.learner(slug) for slug in kaczmatch.LEARNERS}


def live_seconds(learner: Learner, swipes: Swipes) -> float:
    """A live `swipe` call, as the service makes it."""

    def learn() -> None:
        state = learner.start(np.ones(D))
        for a, y in zip(swipes.rows, swipes.labels, strict=True):
            state = learner.swipe(state, a, y)

    return best(10, learn) / len(swipes.rows)


def replay_seconds(learner: Learner, swipes: Swipes) -> float:
    """A swipe of `replay`, from plain columns to states."""
    return best(15, lambda: kaczmatch.replay(learner, swipes.columns)) / (USERS * SWIPES)


def numpy_block(swipes: Swipes, users: int) -> np.ndarray:
    """Block-NK as a loop over users and sessions with np.linalg.solve, the residuals of a block in one go."""
    learner = kaczmatch.learner("block-nk")
    assert isinstance(learner, BlockLearner)
    candidate, label = swipes.by_user
    theta, delta, damping = learner.hinge.theta, learner.hinge.delta, learner.alpha * np.eye(learner.k)
    found = np.ones((users, D))
    for user in range(users):
        v = np.ones(D)
        for begin in range(user * SWIPES, (user + 1) * SWIPES, learner.k):
            a, y = swipes.candidates[candidate[begin : begin + learner.k]], label[begin : begin + learner.k]
            s = a @ v / (np.linalg.norm(a, axis=1) * np.linalg.norm(v))
            r = np.where(y > 0, np.maximum(0.0, theta + delta - s), -np.maximum(0.0, s - theta + delta))
            v = v + a.T @ np.linalg.solve(a @ a.T + damping, r)
            v /= np.linalg.norm(v)
        found[user] = v
    return found


def numpy_block_seconds(swipes: Swipes) -> float:
    """A swipe of that loop, which computes what replay computes."""
    users = 200
    replayed = kaczmatch.replay(kaczmatch.learner("block-nk"), swipes.columns).directions()[:users]
    assert np.allclose(numpy_block(swipes, users), replayed)
    return best(3, lambda: numpy_block(swipes, users)) / (users * SWIPES)


def readable_probit_seconds(swipes: Swipes) -> float:
    """`probit` as a numpy loop a swipe: mean, covariance and the share of random swipes."""
    learner = kaczmatch.learner("probit")
    assert isinstance(learner, Probit)
    rows = learner.coordinates(np.array(swipes.rows))

    def learn() -> None:
        m, p, c, weight = np.ones(D + 1), np.eye(D + 1), 2.0 * learner.label_noise, learner.label_noise_swipes
        for x, y in zip(rows, swipes.labels, strict=True):
            px = p @ x
            q = float(x @ px) + learner.alpha
            z = y * float(x @ m) / math.sqrt(q)
            density, likely = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi), 0.5 * c + (1.0 - c) * float(ndtr(z))
            g, a, random = (1.0 - c) * density / likely, c * weight, 0.5 * c / likely
            c = (a + random) / (weight + 1.0)
            square = (a + 1.0) * (a + 2.0 * random) / ((weight + 1.0) * (weight + 2.0))
            weight = c * (1.0 - c) / (square - c * c) - 1.0
            m, p = m + (y * g / math.sqrt(q)) * px, p - (g * (g + z) / q) * np.outer(px, px)

    return best(3, learn) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_out(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    swipes = Swipes()
    river, scikit_learn = river_seconds(swipes), scikit_learn_seconds(swipes)
    block, probit = numpy_block_seconds(swipes), readable_probit_seconds(swipes)
    learners = compared_learners()
    live = {name: live_seconds(each, swipes) for name, each in learners.items()}
    folded = {name: replay_seconds(each, swipes) for name, each in learners.items()}
    states = {name: len(each.start(kaczmatch.Prior.ones(D)).to_bytes()) for name, each in learners.items()}

    costs: list[dict[str, Any]] = [
        {
            "learner": name,
            "bytes of a new state": states[name],
            "live, µs per swipe": 1e6 * live[name],
            "replay, µs per swipe": 1e6 * folded[name],
        }
        for name in learners
    ]
    for name, seconds in (
        ("River `PAClassifier.learn_one`", river),
        ("scikit-learn `SGDClassifier.partial_fit`", scikit_learn),
        ("Block-NK in a numpy loop", block),
        ("`probit` in a numpy loop", probit),
    ):
        costs.append(
            {"learner": name, "bytes of a new state": None, "live, µs per swipe": 1e6 * seconds, "replay, µs per swipe": None}
        )
    ratios: list[tuple[str, float, float]] = [
        ("a live `tk` swipe against River's `PAClassifier.learn_one`", river / live["`tk`"], 1),
        ("a live `tk` swipe against scikit-learn's `partial_fit`", scikit_learn / live["`tk`"], 50),
        ("`tk` in `replay` against River", river / folded["`tk`"], 80),
        ("`block-nk` in `replay` against a numpy loop with `np.linalg.solve`", block / folded["`block-nk`"], 3),
        ("`probit` in `replay` against its readable numpy rule", probit / folded["`probit`"], 15),
    ]
    ratios.append((f"a live {TRAITS} swipe against `probit-diag`", live["`probit-diag`"] / live[TRAITS], 1 / 2))
    ratios.append((f"{TRAITS} in `replay` against `probit-diag`", folded["`probit-diag`"] / folded[TRAITS], 1 / 3))
    title = f"{USERS:,} users x {SWIPES} swipes, {D} tags, {POPULATION:,} candidates"
    compared = [{"compared": name, "times as fast": ratio} for name, ratio, _ in ratios]
    tell(options.out, Table("costs", title, costs, timed=True), Table("ratios", title, compared, timed=True))
    for name, ratio, floor in ratios:
        if ratio < floor:
            print(f"BELOW ITS FLOOR of {floor}: {name}")
    if states[TRAITS] > MOST_BYTES:
        print(f"OVER ITS LIMIT of {MOST_BYTES} bytes: {TRAITS}")


if __name__ == "__main__":
    main()
