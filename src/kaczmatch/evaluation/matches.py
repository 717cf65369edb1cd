"""Pairs in logs where candidates swipe too: does a score of both sides find those who like each other?

For a user after t swipes, everybody of the rest who has not decided about the user yet is ranked by a fusion of what the user's state
says of them and what their states say of the user. Both states know what was swiped before the moment of ranking, nothing later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import final

import numpy as np

from kaczmatch.core.ranking_metrics import AUC, HIT, PRECISION, auc, judged
from kaczmatch.core.vectors import Column, Matrix, Vector
from kaczmatch.evaluation.contenders import OWN_RATE, Baseline, Contender, Fold
from kaczmatch.evaluation.predictions import Flags, group_bounds, rounded
from kaczmatch.evaluation.scores import Interval, Scores
from kaczmatch.evaluation.self_test import Progress
from kaczmatch.evaluation.trial import Asked, Places, Trial, at_most
from kaczmatch.recommend.scoring import FUSIONS
from kaczmatch.runner.contract import Runner

MOST_VIEWERS = 300  # every pair needs its own two states: more viewers make it slow, not different
TOPS = (1, 3, 5)
FORWARD, EVERYBODY = "own side only", "everybody"


@final
@dataclass(frozen=True, eq=False)
class MutualSwipes:
    """Which swipe answers which, where a user and the candidate of the same identifier are one person."""

    trial: Trial

    @cached_property
    def candidate_of(self) -> Places:
        """Each user's row among the candidates; -1 where the user is not among them."""
        place = {str(key): row for row, key in enumerate(self.trial.table.candidates)}
        return np.array([place.get(str(user), -1) for user in self.trial.table.users], np.int64)

    @cached_property
    def answer(self) -> Places:
        """The row in which the candidate of each row decided about its user, the first one; -1 where that never happened."""
        table, many = self.trial.table, len(self.trial.table.candidates)
        user_of = np.full(many, -1, np.int64)
        known = self.candidate_of >= 0
        user_of[self.candidate_of[known]] = np.flatnonzero(known)
        keys = table.user * many + table.candidate
        order = np.argsort(keys, kind="stable")
        there, back = user_of[table.candidate], self.candidate_of[table.user]
        wanted = there * many + back
        found = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
        return np.where((there >= 0) & (back >= 0) & (keys[found] == wanted), found, -1)

    @cached_property
    def on_oneself(self) -> Places:
        """Rows in which users swipe on the candidate of their own identifier. People do not: such candidates are something else."""
        return np.flatnonzero(self.candidate_of[self.trial.table.user] == self.trial.table.candidate)

    @property
    def answered(self) -> float:
        """The share of swipes whose candidate decided about their user, too."""
        return float((self.answer >= 0).mean()) if len(self.answer) else 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class MatchPairs:
    """Every ranked pair after one number of swipes: who looks, what both sides say under each contender, and whether it was a match."""

    viewer: Places
    match: Flags
    forward: Mapping[str, Vector]
    backward: Mapping[str, Vector]

    @classmethod
    def joined(cls, parts: Sequence[MatchPairs]) -> MatchPairs:
        """All pairs of the parts, one part after the other."""

        def both(side: str) -> dict[str, Vector]:
            return {name: np.concatenate([getattr(one, side)[name] for one in parts]) for name in parts[0].forward}

        viewer, match = (np.concatenate([getattr(one, name) for one in parts]) for name in ("viewer", "match"))
        return cls(viewer, match, both("forward"), both("backward"))


def match_pairs(fold: Fold, t: int, runner: Runner) -> MatchPairs:
    """Both sides of every pair that is still open when a tested user has made t swipes; a contender is a part."""
    trial, answers = fold.trial, MutualSwipes(fold.trial).answer
    asked = trial.held_out(
        at_most(MOST_VIEWERS, trial.tested[np.diff(trial.begin)[trial.tested] >= t + trial.protocol.rest]), [t]
    )
    answer = answers[asked.row]
    still = np.flatnonzero((answer >= 0) & (trial.clock[answer] >= asked.moment))
    row, answer, moment = asked.row[still], answer[still], asked.moment[still]
    begin = trial.begin[trial.table.user[answer]]
    own = zip(begin, trial.begin[trial.table.user[answer] + 1], moment, strict=True)
    known = np.array([np.searchsorted(trial.clock[first:end], now, side="left") for first, end, now in own], np.int64)
    forward, backward = trial.asked(row, asked.t[still], moment), trial.asked(answer, known, moment)
    sources = [each for each in fold.sources if isinstance(each, Contender | Baseline) and each.name != OWN_RATE]
    sources = [each for each in sources if isinstance(each, Baseline) or each.learns]
    found = list(runner.results(partial(_both_sides, trial, sources, forward, backward), range(len(sources))))
    names = [each.name for each in sources]
    there, back = (dict(zip(names, side, strict=True)) for side in zip(*found, strict=True))
    return MatchPairs(forward.user, trial.table.like[row] & trial.table.like[answer], there, back)


