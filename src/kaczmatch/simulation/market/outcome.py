"""What came of a market, read off its log."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, did_you_mean
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
    ranking: float = math.nan  # AUC of those whom people were not shown, by what was learned of each; mean over people
    group_shown: float = math.nan  # how often somebody of a group is shown, in units of how often somebody else is
    group_matches: float = math.nan  # matches per person of the group, in the same units


def outcome(log: MarketLog, town: Town, ranking: Vector | None = None, group: str = "") -> MarketOutcome:
    matched = effective(log, town)
    inside = members(town, group)
    both = np.concatenate([log.viewer[matched], log.candidate[matched]])
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
        ranking=float(np.nanmean(ranking)) if ranking is not None and np.isfinite(ranking).any() else math.nan,
        group_shown=_beside_others(log.candidate, inside),
        group_matches=_beside_others(both, inside),
    )


def members(town: Town, group: str) -> NDArray[np.bool_]:
    """Who has the tag, or is of the kind, that a group is named by; nobody without a name."""
    tags = [term.name for term in town.vocabulary.terms]
    kinds = frozenset[str]().union(*(profile.i_am for profile in town.profiles))
    if group in tags:
        return np.array([profile.features[tags.index(group)] > 0.0 for profile in town.profiles])
    if group and group not in kinds:
        raise InvalidInput("group", f"there is no kind and no tag {group!r}; {did_you_mean(group, [*kinds, *tags])}")
    return np.array([group in profile.i_am for profile in town.profiles])


def _beside_others(people: NDArray[Any], inside: NDArray[np.bool_]) -> float:
    """How often each member of a group is among `people`, in units of how often each of the others is."""
    counts = np.bincount(people, minlength=len(inside))
    others = float(counts[~inside].mean()) if not inside.all() else 0.0
    return float(counts[inside].mean()) / others if inside.any() and others else math.nan


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
