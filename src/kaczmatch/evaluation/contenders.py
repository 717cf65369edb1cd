"""The contenders: every learner as published, and with what is learned from the population; and what learns nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Protocol, final

import numpy as np
from scipy.special import expit, logit

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.pooled import POOLED, Pooled
from kaczmatch.evaluation.trial import Asked, Places, Trial
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.logs.replay import progressive_predictions, replay
from kaczmatch.learners.population.population_fit import fit_population, people_with_history
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.threshold import calibrated_hinge
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import learner
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.runner.contract import Runner

MOST_FIT_USERS = 2_000  # the population's prior is as good from so many as from more
ALL_ONES = "all-ones"  # a learner that learns nothing
APPEAL, OWN_RATE, RANDOM = "appeal alone", "own like rate", "random"
BASELINES = (APPEAL, OWN_RATE, RANDOM)
DEFAULT, TRAITS = "probit-diag + population + appeal", "probit-traits + population"
EXPECTED = (DEFAULT, "probit + population + appeal", TRAITS)  # to win: not picked from many
UNLEARNED = ", own swipes not learned"


class Source(Protocol):
    """Whatever fills a column of the table of predictions."""

    @property
    def name(self) -> str: ...

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, Vector | None]:
        """Scores by which what is `asked` is ranked, and the probabilities of what is `following`, each predicted before it was
        learned from; None from what says no probabilities."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedTraits:
    """How sites are made, and the sites that the fit wrote, of users by their number in the trial."""

    model: TraitModel
    sites: SiteLog
    people: int  # whom it was fitted on


