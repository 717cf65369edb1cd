"""What came of a market, read off its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.decks.exposure import gini
from kaczmatch.simulation.market.engine import MarketLog
from kaczmatch.simulation.market.town import Pairs, Town

SOON: Final = 50  # cards


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketOutcome:
    """Matches are effective ones: both said like, and both meant it. `waiting` is the congestion: the share of likes that whoever
    was liked has not been shown by the end."""

    cards: int
    matches: int
    matches_per_100: float  # cards shown, to both sides
    of_possible: float  # share of all matches that an oracle, who knows what everybody would say, could make
    matched_soon: float  # share of people with a match within their first 50 cards
    cards_to_match: float  # cards a person saw until the first match, all of them where there was none
    waiting: float
    gini: float  # of how often each was shown
    like_rate: float


def outcome(log: MarketLog, town: Town) -> MarketOutcome:
    matched = effective(log, town)
    first, seen = first_match(log, town), np.bincount(log.viewer, minlength=len(town))
    cards, matches = len(log), int(np.count_nonzero(matched))
    return MarketOutcome(
        cards=cards,
        matches=matches,
        matches_per_100=100.0 * matches / max(cards, 1),
        of_possible=2.0 * matches / max(int(np.count_nonzero(town.possible)), 1),
        matched_soon=float(np.mean(first <= SOON)),
        cards_to_match=float(np.mean(np.minimum(first, seen))),
        waiting=_waiting(log, town),
        gini=gini(np.bincount(log.candidate, minlength=len(town))),
        like_rate=float(log.liked.mean()) if cards else 0.0,
    )


def effective(log: MarketLog, town: Town) -> Pairs:
    """Which cards made a match that both meant."""
    both = town.likes[log.viewer, log.candidate] & town.likes[log.candidate, log.viewer]
    return np.asarray(log.matched & both)


def first_match(log: MarketLog, town: Town) -> Vector:
    """How many cards each person had seen when their first effective match was made; infinite where there was none."""
    rows = [np.flatnonzero(log.viewer == person) for person in range(len(town))]
    first = np.full(len(town), np.inf)
    for row in np.flatnonzero(effective(log, town)).tolist():
        for person in (log.viewer[row], log.candidate[row]):
            first[person] = min(first[person], np.searchsorted(rows[person], row, side="right"))
    return first


def _waiting(log: MarketLog, town: Town) -> float:
    liked, shown = np.zeros((2, len(town), len(town)), np.bool_)
    liked[log.viewer[log.liked], log.candidate[log.liked]] = True
    shown[log.viewer, log.candidate] = True
    return int(np.count_nonzero(liked & ~shown.T)) / max(int(np.count_nonzero(liked)), 1)
