"""The comparison with peers as tables, words and a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kaczmatch.charts.lines import line_chart
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL
from kaczmatch.evaluation.peers.comparison import ALONE, DEFAULT, MARGIN, PeerComparison, ProbabilityQuality, counterpart
from kaczmatch.evaluation.peers.crossover import Crossover
from kaczmatch.evaluation.reporting.crossover import crossover_tables, crossover_words
from kaczmatch.evaluation.reporting.ranking import auc_points
from kaczmatch.evaluation.reporting.words import inside_brackets, listed, verdict
from kaczmatch.report.results import Figure, ReportPart, Table

DRAWN = 4  # individual peers in the figure, the best ones
_UNKNOWN = ProbabilityQuality(math.nan, math.nan)


def peer_part(found: PeerComparison, crossing: Crossover | None) -> ReportPart:
    words = [
        "Other libraries' learners on the same users and candidates, under the same protocol: learn on the first swipes, freeze, rank the rest. Individual peers learn from a user's "
        "own swipes, from the tags alone and with appeal as one more feature. implicit and EASE learn from everybody and are fitted anew after each number of swipes, to what the protocol "
        "allows. Intervals at single numbers of swipes hold for all peers and numbers at once.",
        *verdict_words(found),
    ]
    tables = [quality_table(found), *difference_tables(found)]
    if crossing is not None:
        words.append(crossover_words(crossing))
        tables += crossover_tables(crossing)
    return ReportPart("peers", "Compared with other libraries", words, tables, [_figure(found)])


def _figure(found: PeerComparison) -> Figure:
    scores = found.scores
    best = sorted((peer for peer in found.peers if peer.individual), key=lambda peer: -scores.mean_auc(peer.name).mean)[:DRAWN]
    names = [
        *dict.fromkeys([found.ours, DEFAULT]),
        ALONE,
        APPEAL,
        *(peer.name for peer in [*best, *(each for each in found.peers if not each.individual)]),
    ]
    chart = line_chart(
        auc_points(scores, names), x="swipes", y="auc", title="Compared with other libraries", names=names,
        x_title="swipes learned from", y_title="AUC, mean over users", height=340,
    )  # fmt: skip
    return Figure("peers", chart, "95 % intervals over users, bootstrap")


def quality_table(found: PeerComparison) -> Table:
    """AUC at each number of swipes, probabilities and time, best mean first."""
    scores = found.scores
    rows = []
    for name in sorted(scores.names, key=lambda name: -scores.mean_auc(name).mean):
        quality = found.probabilities.get(name, _UNKNOWN)
        row: dict[str, Any] = {"learner": name, "microseconds_per_swipe": found.microseconds.get(name, math.nan)}
        row |= {f"after_{t}": scores.auc_at(place, name).mean for place, t in enumerate(found.times)}
        rows.append(row | {"log_loss": quality.log_loss, "calibration_error": quality.calibration_error})
    note = (
        f"AUC after so many swipes, the same {scores.users:,} users at each. Log-loss and calibration error of the probabilities before each of a user's first "
        f"{found.times[-1]} swipes. Time is that of learning the median swipe, one after the other; implicit's is that of a fit to "
        "everybody, divided by the swipes in it: it has no smaller step."
    )
    return Table("peers", "Quality and time per swipe, compared with other libraries", rows, note, timed=True)


def difference_tables(found: PeerComparison) -> list[Table]:
    """How far ours is ahead of each peer: over all numbers of swipes, from which on, and at each."""
    over_all, at_each = [], []
    for peer in found.peers:
        equal = counterpart(peer)
        gaps, equal_gaps = found.differences(found.ours, peer.name), found.differences(equal, peer.name)
        since, lowest = found.better_from(found.ours, peer.name), min(gaps, key=lambda gap: gap.low)
        mean, without_prior = found.scores.mean_difference(found.ours, peer.name), found.scores.mean_difference(equal, peer.name)
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
        for t, gap, other in zip(found.times, gaps, equal_gaps, strict=True):
            row: dict[str, Any] = {"peer": peer.name, "swipes": t}
            row |= dict(zip(("lead", "low", "high"), gap, strict=True))
            row |= dict(zip(("without_prior", "without_prior_low", "without_prior_high"), other, strict=True))
            at_each.append(row | {"verdict": verdict(gap)})
    over_all.sort(key=lambda row: float(str(row["lead"])))
    note = (
        f"{found.ours} minus the peer, user by user, mean over all numbers of swipes with its 95 % interval. Lowest low: the lowest end of the intervals at the single "
        f"numbers of swipes, which is above -{MARGIN} where it is not worse anywhere. Without prior: {ALONE}, with "
        "appeal where the peer has it but nothing learned from the population, minus the peer."
    )
    return [
        Table("peers-leads", f"How far {found.ours} is ahead of each peer in AUC", over_all, note),
        Table("peers-leads-at-each", "The same at each number of swipes", at_each, in_report=False),
    ]


def verdict_words(found: PeerComparison) -> list[str]:
    """Who wins, in words; first where we do not."""
    words = []
    for group, individual in (("individual", True), ("population", False)):
        names = [peer.name for peer in found.peers if peer.individual == individual]
        if names:
            words.append(_group_words(found, group, names))
    gaps = {peer.name: found.scores.mean_difference(counterpart(peer), peer.name) for peer in found.peers if peer.individual}
    better, worse = ([name for name, gap in gaps.items() if verdict(gap) == word] for word in ("better", "worse"))
    words.append(
        f"With no more than the peer has (no prior from the population, appeal only where the peer gets it), {ALONE} is better over all numbers of swipes than "
        f"{listed(better)}; worse than {listed(worse)}; of the others it is within error."
    )
    return words


def _group_words(found: PeerComparison, group: str, names: Sequence[str]) -> str:
    gaps = [(name, t, gap) for name in names for t, gap in zip(found.times, found.differences(found.ours, name), strict=True)]
    lost = [f"{name} after {t} swipes ({inside_brackets(gap)})" for name, t, gap in gaps if gap.below_zero]
    unclear = [f"{name} after {t} ({inside_brackets(gap)})" for name, t, gap in gaps if gap.low <= -MARGIN and not gap.below_zero]
    wins = (
        f"Ahead of {found.ours}: {listed(lost)}."
        if lost
        else f"No {group} peer is better than {found.ours} at any number of swipes."
    )
    wins += f" Not shown to be within {MARGIN}: {listed(unclear)}." if unclear else ""
    return f"{wins} {_since_when(found, names)}"


def _since_when(found: PeerComparison, names: Sequence[str]) -> str:
    """From when on ours is better than each peer. Where it is not, after which swipes that is not shown."""
    since = {name: found.better_from(found.ours, name) for name in names}
    known = [t for t in since.values() if t is not None]
    whom = "every one of them" if len(known) == len(names) else f"{len(known)} of these {len(names)}"
    words = [f"It is better than {whom} from {max(known)} swipes on."] if known else []
    words += [
        f"It is not shown to be better than {name} after {t} swipes ({inside_brackets(gap)})."
        for name in names
        if since[name] is None
        for t, gap in zip(found.times, found.differences(found.ours, name), strict=True)
        if not gap.above_zero and not gap.below_zero
    ]
    return " ".join(words)
