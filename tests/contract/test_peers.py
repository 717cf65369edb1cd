"""What every peer must do, whoever wrote it: learn, stand still once frozen, look at nothing that comes later."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.peers import LIBRARIES, IndividualPeer, Peer, all_peers
from kaczmatch.evaluation.predictions import Predictions
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable
from worlds.trials import table_of

pytestmark = pytest.mark.slow  # other libraries take seconds to load

MODULES = {"river", "vowpalwabbit", "sklearn", "mabwiser", "implicit"}
T = 20


def every_peer() -> Iterator[Any]:
    for library in LIBRARIES:
        try:
            yield from (pytest.param(each, id=each.name) for each in all_peers([library]))
        except InvalidInput as missing:
            yield pytest.param(None, id=library, marks=pytest.mark.skip(reason=str(missing)))


ALL = list(every_peer())
PEERS = {one.values[0].name: one.values[0] for one in ALL if one.values[0] is not None}
each_peer = pytest.mark.parametrize("peer", ALL)


def two_camps(users: int = 20, candidates: int = 60, swipes: int = 40) -> SwipeTable:
    """Half of the users like whoever has the first tag and nobody else, the other half the opposite."""
    rng = np.random.default_rng(0)
    features = np.column_stack([np.arange(candidates) % 2, rng.random((candidates, 3)) < 0.3]).astype(float)
    user = np.repeat(np.arange(users), swipes)
    candidate = np.concatenate([rng.permutation(candidates)[:swipes] for _ in range(users)])
    like = (features[candidate, 0] > 0) == (user // 2 % 2 > 0)
    time = np.tile(np.arange(swipes), users) * 1_000_000
    names = [f"tag {i}" for i in range(4)]
    return SwipeTable(list(range(users)), list(range(candidates)), names, features, user, candidate, like, time)


def shown(peer: Peer, table: SwipeTable, *times: int) -> Predictions:
    trial = Trial(table, Protocol(times=times))
    return table_of(trial, [peer], times)


@functools.cache
def learned(name: str) -> Predictions:
    """Of one peer on two camps, ranked thrice on the way."""
    return shown(PEERS[name], two_camps(), 0, 5, T)


def area(found: Predictions, *times: int) -> Matrix:
    return np.asarray(found.by_user(list(found.said), times, np.unique(found.user))[:, :, 0])


@each_peer
def test_learns_what_is_easy_to_tell_apart(peer: Peer) -> None:
    before, _, after = np.nanmean(area(learned(peer.name), 0, 5, T), axis=1)
    individual = isinstance(peer, IndividualPeer)
    assert after > (0.85 if individual else 0.7)  # eight factors are many for ten people of each camp
    if individual and not peer.appeal:
        assert before == 0.5


@each_peer
def test_probabilities_come_true_where_they_are_said(peer: Peer) -> None:
    """The last of so many predict what was answered; the first could not know. None is made without need."""
    found = learned(peer.name)
    said, like = (column[found.ahead & (found.t < T)] for column in (found.said[peer.name], found.like))
    if not (isinstance(peer, IndividualPeer) and peer.likely):
        assert np.isnan(said).all()
        return
    right = ((said > 0.5) == like).reshape(-1, T)
    assert right[:, -8:].mean() > 0.7
    assert right[:, -8:].mean() > right[:, 0].mean()
    assert np.isnan(found.said[peer.name][found.ahead & (found.t >= T)]).all()


@each_peer
def test_answers_after_the_freeze_change_nothing(peer: Peer) -> None:
    """With every later answer of the tested turned round, the same is said; with appeal, of one user's own."""
    table = two_camps()
    whom = 1 if isinstance(peer, IndividualPeer) and peer.appeal else table.user
    later = (table.user % 2 > 0) & (table.user == whom) & (np.arange(len(table)) - table.begin[table.user] >= T)
    one, other = learned(peer.name), shown(peer, replace(table, like=table.like ^ later), 0, 5, T)
    same = (one.user == 1) & (one.t <= T)
    said = [each.said[peer.name][same] for each in (one, other)]
    assert said[0] == pytest.approx(said[1], abs=1e-9, nan_ok=True)


@each_peer
def test_ranking_does_not_disturb_learning_and_the_same_seed_gives_the_same(peer: Peer) -> None:
    assert np.array_equal(area(learned(peer.name), T), area(shown(peer, two_camps(), T), T))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vowpalwabbit", None)
    with pytest.raises(InvalidInput, match=r"vowpalwabbit is missing; install it with: pip install -e .*\[bench\]"):
        all_peers()


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, kaczmatch.cli.research.evaluate; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
    assert not MODULES & set(loaded)
