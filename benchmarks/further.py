"""What was tried beyond the population prior and appeal, on real swipes: numbers for docs/further.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/further.py FOLDER [--out FOLDER]

FOLDER has movielens_small and speed_dating, each with candidates.csv and swipes.csv.

Fit on even users (MovieLens) or waves (speed dating), test on odd ones; learn on the first t swipes, freeze, rank the rest; mean
AUC over users. Appeal is what others had decided before: at the user's first swipe on MovieLens, at the moment on speed dating.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

import kaczmatch
from kaczmatch import AppealModel, BeliefLearner, Prior, SwipeLog, fit_prior, fit_prior_from_states, replay
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.report.results import Table
from kaczmatch.simulation.metrics import auc
from tables import add_out, tell

PROBIT = kaczmatch.learner("probit", appeal=True)
DIAGONAL = kaczmatch.learner("probit-diag", appeal=True)
APPEAL = AppealModel()

# Given a test user and their rows, a function that learns from a row and one that scores rows, with their appeal.
Taught = tuple[Callable[[int], None], Callable[[NDArray[np.int64], Matrix], Vector]]


@dataclass
class Data:
    name: str
    log: SwipeLog  # with the appeal of the moment
    fit: NDArray[np.bool_]  # rows
    test: list[int]
    times: tuple[int, ...]
    known: dict[int, Matrix]  # each row's appeal as known to its user after t swipes

    def rows(self, user: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.log.user == user)

    def areas(self, name: str, teach: Callable[[int], Taught]) -> dict[str, Any]:
        """A row of a table: mean AUC after so many swipes."""
        areas = np.full((len(self.test), len(self.times)), np.nan)
        for place, user in enumerate(self.test):
            rows, seen = self.rows(user), 0
            learn, score = teach(user)
            for column, t in enumerate(self.times):
                if t >= len(rows):
                    break
                for row in rows[seen:t]:
                    learn(row)
                seen, rest = t, rows[t:]
                likes = self.log.label[rest] > 0
                areas[place, column] = auc(np.round(score(rest, self.known[t][rest]), 12)[None], likes[None])[0]
        means = [float(area) for area in np.nanmean(areas, axis=0)]
        print(f"{self.name:>13}  {name:<60}" + "  ".join(f"{area:.3f}" for area in means), flush=True)
        return {"tried": name} | {str(t): mean for t, mean in zip(self.times, means, strict=True)}


def movielens(folder: Path, appeal: AppealModel = APPEAL) -> Data:
    log, table = _read(folder / "movielens_small", pl.col("timestamp"))
    user, counts = np.unique(log.user, return_counts=True)
    first = {each: int(log.at[log.user == each].min()) / 1e6 for each in user}  # type: ignore[index]
    at = np.array([first[each] for each in log.user])
    known = kaczmatch.appeal_rows(appeal.at_moments(log, viewer=log.user, candidate=table, at=at))
    test = [int(each) for each, count in zip(user, counts, strict=True) if each % 2 and count >= 60]
    times = (0, 5, 20, 50, 100, 200)
    return Data("MovieLens", log.with_others(known), log.user % 2 == 0, test, times, dict.fromkeys(times, known))


def dating(folder: Path, appeal: AppealModel = APPEAL) -> Data:
    log, table = _read(folder / "speed_dating", pl.col("wave") * 86_400.0 * 7 + pl.col("order") * 300.0)
    wave = pl.read_csv(folder / "speed_dating" / "swipes.csv").sort("user_id", "seq")["wave"].to_numpy()
    users, times = np.unique(log.user), (0, 5, 10)
    rows = {each: np.flatnonzero(log.user == each) for each in users}
    known = {}
    for t in times:
        at = np.empty(len(log))
        for own in rows.values():
            at[own] = log.at[own[min(t, len(own) - 1)]] / 1e6  # type: ignore[index]
        known[t] = kaczmatch.appeal_rows(appeal.at_moments(log, viewer=log.user, candidate=table, at=at))
    test = np.unique(log.user[wave % 2 == 1]).tolist()
    seen = log.with_others(kaczmatch.appeal_rows(appeal.before_swipes(log)))
    return Data("speed dating", seen, wave % 2 == 0, test, times, known)


def _read(folder: Path, at: pl.Expr) -> tuple[SwipeLog, NDArray[np.int64]]:
    people = pl.read_csv(folder / "candidates.csv")
    swipes = pl.read_csv(folder / "swipes.csv").sort("user_id", "seq").with_columns(at.alias("at"))
    place = {key: row for row, key in enumerate(people["candidate_id"].to_list())}
    rows = np.array([place[key] for key in swipes["candidate_id"].to_list()])
    log = SwipeLog(
        user=swipes["user_id"].to_numpy(), candidate=rows, candidates=people.drop("candidate_id").to_numpy().astype(float),
        label=2 * swipes["like"].to_numpy() - 1, at=swipes["at"].to_numpy(),
    )  # fmt: skip
    return log, rows


def plain(
    data: Data, learner: BeliefLearner, prior_of: Callable[[int], Prior], log: SwipeLog | None = None
) -> Callable[[int], Taught]:
    """A learner as it is, from a prior that may depend on the user."""
    log = data.log if log is None else log

    def teach(user: int) -> Taught:
        state = learner.start(prior_of(user))

        def learn(row: int) -> None:
            nonlocal state
            state = learner.swipe(state, log.shown_candidate(row), int(log.label[row]))

        return learn, lambda rows, appeal: learner.score(state, _features(log, rows), appeal)

    return teach


def _features(log: SwipeLog, rows: NDArray[np.int64]) -> Matrix:
    return log.features[rows if log.candidate_row is None else log.candidate_row[rows]]


# Archetypes: a mixture of population priors


def archetypes(data: Data, prior: Prior, count: int) -> list[Prior]:
    """Users in groups by the prior under which their swipes were likeliest, each group with a prior of its own."""
    log = data.log.select(data.fit)
    states = replay(PROBIT, log, prior=prior)
    users = list(states)
    means = np.array([PROBIT.mean(states[user]) for user in users])
    rng = np.random.default_rng(0)
    group = np.argmin(np.linalg.norm(means[:, None] - means[rng.choice(len(users), count, replace=False)], axis=2), axis=1)
    priors = [prior] * count
    for _ in range(4):
        for each in range(count):
            members = np.isin(log.user, np.array(users)[group == each])
            mine = replay(PROBIT, log.select(members), prior=priors[each])
            priors[each] = fit_prior_from_states(PROBIT, mine.values(), neutral=prior)
        evidence = np.array([[_evidence(log, user, each) for each in priors] for user in users])
        group = np.argmax(evidence, axis=1)
    return priors


def _evidence(log: SwipeLog, user: Hashable, prior: Prior) -> float:
    state, total = PROBIT.start(prior), 0.0
    for row in np.flatnonzero(log.user == user)[:100]:
        seen, label = log.shown_candidate(row), int(log.label[row])
        total += _surprise(PROBIT, state, seen, label)
        state = PROBIT.swipe(state, seen, label)
    return total


def _surprise(learner: BeliefLearner, state: kaczmatch.State, seen: kaczmatch.ShownCandidate, label: int) -> float:
    likely = float(learner.probability(state, seen.features, seen.others))
    return float(np.log(likely if label > 0 else 1.0 - likely))


def mixture(data: Data, priors: Sequence[Prior]) -> Callable[[int], Taught]:
    def teach(_: int) -> Taught:
        states, logs = [PROBIT.start(prior) for prior in priors], np.zeros(len(priors))

        def learn(row: int) -> None:
            seen, label = data.log.shown_candidate(row), int(data.log.label[row])
            for place, state in enumerate(states):
                logs[place] += _surprise(PROBIT, state, seen, label)
                states[place] = PROBIT.swipe(state, seen, label)

        def score(rows: NDArray[np.int64], appeal: Matrix) -> Vector:
            weights = np.exp(logs - logs.max())
            likely = [PROBIT.probability(state, _features(data.log, rows), appeal) for state in states]
            return np.asarray(weights @ np.array(likely))

        return learn, score

    return teach


# Covariances between full and diagonal


def structured(data: Data, prior: Prior, project: Callable[[Matrix], Matrix], basis: Matrix) -> Callable[[int], Taught]:
    """probit whose covariance is brought to a cheaper form, in some basis, after every swipe."""

    def teach(_: int) -> Taught:
        start = PROBIT.start(prior)
        m, p = basis.T @ PROBIT.mean(start), project(basis.T @ PROBIT.covariance(start) @ basis)
        random_share, alpha = 2.0 * PROBIT.estimated_label_noise(start), float(PROBIT.parameters[0])

        def learn(row: int) -> None:
            nonlocal m, p
            seen, y = data.log.shown_candidate(row), float(data.log.label[row])
            x = basis.T @ PROBIT.coordinates(seen.features, seen.others)
            px = p @ x
            q = float(x @ px) + alpha
            z = y * float(x @ m) / np.sqrt(q)
            g = (
                (1 - random_share)
                * np.exp(-z * z / 2)
                / np.sqrt(2 * np.pi)
                / (random_share / 2 + (1 - random_share) * float(ndtr(z)))
            )
            m, p = m + y * g / np.sqrt(q) * px, project(p - g * (g + z) / q * np.outer(px, px))

        return learn, lambda rows, appeal: PROBIT.coordinates(_features(data.log, rows), appeal) @ basis @ m

    return teach


def low_rank(rank: int) -> Callable[[Matrix], Matrix]:
    """The diagonal as it is, and of what is beside it the part of this rank."""

    def project(p: Matrix) -> Matrix:
        values, vectors = np.linalg.eigh(p - np.diag(np.diag(p)))
        largest = np.argsort(-np.abs(values))[:rank]
        beside = (vectors[:, largest] * values[largest]) @ vectors[:, largest].T
        return np.asarray(np.diag(np.diag(p)) + 0.99 * (beside - np.diag(np.diag(beside))))

    return project


def diagonal(p: Matrix) -> Matrix:
    return np.diag(np.diag(p))


# The user's own profile (speed dating: users are candidates too)


def profiles(data: Data, folder: Path) -> Matrix:
    """A row for each swipe: the tags of who swiped."""
    people = pl.read_csv(folder / "speed_dating" / "candidates.csv")
    place = {key: row for row, key in enumerate(people["candidate_id"].to_list())}
    return np.array(
        [data.log.features[place[user]] if user in place else np.zeros(data.log.dimensions) for user in data.log.user]
    )


def from_profile(data: Data, prior: Prior, own: Matrix, ridge: float) -> Callable[[int], Prior]:
    """The prior's mean moved by a ridge regression of tastes on own tags."""
    states = replay(PROBIT, data.log.select(data.fit), prior=prior)
    first = {user: own[data.rows(user)[0]] for user in np.unique(data.log.user)}
    a = np.array([first[user] for user in states])
    centre, average = a.mean(axis=0), PROBIT.mean(PROBIT.start(prior))
    tastes = np.array([PROBIT.mean(state) for state in states.values()]) - average
    b = np.linalg.solve((a - centre).T @ (a - centre) + ridge * np.eye(a.shape[1]), (a - centre).T @ tastes)

    def prior_of(user: int) -> Prior:
        mean = average + (first[user] - centre) @ b
        d = prior.dimensions
        return Prior(mean[:d], "profile", float(mean[d]), float(mean[d + 1]), prior.covariance, prior.label_noise)

    return prior_of


