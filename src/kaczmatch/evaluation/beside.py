"""Our default beside what a team would use instead: quality, time a swipe, and who wins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import expit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.bootstrap import Interval
from kaczmatch.evaluation.calibration import calibration_error, losses
from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import APPEAL, Frozen
from kaczmatch.evaluation.peers.contract import Clock, Peer, Showing
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.peers.own import as_peer
from kaczmatch.evaluation.progress import Progress
from kaczmatch.evaluation.standing import BootstrapScores
from kaczmatch.evaluation.trial import Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.progressive import progressive
from kaczmatch.report.results import Table

ALONE, WITH_APPEAL, DEFAULT = "probit-diag", "probit-diag + appeal", "probit-diag + population + appeal"
OURS = (DEFAULT, WITH_APPEAL, ALONE)
MARGIN = 0.005  # an AUC lower by less is not worse


@final
@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Ours and the peers on the same users, drawn again together."""

    standing: BootstrapScores
    peers: Sequence[Peer]
    said: Mapping[str, Vector]  # probabilities of `trial.rows(users, 0, times[-1])`
    microseconds: Mapping[str, float]  # a swipe

    @property
    def times(self) -> Sequence[int]:
        return self.standing.found.times

    def leads(self, name: str, other: str) -> list[Interval]:
        """Of one over the other at each t."""
        return [self.standing.difference(place, name, other) for place in range(len(self.times))]

    def better_from(self, name: str, other: str) -> int | None:
        """The number of swipes from which on it is better at every t; None where there is none."""
        found = None
        for t, gap in zip(reversed(self.times), reversed(self.leads(name, other)), strict=True):
            if not gap.above_zero:
                break
            found = t
        return found


def beside(
    trial: Trial, contenders: Sequence[Contender], found: Frozen, peers: Sequence[Peer], progress: Progress, clock: Clock
) -> Beside:
    """Every peer on the users and candidates that ours were tested on; ours are timed as the peers are, by live swipes."""
    ours = _ours(contenders)
    progress.stage("peers", (len(ours) + len(peers)) * len(found.times) * len(found.users))
    shown: dict[str, Showing] = {
        peer.name: peer.show(trial, found.times, found.users, clock=clock, advance=progress.advance)
        for peer in [*map(as_peer, ours), *peers]
    }
    log = trial.log.rows(trial.rows(found.users, 0, found.times[-1]))
    said = {
        each.name: progressive(each.learner, log, prior=each.prior)
        for each in ours
        if isinstance(each.learner, ProbabilisticLearner)
    }
    said |= {name: np.asarray(expit(each.said)) for name, each in shown.items() if each.said is not None}
    names = [*OURS, APPEAL, *(peer.name for peer in peers)]
    areas = np.stack([_areas(found, name) if name in found.names else shown[name].auc for name in names], axis=2)
    together = Frozen(names, found.times, found.users, areas, np.full_like(areas, np.nan))  # nobody looks at nDCG here
    standing = BootstrapScores.of(together, np.random.default_rng([trial.protocol.seed, 13]))
    return Beside(standing, peers, said, {name: 1e6 * each.seconds_a_swipe for name, each in shown.items()})


def _ours(contenders: Sequence[Contender]) -> list[Contender]:
    """The default, and the same learner with no more than an individual peer has."""
    default, alone = (next(each for each in contenders if each.name == name) for name in (DEFAULT, ALONE))
    return [default, Contender(WITH_APPEAL, default.learner, alone.prior), alone]


def _areas(found: Frozen, name: str) -> Matrix:
    areas: Matrix = found.auc[:, :, list(found.names).index(name)]
    return areas


def quality_table(trial: Trial, found: Beside) -> Table:
    """AUC at each t, probabilities and time, best mean first."""
    standing = found.standing
    probabilities = _probabilities(trial, found)
    names = sorted(standing.found.names, key=lambda name: -standing.mean(name).mean)
    rows = []
    for name in names:
        row: dict[str, Any] = {"learner": name, "microseconds_a_swipe": found.microseconds.get(name, math.nan)}
        row |= {f"after_{t}": standing.at(place, name).mean for place, t in enumerate(found.times)}
        row |= probabilities.get(name, {"log_loss": math.nan, "calibration_error": math.nan})
        rows.append(row)
    note = (
        f"AUC after so many swipes, the same {standing.users:,} users at each. Log-loss and calibration error of what was said before each of a user's first "
        f"{found.times[-1]} swipes, where a probability is said. Time is that of learning the median swipe, one after the other; implicit's that of a fit to "
        "everybody, divided by the swipes in it: it has no smaller step."
    )
    return Table("peers", "Quality and time a swipe, beside what people use today", rows, note, timed=True)


def _probabilities(trial: Trial, found: Beside) -> dict[str, dict[str, float]]:
    rows = trial.rows(found.standing.found.users, 0, found.times[-1])
    like, (_, place) = trial.table.like[rows], np.unique(trial.table.user[rows], return_inverse=True)
    swipes = np.bincount(place)
    return {
        name: {
            "log_loss": float((np.bincount(place, losses(said, like)) / swipes).mean()),
            "calibration_error": calibration_error(said, like),
        }
        for name, said in found.said.items()
    }


