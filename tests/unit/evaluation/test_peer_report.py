"""What is said of peers follows from the numbers, also where a peer wins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kaczmatch.evaluation.measures.bootstrap import Interval
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import HoldoutRanking
from kaczmatch.evaluation.peers.comparison import ALONE, DEFAULT, WITH_APPEAL, PeerComparison
from kaczmatch.evaluation.peers.contract import PeerModel
from kaczmatch.evaluation.peers.crossover import Crossover, CrossoverPoint, with_fit_users
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.peers.population import PopulationPeer
from kaczmatch.evaluation.protocol.contenders import TRAITS
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.advice import _better_peer
from kaczmatch.evaluation.reporting.crossover import crossover_tables, crossover_words
from kaczmatch.evaluation.reporting.peer_report import difference_tables, verdict_words
from worlds.logs import small_table

TIMES = (0, 5, 20)


def unmade(seed: int) -> PeerModel:
    raise AssertionError("nobody is asked to learn here")


def found(*better: str, **areas: list[float]) -> PeerComparison:
    """Peers with these mean AUCs at each t and a default of 0.7 throughout, or of ours a `better` one of 0.8; users differ, but
    alike under everybody."""
    rng = np.random.default_rng(0)
    means = dict.fromkeys(better, [0.8] * 3) | {DEFAULT: [0.7] * 3, WITH_APPEAL: [0.6] * 3, ALONE: [0.5, 0.55, 0.6]} | areas
    users = rng.normal(0.0, 0.1, (1, 60, 1))
    values = np.array(list(means.values())).T[:, None, :] + users + rng.normal(0.0, 0.01, (3, 60, len(means)))
    peers = [IndividualPeer(name, unmade, appeal="appeal" in name) for name in areas if name != "crowd"]
    others = [PopulationPeer("crowd", lambda *_: (np.empty(0), np.empty(0)))] if "crowd" in areas else []
    shape = HoldoutRanking(list(means), TIMES, np.arange(60), values, *[np.full_like(values, np.nan)] * 2)
    return PeerComparison(BootstrapScores.of(shape, rng), [*peers, *others], {}, {})


def test_where_a_peer_wins_the_words_say_so() -> None:
    words = " ".join(verdict_words(found(weak=[0.5, 0.5, 0.5], strong=[0.5, 0.65, 0.75])))
    assert f"Ahead of {DEFAULT}: strong after 20 swipes (-0.0" in words
    assert "It is better than 1 of these 2 from 0 swipes on." in words
    assert "worse than strong; of the others" in words


def test_where_none_wins_the_words_say_from_when_on_ours_is_better() -> None:
    words = verdict_words(found(even=[0.7, 0.6, 0.6], weak=[0.5, 0.5, 0.5], crowd=[0.5, 0.6, 0.65]))
    assert words[0].startswith(f"No individual peer is better than {DEFAULT}")
    assert words[0].endswith("better than every one of them from 5 swipes on.")
    assert words[1].endswith("better than every one of them from 0 swipes on.")


def test_peers_are_compared_with_traits_where_those_were_tested() -> None:
    assert found(weak=[0.5] * 3).ours == DEFAULT
    comparison = found(TRAITS, weak=[0.75, 0.5, 0.5])
    assert comparison.ours == TRAITS
    assert verdict_words(comparison)[0].startswith(f"No individual peer is better than {TRAITS}")
    (row,) = difference_tables(comparison)[0].rows
    assert row["lead"] == pytest.approx(0.8 - 1.75 / 3, abs=0.01)


def test_a_lead_that_is_lost_again_does_not_count() -> None:
    comparison = found(late=[0.6, 0.6, 0.7])
    assert comparison.better_from(DEFAULT, "late") is None
    assert "It is not shown to be better than late after 20 swipes (" in verdict_words(comparison)[0]
    (row,) = difference_tables(comparison)[0].rows
    assert row["better_from"] == "never"


def test_a_peer_with_appeal_is_held_against_ours_with_appeal() -> None:
    with_appeal, without = sorted(
        difference_tables(found(**{"p": [0.5] * 3, "p + appeal": [0.5] * 3}))[1].rows[::3], key=str, reverse=True
    )
    gaps = {row["peer"]: row["without_prior"] for row in (with_appeal, without)}
    assert gaps["p + appeal"] > 0.08
    assert abs(gaps["p"]) < 0.02


def test_not_worse_means_the_whole_interval_at_every_number_of_swipes() -> None:
    rows = {row["peer"]: row for row in difference_tables(found(close=[0.71, 0.5, 0.5], weak=[0.6, 0.6, 0.6]))[0].rows}
    assert rows["close"]["lead"] > 0.0
    assert rows["close"]["not_worse"] == "not shown"
    assert rows["weak"]["not_worse"] == "yes"


def test_a_log_with_fewer_others_keeps_who_is_tested() -> None:
    trial = Trial(small_table(0), Protocol(times=(0, 5), rest=2))
    fewer = with_fit_users(trial, 2)
    assert fewer.fit.sum() == 2
    assert [fewer.table.users[user] for user in fewer.tested] == [trial.table.users[user] for user in trial.tested]
    for one, other in zip(fewer.tested, trial.tested, strict=True):
        mine, same = fewer.holdout_rows(np.array([one]), 0), trial.holdout_rows(np.array([other]), 0)
        assert np.array_equal(fewer.table.candidate[mine], trial.table.candidate[same])
        assert np.array_equal(fewer.table.like[mine], trial.table.like[same])


def point(fit_users: int, swipes: int) -> CrossoverPoint:
    """Ahead of our learner alone and of no other individual learner."""
    ahead, behind = Interval(0.02, 0.01, 0.03), Interval(-0.02, -0.03, -0.01)
    return CrossoverPoint(
        fit_users=fit_users,
        swipes=swipes,
        peer_auc=0.62,
        alone_auc=0.6,
        default_auc=0.64,
        over_alone=ahead,
        over_default=behind,
        ahead_of=1,
        individuals=3,
    )


def test_a_peer_that_never_overtakes_is_said_not_to() -> None:
    points = [*(point(number, t) for number in (10, 20) for t in (5, 50)), point(40, 5)]
    words = crossover_words(Crossover("crowd", points, 3, 30))
    assert "ahead of every individual learner: never within this log." in words
    assert f"ahead of {ALONE} alone: after 5, 50 swipes with 10, 20 fit users; after 5 swipes with 40 fit users." in words
    assert f"ahead of {DEFAULT}: never within this log." in words


def test_the_grid_has_one_row_per_number_of_fit_users() -> None:
    grid, every = crossover_tables(Crossover("crowd", [point(number, t) for number in (10, 20) for t in (5, 50)], 3, 30))
    assert grid.rows == [{"fit_users": number, "after_5": "+0.020 (1)", "after_50": "+0.020 (1)"} for number in (10, 20)]
    assert [row["default_verdict"] for row in every.rows] == ["worse"] * 4


def test_intervals_at_single_numbers_hold_for_all_of_them_at_once() -> None:
    """Of twenty equals at three numbers of swipes, pointwise intervals call some better or worse; simultaneous ones do not."""
    scores = found(**{f"peer {place}": [0.7, 0.7, 0.7] for place in range(20)}).scores
    names = [name for name in scores.names if name.startswith("peer")]
    pointwise = [
        scores.auc[place].difference(list(scores.names).index(name), list(scores.names).index(DEFAULT))
        for place in range(3)
        for name in names
    ]
    together = [scores.difference_at(place, name, DEFAULT) for place in range(3) for name in names]
    assert any(gap.above_zero or gap.below_zero for gap in pointwise)
    assert not any(gap.above_zero or gap.below_zero for gap in together)
    assert all(wide.low < narrow.low for wide, narrow in zip(together, pointwise, strict=True))


def test_the_advice_names_a_peer_that_is_ahead_of_ours() -> None:
    def advice(**areas: list[float]) -> list[str]:
        peers = found(**areas)
        result = SimpleNamespace(peers=peers, recommendation=SimpleNamespace(chosen=DEFAULT))
        return _better_peer(result)  # type: ignore[arg-type]

    assert advice(weak=[0.6, 0.6, 0.6]) == []
    (words,) = advice(weak=[0.6, 0.6, 0.6], crowd=[0.75, 0.76, 0.77])
    assert words.startswith(f"Use crowd, of another library: it ranks better than {DEFAULT} here, by +0.06")
