"""`probit-traits` where the truth is known: in worlds of its own model, and in the laboratory's, where nothing is shared.

    python research/simulated_traits.py [--candidates 300] [--raters 3000] [--users 100] [--seeds 3] [--out FOLDER]

Everybody rates a third of the candidates, one person after the other. The first people are fitted, the others learn as they come.
Then newcomers are predicted swipe by swipe, beside an oracle: the same learner with the true prior and the true traits. In the
laboratory's conditions the fit must find that traits do not pay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from _script import options, tell
from kaczmatch import Prior, SwipeLog, appeal_rows, fit_population
from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.vectors import Integers, Matrix
from kaczmatch.evaluation.scores import calibration_error, losses, reliability
from kaczmatch.learners.belief.gaussian import ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.replay import progressive_predictions, replay
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.population_fit import FittedPopulation
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.report.results import Table
from kaczmatch.simulation.world import HONEST, PAPER, Condition, world

TRAITS, TAGS = 4, 12
MOST_FITTED = 2_000
NEWCOMERS = 400
TIMES = (0, 5, 20, 50, 100, 200)


@dataclass(frozen=True)
class TraitWorld:
    """Candidates with true traits, and the prior that tastes are drawn from."""

    features: Matrix
    traits: Matrix
    prior: Prior
    rng: np.random.Generator

    @classmethod
    def of(cls, seed: int, candidates: int) -> TraitWorld:
        rng = np.random.default_rng([seed, 50])
        features = (rng.random((candidates, TAGS)) < 0.4).astype(float)
        variances = np.concatenate([np.full(TAGS, 0.1), [0.25, 0.1], np.full(TRAITS - 1, 0.3)])
        prior = Prior(
            rng.normal(0.0, 0.4, TAGS),
            "true",
            -0.3,
            covariance=np.diag(variances),
            label_noise=0.001,
            traits=np.array([0.6, 0.0, 0.0, 0.0]),
            trait_map=rng.normal(0.0, 0.4, (TAGS + 1, TRAITS)),
        )
        traits = prior.expected_traits(features)[:, :TRAITS] + rng.normal(size=(candidates, TRAITS))
        return cls(features, traits, prior, rng)

    def swipes(self, users: int, each: int, first: int = 0) -> SwipeLog:
        """So many users, numbered from `first`, each deciding about so many candidates, one user after the other."""
        mean = np.concatenate([self.prior.weights, [self.prior.effective_threshold], self.prior.traits])
        tastes = mean + self.rng.normal(size=(users, len(mean))) * np.sqrt(np.diag(np.asarray(self.prior.covariance)))
        user = np.repeat(np.arange(users), each)
        whom = np.argsort(self.rng.random((users, len(self.features))), axis=1)[:, :each].ravel()
        lengths = np.linalg.norm(self.features, axis=1, keepdims=True)
        known = np.hstack([self.features / np.maximum(lengths, 1.0), np.ones((len(lengths), 1)), self.traits])
        value = np.einsum("ij,ij->i", tastes[user], known[whom]) + self.rng.normal(size=len(user))
        return SwipeLog(
            user=user + first,
            candidate=whom,
            candidates=self.features,
            label=np.where(value > 0.0, 1, -1),
            at=(first * each + np.arange(len(user))).astype(float),
        )


@dataclass(frozen=True)
class Found:
    """What newcomers' swipes were worth."""

    traits: bool  # whether the fit found that they pay
    log_loss: float
    oracle: float
    calibration: float


def simulated(seed: int, candidates: int, raters: int) -> Found:
    """One world, after so many raters per candidate."""
    one = TraitWorld.of(seed, candidates)
    each = candidates // 3
    people = raters * candidates // each
    fitted = min(people, MOST_FITTED)
    early, late, new = one.swipes(fitted, each), one.swipes(people - fitted, each, fitted), one.swipes(NEWCOMERS, each, people)
    population = fit_population(early, seed=seed)
    if not isinstance(population.learner, ProbitTraits) or population.sites is None:
        said = np.zeros((len(new), 2))
        p = progressive_predictions(ProbitDiagonal(appeal=True), new.with_others(said), prior=population.prior)
    else:
        said = said_to(population, late, new)
        p = progressive_predictions(population.learner, new.with_others(said), prior=population.prior)
    liked = new.label > 0.0
    truth = np.hstack([one.traits, np.full_like(one.traits, 1e-9)])[np.asarray(new.candidate_row)]
    oracle = progressive_predictions(ProbitTraits(traits=TRAITS, directions=0), new.with_others(truth), prior=one.prior)
    return Found(
        population.sites is not None,
        losses(p, liked).mean(),
        losses(oracle, liked).mean(),
        calibration_error(reliability(p, liked)),
    )


