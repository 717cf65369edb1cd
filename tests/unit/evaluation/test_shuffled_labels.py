"""The self-test: sound where nothing leaks, a leak where something does, and "cannot tell" where the log is too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.measures import shuffled_labels
from kaczmatch.evaluation.measures.bootstrap import Interval
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, OWN_RATE
from kaczmatch.evaluation.measures.shuffled_labels import HALF_WIDTH, ShuffledCheck, ShuffledScore, shuffled_check, shuffled_trial
from kaczmatch.evaluation.protocol.contenders import Contender, contenders
from kaczmatch.evaluation.protocol.folds import Fold
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Places, Protocol, Trial
from worlds.logs import small_table

pytestmark = pytest.mark.usefixtures("whole_self_test")
TIMES = (0, 5)


@dataclass(frozen=True, eq=False)
class PeekingTrial(Trial):  # type: ignore[misc]  # a trial is final, but for a fault in it
    """Its appeal knows a little of the decisions that are ranked."""

    peek: float = 0.0

    def appeal_when_ranked(self, rows: Places, t: int) -> Vector:
        return super().appeal_when_ranked(rows, t) + self.peek * self.table.like[rows]


def fitted(trial: Trial) -> list[Contender]:
    return contenders(trial, ["all-ones", "probit-diag"], tick=lambda _: None)


def checked(trial: Trial) -> ShuffledCheck:
    return shuffled_check([Fold(trial, fitted(trial))], lambda _, one: fitted(one), TIMES, SilentProgress())


def trial_of(*, peek: float = 0.0, users: int = 120, tags: int = 4) -> Trial:
    table = small_table(1, users=users, swipes=60, candidates=60, tags=tags)
    return PeekingTrial(table, Protocol(times=TIMES, rest=5), peek=peek)


def verdicts(check: ShuffledCheck) -> dict[str, str]:
    return {each.name: each.verdict for each in check.scores}


def test_a_fair_test_is_sound_and_known_closely() -> None:
    check = checked(trial_of())
    assert check.verdict == "sound", check
    assert check.widest <= HALF_WIDTH
    assert check.users == 60
    assert {each.name: each.auc for each in check.scores}[OWN_RATE] == (0.5, 0.5, 0.5)


def test_a_small_leak_is_found_where_it_is() -> None:
    check = checked(trial_of(peek=0.02))
    found = verdicts(check)
    assert check.verdict == "leak"
    assert check.farthest.auc.mean > 0.5
    assert {name for name, verdict in found.items() if verdict == "leak"} == {APPEAL, "probit-diag + population + appeal"}


def test_of_a_small_log_it_cannot_tell() -> None:
    check = checked(trial_of(users=8))
    assert check.verdict == "cannot tell"
    assert check.shuffles < 20  # and does not try for long


def test_what_was_fitted_on_the_tested_users_is_a_leak() -> None:
    trial = trial_of(tags=40)

    def refit(fold: Fold, shuffled: Trial) -> Sequence[Contender]:
        """Each contender's prior is taken from the decisions that it is tested on."""
        like, tested = np.where(shuffled.table.like, 1.0, -1.0), ~shuffled.fit[shuffled.table.user]
        taste = shuffled.table.features[shuffled.table.candidate[tested]].T @ like[tested]
        return [Contender(each.name, each.learner, type(each.prior)(taste / np.linalg.norm(taste))) for each in fold.contenders]

    check = shuffled_check([Fold(trial, fitted(trial))], refit, TIMES, SilentProgress())
    assert check.verdict == "leak"


def test_without_a_leak_a_refit_changes_nothing() -> None:
    """Nothing that is fitted hears of those it is tested on, also not by the appeal that the fitted users saw."""
    trial = Trial(small_table(3), Protocol(times=TIMES, rest=2))
    for one, other in zip(fitted(trial), fitted(shuffled_trial(trial, 0)), strict=True):
        assert one.prior.fingerprint == other.prior.fingerprint, one.name


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
    assert np.isinf(shuffled_labels._reach(np.zeros((users, 3)), mutual=False)).all()