def widened(data: Data, extra: Matrix) -> SwipeLog:
    features = np.hstack([_features(data.log, np.arange(len(data.log))), extra])
    return SwipeLog(user=data.log.user, features=features, label=data.log.label, others=data.log.others)


# Smaller choices


def appeal_alone(_: int) -> Taught:
    return lambda _: None, lambda _, appeal: appeal[:, 0]


def by_probability(data: Data, prior: Prior) -> Callable[[int], Taught]:
    """probit ranked by the probability of a like instead of by the mean."""

    def teach(_: int) -> Taught:
        state = PROBIT.start(prior)

        def learn(row: int) -> None:
            nonlocal state
            state = PROBIT.swipe(state, data.log.shown_candidate(row), int(data.log.label[row]))

        return learn, lambda rows, appeal: PROBIT.probability(state, _features(data.log, rows), appeal)

    return teach


def fitted_from(data: Data, start: Prior, rounds: int) -> Prior:
    """EM from another start than where no tag matters."""
    log, prior = data.log.select(data.fit), start
    for _ in range(rounds):
        prior = fit_prior_from_states(PROBIT, replay(PROBIT, log, prior=prior).values(), neutral=Prior.ones(log.dimensions))
    return prior


def smaller(data: Data, make: Callable[[AppealModel], Data], prior: Prior) -> Iterator[dict[str, Any]]:
    from_ones = fitted_from(data, Prior.ones(prior.dimensions), 15)
    yield data.areas("ranked by the probability of a like instead of the mean", by_probability(data, prior))
    yield data.areas("population fitted from all ones", plain(data, PROBIT, lambda _: from_ones))
    for name, appeal in (
        ("appeal alone", APPEAL),
        ("appeal alone, σ = 0.3", AppealModel(spread=0.3)),
        ("appeal alone, σ = 3", AppealModel(spread=3.0)),
        ("appeal alone, half gone in a year", AppealModel(half_life_days=365.0)),
    ):
        yield make(appeal).areas(name, appeal_alone)


