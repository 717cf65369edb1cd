"""What the report says of peers."""

from __future__ import annotations

from collections.abc import Sequence

from kaczmatch.charts.lines import line_chart
from kaczmatch.evaluation.beside import ALONE, DEFAULT, Beside, beside, lead_tables, quality_table, verdict_words
from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import APPEAL, Frozen
from kaczmatch.evaluation.overtaking import overtaking_tables, overtaking_words
from kaczmatch.evaluation.peers.contract import Clock, Peer
from kaczmatch.evaluation.peers.from_others import BPR
from kaczmatch.evaluation.progress import Progress
from kaczmatch.evaluation.trial import Trial
from kaczmatch.report.results import Figure, Part

DRAWN = 4  # peers in the figure, the best; and those that learn from others


def peers_part(
    trial: Trial, contenders: Sequence[Contender], ours: Frozen, peers: Sequence[Peer], progress: Progress, clock: Clock
) -> Part:
    found = beside(trial, contenders, ours, peers, progress, clock)
    words = [
        "Other libraries' learners on the same users and candidates, under the same protocol: learn on the first swipes, freeze, rank the rest. Individual peers learn from a user's "
        "own swipes, from the tags alone and with appeal as one more feature; implicit is fitted anew after each number of swipes, to all swipes of the fitted users and the "
        "first of everybody tested.",
        *verdict_words(found),
    ]
    tables = [quality_table(trial, found), *lead_tables(found)]
    for peer in peers:
        if peer.name == BPR:
            grid, each = overtaking_tables(trial, found, peer, progress, clock)
            words.append(overtaking_words(each, peer.name))
            tables += [grid, each]
    return Part("peers", "Beside what people use today", words, tables, [_figure(found)])


def _figure(found: Beside) -> Figure:
    standing = found.standing
    best = sorted((peer for peer in found.peers if peer.individual), key=lambda peer: -standing.mean(peer.name).mean)[:DRAWN]
    names = [DEFAULT, ALONE, APPEAL, *(peer.name for peer in [*best, *(each for each in found.peers if not each.individual)])]
    rows = [
        {"learner": name, "swipes": t, **standing.at(place, name)._asdict()}
        for place, t in enumerate(found.times)
        for name in names
    ]
    chart = line_chart(
        [{"auc": row.pop("mean"), **row} for row in rows], x="swipes", y="auc", title="Beside what people use today", names=names,
        x_title="swipes learned from", y_title="AUC, mean over users", height=340,
    )  # fmt: skip
    return Figure("peers", chart, "95 % intervals over users, bootstrap")