def _both_sides(
    trial: Trial, sources: Sequence[Contender | Baseline], forward: Asked, backward: Asked, place: int
) -> tuple[Vector, Vector]:
    return sources[place].scores(trial, forward, likely=True), sources[place].scores(trial, backward, likely=True)


@final
@dataclass(frozen=True, slots=True)
class MatchScore:
    """One contender under one fusion after one number of swipes, for everybody or for the viewers of one side."""

    name: str
    fusion: str
    swipes: int
    side: str
    pairs: int
    matches: int
    match_auc: float  # all pairs together
    auc_per_user: Interval
    precision: Mapping[int, float]  # by length of the list
    success: Mapping[int, float]


def match_scores(found: MatchPairs, t: int, seed: Sequence[int], side: Column | None = None) -> list[MatchScore]:
    """Of every contender and fusion, for everybody and, where `side` holds each user's side, for each side that looks."""
    groups: list[tuple[str, Flags]] = [(EVERYBODY, np.ones(len(found.viewer), np.bool_))]
    if side is not None:
        groups += [(str(value), side[found.viewer] == value) for value in np.unique(side).tolist()]
    return [score for group, inside in groups for score in _of_group(found, t, seed, group, inside)]


def _of_group(found: MatchPairs, t: int, seed: Sequence[int], group: str, inside: Flags) -> list[MatchScore]:
    match, bounds = found.match[inside], group_bounds(found.viewer[inside])
    fused: dict[tuple[str, str], Vector] = {}
    for name in found.forward:
        there, back = found.forward[name][inside], found.backward[name][inside]
        fused[name, FORWARD] = rounded(there)
        fused |= {(name, key): rounded(np.asarray(fuse(there, back))) for key, fuse in FUSIONS.items()}

    def areas(measure: int, k: int = 0) -> Matrix:
        return np.stack([judged(each, match, bounds, measure, k) for each in fused.values()], axis=1)

    per_user = Scores([f"{name}, {fusion}" for name, fusion in fused], [t], areas(AUC)[None], seed)
    tops = {(measure, k): areas(measure, k) for measure in (PRECISION, HIT) for k in TOPS}
    return [
        MatchScore(
            name=name,
            fusion=fusion,
            swipes=t,
            side=group,
            pairs=len(match),
            matches=int(match.sum()),
            match_auc=float(auc(each, match)),
            auc_per_user=per_user.at(0, f"{name}, {fusion}"),
            precision={k: _mean(tops[PRECISION, k][:, place]) for k in TOPS},
            success={k: _mean(tops[HIT, k][:, place]) for k in TOPS},
        )
        for place, ((name, fusion), each) in enumerate(fused.items())
    ]


def _mean(values: Vector) -> float:
    return float(values.mean()) if len(values) else float("nan")


def measure_matches(
    folds: Sequence[Fold], times: Sequence[int], side: str | None, progress: Progress, runner: Runner
) -> list[MatchScore]:
    """At every number of swipes at which some open pairs became matches, and some did not."""
    trial = folds[0].trial
    sides = None if side is None else trial.table.others[side][trial.begin[:-1]]
    progress.stage("matches", len(times) * len(folds))
    scores: list[MatchScore] = []
    for t in times:
        parts = []
        for fold in folds:
            parts.append(match_pairs(fold, t, runner))
            progress.advance()
        pairs = MatchPairs.joined(parts)
        if pairs.match.any() and not pairs.match.all():
            scores += match_scores(pairs, t, [trial.protocol.seed, 20 + t], sides)
    return scores


def best_fusions(scores: Sequence[MatchScore]) -> list[MatchScore]:
    """Each contender under its best fusion of both sides, at the last number of swipes; best first."""
    last = max(each.swipes for each in scores)
    best: dict[str, MatchScore] = {}
    for each in scores:
        if (each.side, each.swipes) == (EVERYBODY, last) and each.fusion != FORWARD:
            best[each.name] = max(best.get(each.name, each), each, key=lambda one: one.match_auc)
    return sorted(best.values(), key=lambda score: -score.match_auc)


def best_auc(scores: Sequence[MatchScore], fusion: str, swipes: int) -> float:
    """The match AUC of the best contender under a fusion."""
    return max(each.match_auc for each in scores if (each.fusion, each.swipes, each.side) == (fusion, swipes, EVERYBODY))