@final
@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A learner, and the prior that every user starts from."""

    name: str
    learner: Learner
    prior: Prior
    traits: FittedTraits | None = None  # heard in place of appeal
    learns: bool = True  # from each user's own swipes

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, Vector | None]:
        return self.scores(trial, asked), self._ahead(trial, following.row)

    def scores(self, trial: Trial, asked: Asked, *, likely: bool = False) -> Vector:
        """Frozen after t swipes; as probabilities if `likely`, of rules that say any."""
        one, candidate = self.learner, trial.table.candidate[asked.row]
        heard = appeal_rows(asked.appeal)
        if self.traits is not None:
            heard = _traits_heard(trial, self.traits).at_moments(asked.user, candidate, asked.moment)
        # A user after t swipes is replayed as if a user of their own.
        order = np.lexsort((asked.t, asked.user))
        user, t = asked.user[order], asked.t[order]
        new = np.flatnonzero(np.r_[True, (user[1:] != user[:-1]) | (t[1:] != t[:-1])]) if len(order) else order
        log = self.log(trial).select(trial.rows(user[new], 0, t[new] if self.learns else 0))
        log.user = np.repeat(np.arange(len(new)), t[new] if self.learns else 0)
        states = replay(one, log, prior=self.prior) if len(log) else {}
        start, found = one.start(self.prior), np.empty(len(asked))
        say = one.probability if likely and isinstance(one, ProbabilisticLearner) else one.score
        for stage, part in enumerate(np.split(order, new[1:])):
            if len(part):
                found[part] = say(states.get(stage, start), trial.table.features[candidate[part]], heard[part])
        return found

    def log(self, trial: Trial) -> SwipeLog:
        """All swipes, with what was heard of each candidate."""
        return trial.log if self.traits is None else _traits_heard(trial, self.traits).log

    def _ahead(self, trial: Trial, rows: Places) -> Vector | None:
        if not (self.learns and isinstance(self.learner, ProbabilisticLearner) and len(rows)):
            return None
        return progressive_predictions(self.learner, self.log(trial).select(rows), prior=self.prior)

    @property
    def bytes_per_user(self) -> int:
        return len(self.learner.start(self.prior).to_bytes())


@final
@dataclass(frozen=True, slots=True)
class Baseline:
    """What learns nothing: appeal, which moves the user's own like rate; that rate; chance."""

    name: str

    def predict(self, trial: Trial, asked: Asked, following: Asked) -> tuple[Vector, Vector | None]:
        ahead = None if self.name == RANDOM else self.scores(trial, following, likely=True)
        return self.scores(trial, asked), ahead

    def scores(self, trial: Trial, asked: Asked, *, likely: bool = False) -> Vector:
        if self.name == RANDOM:
            found = np.empty(len(asked))
            for t in np.unique(asked.t).tolist():
                rows = asked.t == t
                found[rows] = np.random.default_rng([trial.protocol.seed, 1, t]).random(len(trial.table))[asked.row[rows]]
            return found
        appeal = asked.appeal if self.name == APPEAL else np.zeros(len(asked))
        return np.asarray(expit(logit(trial.own_rate(asked.user, asked.t)) + appeal)) if likely else appeal


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A trial, and what was fitted in it. Sources have the same names in all folds."""

    trial: Trial
    sources: Sequence[Source]

    @property
    def contenders(self) -> list[Contender]:
        return [each for each in self.sources if isinstance(each, Contender)]

    @property
    def traits(self) -> bool:
        """Whether they pay among the fitted users."""
        return any(each.traits is not None for each in self.contenders)


def named_learner(text: str) -> Learner:
    """A learner as it is typed: its slug, and settings in brackets, such as ``probit-diag(alpha=2)``."""
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    try:
        if found is None:
            raise SyntaxError
        call = ast.parse(f"_({found[2] or ''})", mode="eval").body
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args
        if not isinstance(call, ast.Call) or not plain or any(each.arg is None for each in call.keywords):
            raise SyntaxError
    except SyntaxError:
        raise InvalidInput("learner", f"must be a learner such as 'probit' or 'probit-diag(alpha=2)', got {text!r}") from None
    settings = {}
    for each in call.keywords:
        if each.arg in settings:
            raise InvalidInput(str(each.arg), f"is given twice in {text!r}")
        try:
            settings[str(each.arg)] = ast.literal_eval(each.value)
        except ValueError:
            says = f"of {found[1]!r} must be a number, a text in quotes, True or False, got {ast.unparse(each.value)}"
            raise InvalidInput(str(each.arg), says) from None
    return learner(found[1], **settings)


def fit_sources(
    trial: Trial,
    learners: Sequence[str],
    runner: Runner,
    *,
    traits: bool | None = None,
    pooled: bool = True,
    advance: Callable[[], None] = lambda: None,
) -> list[Source]:
    """Each learner alone; with the population's prior, and threshold, where it can start from one; with appeal where it weighs it;
    and each of these as it starts, whatever the user swipes. Then pooled models, and what learns nothing.

    There are traits where they pay, unless `traits` says so or otherwise.
    """
    rules = {text: named_learner(text) for text in learners}
    fit, dimensions = fit_log(trial), trial.table.features.shape[1]
    hinge = next((one for one in rules.values() if isinstance(one, HingeLearner)), None)  # all start from one and the same
    common = None if hinge is None else fit_prior(hinge, fit, neutral=published_start(hinge, dimensions))
    parts: list[tuple[str, Learner | None]] = [*rules.items(), *((kind, None) for kind in POOLED if pooled)]
    found: list[Source] = []
    for some in runner.results(partial(_sources_of, trial, fit, common, traits), parts):
        found += some
        advance()
    return [*found, *map(Baseline, BASELINES)]


def _sources_of(
    trial: Trial, fit: SwipeLog, common: Prior | None, traits: bool | None, part: tuple[str, Learner | None]
) -> Sequence[Source]:
    name, one = part
    if one is None:
        return [Pooled.fitted(trial, name)]
    neutral = published_start(one, trial.table.features.shape[1])
    found = [Contender(name, one, neutral)]
    if isinstance(one, HingeLearner) and common is not None:
        calibrated = replace(one, hinge=calibrated_hinge(fit, common))
        found.append(Contender(f"{name} + population", calibrated, common))
    elif isinstance(one, ProbitTraits):
        found += _with_traits(trial, name, one, traits)
    elif isinstance(one, ProbabilisticLearner):
        found.append(Contender(f"{name} + population", one, fit_prior(one, fit, neutral=neutral)))
    if isinstance(one, Probit | ProbitDiagonal):
        weighing = replace(one, appeal=True)
        found.append(Contender(f"{name} + population + appeal", weighing, fit_prior(weighing, fit, neutral=neutral)))
    twins = [replace(each, name=each.name + UNLEARNED, learns=False) for each in found if name != ALL_ONES]
    return [*found, *twins]


def _with_traits(trial: Trial, name: str, one: ProbitTraits, traits: bool | None) -> list[Contender]:
    """The population's traits. Where they do not pay there is nobody, but in a fold, which has to have the same contenders as the
    others, there is what a service then has in their place."""
    rows, name = np.flatnonzero(trial.fit_rows), f"{name} + population"
    population = fit_population(trial.timed.select(rows), learner=one, traits=traits, seed=trial.protocol.seed)
    if population.sites is None:
        return [] if trial.fold is None else [Contender(name, population.learner, population.prior)]
    model = TraitModel(
        learner=one,
        prior=population.prior,
        half_life_days=trial.protocol.appeal.half_life_days,
        reference=trial.fitted_at,
    )
    numbers = np.array(population.names)  # the log's users go by their number in the trial
    fitted = replace(population.sites, rater=numbers[population.sites.rater])
    return [Contender(name, one, population.prior, FittedTraits(model, fitted, len(population.fitted)))]


def published_start(one: Learner, dimensions: int) -> Prior:
    """Where a learner starts without a population: the paper's six at all ones of unit length, the others at zero."""
    return Prior(np.full(dimensions, dimensions**-0.5) if isinstance(one, HingeLearner) else np.zeros(dimensions))