def beliefs(data: Data, prior: Prior) -> Iterator[dict[str, Any]]:
    yield data.areas("`probit`, population and appeal", plain(data, PROBIT, lambda _: prior))
    spread = fit_prior(DIAGONAL, data.log.select(data.fit))
    yield data.areas("`probit-diag`, population and appeal", plain(data, DIAGONAL, lambda _: spread))
    for count in (2, 4):
        yield data.areas(f"mixture of {count} archetypes", mixture(data, archetypes(data, prior, count)))
    d = prior.dimensions + 2
    yield data.areas("diagonal covariance", structured(data, prior, diagonal, np.eye(d)))
    for rank in (2, 8):
        yield data.areas(f"diagonal and rank {rank}", structured(data, prior, low_rank(rank), np.eye(d)))
    assert prior.covariance is not None
    basis = np.linalg.eigh(prior.covariance)[1]
    yield data.areas("diagonal in the eigenbasis of the population's covariance", structured(data, prior, diagonal, basis))


def by_own_tags(data: Data, own: Matrix, prior: Prior) -> Iterator[dict[str, Any]]:
    for ridge in (10.0, 100.0, 1_000.0):
        teach = plain(data, PROBIT, from_profile(data, prior, own, ridge))
        yield data.areas(f"mean from the user's own tags, ridge {ridge:,.0f}", teach)
    shown = _features(data.log, np.arange(len(data.log)))
    for name, extra in (
        ("tags, and those that both have", shown * own),
        ("tags, and those in which they differ", np.abs(shown - own)),
        ("tags, and how many both have", (shown * own).sum(axis=1, keepdims=True)),
    ):
        log = widened(data, extra)
        wider = fit_prior(PROBIT, log.select(data.fit))
        yield data.areas(name, plain(data, PROBIT, lambda _, wider=wider: wider, log))  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    add_out(parser)
    options = parser.parse_args()
    for make in (movielens, dating):
        data = make(options.folder)
        prior = fit_prior(PROBIT, data.log.select(data.fit))
        rows = list(beliefs(data, prior))
        if make is dating:
            rows += by_own_tags(data, profiles(data, options.folder), prior)
        rows += smaller(data, lambda appeal, make=make: make(options.folder, appeal), prior)  # type: ignore[misc]
        title = f"{data.name}: AUC on the rest after so many swipes, {len(data.test)} test users"
        tell(options.out, Table(data.name.lower().replace(" ", "-"), title, rows))


if __name__ == "__main__":
    main()
