"""What every peer must do, whoever wrote it: learn, stand still once frozen, look at nothing that comes later."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.measures.holdout_ranking import holdout_ranking
from kaczmatch.evaluation.peers.contract import Peer, PeerResult
from kaczmatch.evaluation.peers.own import as_peer
from kaczmatch.evaluation.peers.registry import LIBRARIES, all_peers, peers_of, with_appeal
from kaczmatch.evaluation.protocol.contenders import contenders
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable

pytestmark = pytest.mark.slow  # other libraries take seconds to load

MODULES = {"river", "vowpalwabbit", "sklearn", "mabwiser", "implicit"}
T = 20


def every_peer() -> Iterator[Any]:
    for library in LIBRARIES:
        try:
            for peer in peers_of(library):
                yield from (pytest.param(each, id=each.name) for each in with_appeal(peer))
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


def shown(peer: Peer, table: SwipeTable, *times: int) -> PeerResult:
    trial = Trial(table, Protocol(times=times, appeal_from="fit"))
    ticks = itertools.count()
    return peer.run(trial, times, trial.tested, clock=lambda: float(next(ticks)), advance=lambda _: None)


@functools.cache
def learned(name: str) -> PeerResult:
    """Of one peer on two camps, ranked thrice on the way."""
    return shown(PEERS[name], two_camps(), 0, 5, T)


@functools.cache
def learned_alone(name: str) -> PeerResult:
    """The same, ranked at the end only."""
    return shown(PEERS[name], two_camps(), T)


@each_peer
def test_learns_what_is_easy_to_tell_apart(peer: Peer) -> None:
    before, _, after = np.nanmean(learned(peer.name).auc, axis=1)
    assert after > (0.85 if peer.individual else 0.7)  # eight factors are many for ten people of each camp
    if peer.individual:
        assert before == 0.5


@each_peer
def test_probabilities_come_true_where_they_are_said(peer: Peer) -> None:
    """The last of so many log-odds have the sign of what was answered; the first could not know."""
    table = two_camps()
    said = learned_alone(peer.name).log_odds
    if said is not None:
        users = np.flatnonzero(np.arange(len(table.users)) % 2)
        rows = (table.begin[users][:, None] + np.arange(T)).ravel()
        right = (said > 0).reshape(-1, T) == table.like[rows].reshape(-1, T)
        assert right[:, -8:].mean() > 0.7
        assert right[:, -8:].mean() > right[:, 0].mean()


@each_peer
def test_answers_after_the_freeze_change_nothing(peer: Peer) -> None:
    """With every later answer of the tested turned round, the same scores have the opposite AUC."""
    table = two_camps()
    later = (table.user % 2 > 0) & (np.arange(len(table)) - table.begin[table.user] >= T)
    one, other = learned_alone(peer.name), shown(peer, replace(table, like=table.like ^ later), T)
    assert other.auc == pytest.approx(1.0 - one.auc, abs=1e-12)
    assert (one.log_odds is None and other.log_odds is None) or np.array_equal(one.log_odds, other.log_odds)


@each_peer
def test_ranking_does_not_disturb_learning(peer: Peer) -> None:
    assert np.array_equal(learned(peer.name).auc[2], learned_alone(peer.name).auc[0])


@each_peer
def test_the_same_seed_gives_the_same_answer(peer: Peer) -> None:
    one, two = learned(peer.name), shown(peer, two_camps(), 0, 5, T)
    assert np.array_equal(one.auc, two.auc)
    assert np.array_equal(np.asarray(one.log_odds), np.asarray(two.log_odds))


@each_peer
def test_every_swipe_is_timed_once(peer: Peer) -> None:
    """By a clock that goes on by one whenever it is looked at."""
    found = learned(peer.name)
    assert found.seconds_per_swipe == 1.0 if peer.individual else 0.0 < found.seconds_per_swipe < 1.0


def test_our_own_learners_come_out_as_in_the_harness() -> None:
    """The peers' loop and ours are one protocol: what is ours gets the same AUC from both."""
    trial = Trial(two_camps(), Protocol(times=(0, 5, T)))
    ours = contenders(trial, ["tk", "probit-diag"], tick=lambda _: None)
    found = holdout_ranking(trial, ours, trial.protocol.times, trial.tested, advance=lambda _: None)
    for column, each in enumerate(ours):
        peer = as_peer(each)
        live = peer.run(trial, trial.protocol.times, trial.tested, clock=lambda: 0.0, advance=lambda _: None)
        assert live.auc == pytest.approx(found.auc[:, :, column], abs=1e-9), each.name


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kaczmatch.evaluation.peers.vowpal_wabbit", raising=False)
    monkeypatch.setitem(sys.modules, "vowpalwabbit", None)
    with pytest.raises(InvalidInput, match=r"vowpalwabbit is missing; install it with: pip install -e .*\[bench\]"):
        all_peers()


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, kaczmatch.cli.research.evaluate; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
    assert not MODULES & set(loaded)