def fit_log(trial: Trial, most: int = MOST_FIT_USERS) -> SwipeLog:
    """Swipes of the fitted users, of so many at most and rather of those with a history."""
    swipes = np.bincount(trial.table.user[trial.fit_rows], minlength=len(trial.table.users))
    chosen = people_with_history(swipes, most)
    return trial.fitted_log(np.flatnonzero(trial.fit_rows & np.isin(trial.table.user, chosen)))


@lru_cache(maxsize=4)
def _traits_heard(trial: Trial, fitted: FittedTraits) -> TraitsHeard:
    """One causal pass over a trial serves all questions about it."""
    return TraitsHeard(trial, fitted.model, fitted.sites)


@final
@dataclass(frozen=True, eq=False)
class TraitsHeard:
    """What each user of a trial could know of candidates' traits when."""

    trial: Trial
    model: TraitModel
    fitted: SiteLog

    @cached_property
    def log(self) -> SwipeLog:
        """All swipes, with traits as seen."""
        table = self.trial.table
        return self.trial.log.with_others(self.at_moments(table.user, table.candidate, self.trial.clock))

    def at_moments(self, viewer: Places, candidate: Places, moments: Places) -> Matrix:
        """What viewers could know of candidates at given moments."""
        then = self.trial.known_at(moments)
        return self._sites.traits_at(self.model, self._expected, viewer=viewer, candidate=candidate, at=then)

    @cached_property
    def _expected(self) -> Matrix:
        return self.model.expected(self.trial.table.features)

    @cached_property
    def _sites(self) -> SiteLog:
        """Strict: every swipe's, from one causal pass. Otherwise the fit's, and those of all swipes that it did not see."""
        trial, table = self.trial, self.trial.table
        unseen = np.arange(len(table)) if trial.knowledge == "strict" else np.flatnonzero(~trial.fit_rows)
        followed = unseen if trial.knowledge == "mature" else np.arange(len(table))
        start = SiteLog.empty(self.model.learner.traits) if trial.knowledge == "strict" else self.fitted
        found = follow_traits(self.model, trial.timed.select(followed), table.user[followed], start)
        new = found.sites[np.isin(followed, unseen)]
        return start.followed_by(SiteLog(table.user[unseen], table.candidate[unseen], trial.clock[unseen], new))
