"""The self-test: sound where nothing leaks, a leak where something does, and "cannot tell" where the log is too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.contenders import APPEAL, OWN_RATE, Contender, Fold, Source
from kaczmatch.evaluation.evaluate import SilentProgress
from kaczmatch.evaluation.scores import Interval
from kaczmatch.evaluation.self_test import HALF_WIDTH, ShuffledCheck, ShuffledScore, half_widths, shuffled_check, shuffled_trial
from kaczmatch.evaluation.trial import Asked, Places, Protocol, Trial
from kaczmatch.runner.local import LocalRunner
from worlds.logs import small_table
from worlds.trials import fitted

pytestmark = pytest.mark.usefixtures("whole_self_test")
TIMES = (0, 5)
SLUGS = ("all-ones", "probit-diag")


@dataclass(frozen=True, eq=False)
class PeekingTrial(Trial):
    """Its appeal knows a little of the decisions that are ranked."""

    peek: float = 0.0

    def held_out(self, users: Places, times: Sequence[int]) -> Asked:
        found = super().held_out(users, times)
        appeal: Vector = found.appeal + self.peek * self.table.like[found.row]
        return Asked(found.row, found.user, found.t, found.moment, appeal)


def checked(trial: Trial) -> ShuffledCheck:
    def refit(_: Fold, one: Trial) -> Sequence[Source]:
        return fitted(one, *SLUGS)

    return shuffled_check([Fold(trial, refit(Fold(trial, []), trial))], refit, TIMES, SilentProgress(), LocalRunner(1))


def trial_of(*, peek: float = 0.0, users: int = 120, tags: int = 4) -> Trial:
    table = small_table(1, users=users, swipes=60, candidates=60, tags=tags)
    return PeekingTrial(table, Protocol(times=TIMES, rest=5), peek=peek)


def test_a_fair_test_is_sound_and_known_closely() -> None:
    check = checked(trial_of())
    assert check.verdict == "sound", check
    assert check.widest <= HALF_WIDTH
    assert check.users == 60
    assert {each.name: each.auc for each in check.scores}[OWN_RATE] == (0.5, 0.5, 0.5)


def test_a_small_leak_is_found_where_it_is() -> None:
    check = checked(trial_of(peek=0.02))
    assert check.verdict == "leak"
    assert check.farthest.auc.mean > 0.5
    leaking = {each.name for each in check.scores if each.verdict == "leak"}
    assert leaking == {APPEAL, "probit-diag + population + appeal"}


def test_of_a_small_log_it_cannot_tell() -> None:
    check = checked(trial_of(users=8))
    assert check.verdict == "cannot tell"
    assert check.shuffles < 20  # and does not try for long


def test_what_was_fitted_on_the_tested_users_is_a_leak() -> None:
    trial = trial_of(tags=40)

    def refit(fold: Fold, shuffled: Trial) -> list[Source]:
        """Each contender's prior is taken from the decisions that it is tested on."""
        like, tested = np.where(shuffled.table.like, 1.0, -1.0), ~shuffled.fit[shuffled.table.user]
        taste = shuffled.table.features[shuffled.table.candidate[tested]].T @ like[tested]
        found: list[Source] = []
        for each in fold.sources:
            peeked = isinstance(each, Contender)
            found.append(Contender(each.name, each.learner, type(each.prior)(taste / np.linalg.norm(taste))) if peeked else each)  # type: ignore[union-attr]
        return found

    check = shuffled_check([Fold(trial, fitted(trial, *SLUGS))], refit, TIMES, SilentProgress(), LocalRunner(1))
    assert check.verdict == "leak"


def test_without_a_leak_a_refit_changes_nothing() -> None:
    """Nothing that is fitted hears of those it is tested on, also not by the appeal that the fitted users saw."""
    trial = Trial(small_table(3), Protocol(times=TIMES, rest=2))
    for one, other in zip(fitted(trial, *SLUGS), fitted(shuffled_trial(trial, 0), *SLUGS), strict=True):
        if isinstance(one, Contender) and isinstance(other, Contender):
            assert one.prior.fingerprint == other.prior.fingerprint, one.name


def test_shuffling_keeps_every_users_likes_and_nothing_else() -> None:
    trial = Trial(small_table(3), Protocol())
    mixed = shuffled_trial(trial, 0)
    for user in range(len(trial.table.users)):
        rows = slice(trial.begin[user], trial.begin[user + 1])
        assert trial.table.like[rows].sum() == mixed.table.like[rows].sum()
    assert (trial.table.like != mixed.table.like).any()
    assert np.array_equal(trial.table.candidate, mixed.table.candidate)


def test_the_worst_contender_decides() -> None:
    def check(*intervals: tuple[float, float, float]) -> ShuffledCheck:
        return ShuffledCheck([ShuffledScore(str(place), Interval(*each)) for place, each in enumerate(intervals)], 10, 8)

    sound, wide, leak = (0.501, 0.4955, 0.5065), (0.51, 0.49, 0.53), (0.504, 0.501, 0.507)
    assert check(sound, sound).verdict == "sound"
    assert check(sound, wide).verdict == "cannot tell"
    assert check(sound, wide, leak).verdict == "leak"
    assert check(wide, leak).farthest.auc.mean == leak[0]


@pytest.mark.parametrize("users", [0, 1])
def test_one_user_says_nothing(users: int) -> None:
    assert np.isinf(half_widths(np.zeros((users, 3)), mutual=False)).all()