def said_to(population: FittedPopulation, late: SwipeLog, new: SwipeLog) -> Matrix:
    """Traits as newcomers see them, after what was fitted and what was learned one by one since."""
    assert isinstance(population.learner, ProbitTraits)
    assert population.sites is not None
    model = TraitModel(learner=population.learner, prior=population.prior, reference=_last(late, new))
    sites = population.sites
    if len(late):
        rater = np.asarray(late.user).astype(np.int64)
        followed = follow_traits(model, late, rater, sites)
        sites = sites.followed_by(SiteLog(rater, np.asarray(late.candidate_row), np.asarray(late.at), followed.sites))
    nobody: Integers = np.full(len(new), -1)
    expected = model.expected(new.features)
    return sites.traits_at(
        model, expected, viewer=nobody, candidate=np.asarray(new.candidate_row), at=np.full(len(new), _last(late, new) + 1)
    )


def _last(*logs: SwipeLog) -> int:
    return max(int(np.asarray(log.at).max(initial=0)) for log in logs)


def laboratory(condition: Condition, seed: int) -> Iterator[dict[str, Any]]:
    """What the fit finds where nothing is shared, and how both rank unseen candidates after t swipes."""
    one = world(condition, seed)
    swipes = max(TIMES)
    user = np.repeat(np.arange(condition.users), swipes)
    whom = one.pools.reshape(condition.users, -1)[:, :swipes].ravel()
    turned = one.turned[:, :swipes].ravel() == 1
    log = SwipeLog(
        user=user,
        candidate=whom,
        candidates=one.tags,
        label=np.where(one.likes[0][user, whom] ^ turned, 1, -1),
        at=np.tile(np.arange(swipes), condition.users).astype(float),
    )
    fit, tested = log.select(user % 2 == 0), log.select(user % 2 == 1)
    found = fit_population(fit, seed=seed).sites is not None
    for name, traits in (("without", False), ("with", True)):
        areas = _areas(fit_population(fit, traits=traits, seed=seed), log, tested, one.unseen, one.unseen_likes[0])
        yield {"seed": seed, "traits": found, "learner": name} | {f"after_{t}": areas[t] for t in TIMES}


def _areas(population: FittedPopulation, log: SwipeLog, tested: SwipeLog, unseen: Matrix, likes: Any) -> dict[int, float]:
    """Mean AUC of unseen candidates after each number of swipes of the tested."""
    learner: ProbabilisticLearner = population.learner
    assert log.at is not None
    if isinstance(learner, ProbitTraits) and population.sites is not None:
        model = TraitModel(learner=learner, prior=population.prior, reference=_last(log))
        said: Any = follow_traits(model, log, np.asarray(log.user).astype(np.int64)).said
    else:
        said = appeal_rows(AppealModel().before_swipes(log))
    seen = log.with_others(said)
    order = np.arange(len(log)) % max(TIMES)
    mine = np.isin(log.user, np.unique(tested.user))
    found = {}
    for t in TIMES:
        rows = mine & (order < t)
        states = replay(learner, seen.select(rows), prior=population.prior) if t else {}
        start = learner.start(population.prior)
        areas = [
            auc(np.asarray(learner.score(states.get(user, start), unseen)), likes[user])
            for user in np.unique(tested.user).tolist()
            if likes[user].any() and not likes[user].all()
        ]
        found[t] = float(np.mean(areas))
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, seeds=3, users=HONEST.users)
    parser.add_argument("--candidates", type=int, default=300)
    parser.add_argument("--raters", type=int, default=3_000, help="per candidate")
    asked = parser.parse_args(words)
    model = []
    for seed in range(asked.seeds):
        one = simulated(seed, asked.candidates, asked.raters)
        model.append(
            {
                "seed": seed,
                "traits": one.traits,
                "log_loss": one.log_loss,
                "oracle": one.oracle,
                "behind": one.log_loss - one.oracle,
                "calibration": one.calibration,
            }
        )
        print(model[-1], flush=True)
    lab = []
    for name, condition in (("paper", PAPER), ("honest", HONEST)):
        for seed in range(asked.seeds):
            lab += [{"condition": name, **row} for row in laboratory(replace(condition, users=asked.users), seed)]
            print(*lab[-2:], sep="\n", flush=True)
    title = f"Newcomers after {asked.raters:,} raters per candidate, {asked.candidates} candidates, {TRAITS} true traits"
    tables = [
        Table("simulated-traits", title, model),
        Table("laboratory-traits", "AUC on unseen candidates where nothing is shared", lab),
    ]
    tell(asked.out, tables)


if __name__ == "__main__":
    main()