def lead_tables(found: Beside) -> list[Table]:
    """How far the default is ahead of each peer: over all t, from which t on, and at each."""
    over_all, each_t = [], []
    for peer in found.peers:
        equal = counterpart(peer)
        leads, unhelped = found.leads(DEFAULT, peer.name), found.leads(equal, peer.name)
        since, lowest = found.better_from(DEFAULT, peer.name), min(leads, key=lambda gap: gap.low)
        mean, without_prior = found.standing.lead(DEFAULT, peer.name), found.standing.lead(equal, peer.name)
        over_all.append(
            {
                "peer": peer.name,
                "lead": mean.mean,
                "low": mean.low,
                "high": mean.high,
                "lowest_low": lowest.low,
                "not_worse": "yes" if lowest.low > -MARGIN else "not shown",
                "better_from": "never" if since is None else since,
                "without_prior": without_prior.mean,
                "without_prior_low": without_prior.low,
                "without_prior_high": without_prior.high,
            }
        )
        for t, gap, other in zip(found.times, leads, unhelped, strict=True):
            row: dict[str, Any] = {"peer": peer.name, "swipes": t}
            row |= dict(zip(("lead", "low", "high"), gap, strict=True))
            row |= dict(zip(("without_prior", "without_prior_low", "without_prior_high"), other, strict=True))
            each_t.append(row | {"verdict": verdict(gap)})
    over_all.sort(key=lambda row: float(str(row["lead"])))
    note = (
        f"{DEFAULT} minus the peer, user by user, mean over all numbers of swipes with its 95 % interval; lowest low: the lowest end of the intervals at the single "
        f"numbers of swipes, which is above -{MARGIN} where it is not worse anywhere. Without prior: {ALONE}, with "
        "appeal where the peer has it but nothing learned from the population, minus the peer."
    )
    return [
        Table("peers-leads", "How far the default is ahead of each peer in AUC", over_all, note),
        Table("peers-leads-at-each", "The same at each number of swipes", each_t, in_report=False),
    ]


def verdict(gap: Interval) -> str:
    return "better" if gap.above_zero else "worse" if gap.below_zero else "no difference seen"


def verdict_words(found: Beside) -> list[str]:
    """Who wins, in words; first where we do not."""
    words = []
    individual = [peer.name for peer in found.peers if peer.individual]
    for group, names in (("individual", individual), ("population", [p.name for p in found.peers if not p.individual])):
        if names:
            words.append(_against(found, group, names))
    verdicts = {peer.name: verdict(found.standing.lead(counterpart(peer), peer.name)) for peer in found.peers if peer.individual}
    better, worse = ([name for name, each in verdicts.items() if each == word] for word in ("better", "worse"))
    words.append(
        f"With no more than the peer has (no prior from the population, appeal only where the peer gets it), {ALONE} is better over all numbers of swipes than "
        f"{_list(better)}; worse than {_list(worse)}; of the others it is within error."
    )
    return words


def counterpart(peer: Peer) -> str:
    """Our learner with no more than the peer has."""
    return WITH_APPEAL if isinstance(peer, IndividualPeer) and peer.appeal else ALONE


def _against(found: Beside, group: str, names: Sequence[str]) -> str:
    lost = [
        f"{name} after {t} swipes ({_signed(gap)})"
        for name in names
        for t, gap in zip(found.times, found.leads(DEFAULT, name), strict=True)
        if gap.below_zero
    ]
    unclear = [
        f"{name} after {t} ({_signed(gap)})"
        for name in names
        for t, gap in zip(found.times, found.leads(DEFAULT, name), strict=True)
        if gap.low <= -MARGIN and not gap.below_zero
    ]
    wins = f"Ahead of {DEFAULT}: {_list(lost)}." if lost else f"No {group} peer is better than {DEFAULT} at any number of swipes."
    wins += f" Not shown to be within {MARGIN}: {_list(unclear)}." if unclear else ""
    return f"{wins} {_better(found, names)}"


def _better(found: Beside, names: Sequence[str]) -> str:
    """From when on the default is better than each, and where that is not shown of the last number of swipes, where not."""
    since = {name: found.better_from(DEFAULT, name) for name in names}
    known = [t for t in since.values() if t is not None]
    whom = "every one of them" if len(known) == len(names) else f"{len(known)} of these {len(names)}"
    words = [f"It is better than {whom} from {max(known)} swipes on."] if known else []
    words += [
        f"It is not shown to be better than {name} after {t} swipes ({_signed(gap)})."
        for name in names
        if since[name] is None
        for t, gap in zip(found.times, found.leads(DEFAULT, name), strict=True)
        if not gap.above_zero and not gap.below_zero
    ]
    return " ".join(words)


def _signed(gap: Interval) -> str:
    return f"{gap.mean:+.3f}, {gap.low:+.3f} to {gap.high:+.3f}"


def _list(names: Sequence[str]) -> str:
    return "; ".join(names) or "nobody"
