"""The report of an experiment: who was exposed to which arm, and what came of it. Sums over people alone, never one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import final

import numpy as np
from scipy.special import chdtrc

from kaczmatch.inference import clustered, sequential
from kaczmatch.schemas.experiments import ArmReport, Contrast, CoursePoint, ExperimentReport, OutcomeEstimate, SequentialEstimate
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.service.domain.impressions import answered_cards
from kaczmatch.service.domain.records import Decision, Event, StoredDeck
from kaczmatch.service.domain.store import Reader

OUTCOMES = ("likes a card", "matches a card")
_AT_ONCE = 200  # decks, with all events of their viewers
_POINTS = 100  # of a course, which is drawn


@final
@dataclass(slots=True)
class _Unit:
    """What is counted of one unit, in the arm of its first deck."""

    first: datetime
    over: datetime
    arm: str
    decks: int = 0
    cards: int = 0
    hits: list[int] = field(default_factory=lambda: [0] * len(OUTCOMES))


@final
@dataclass(frozen=True, slots=True)
class ExperimentReports:
    """The use case of reading an experiment."""

    context: Context

    def report(self, watch: Callable[[int, int], None] | None = None) -> ExperimentReport:
        """Of the experiment in the settings; without a name where there is none. However often one looks, the intervals hold."""
        experiment, now = self.context.config.experiment, self.context.clock()
        if experiment is None:
            return ExperimentReport(at=now, name="", assigned="", arms=(), contrasts=(), balance=None, strays=0, not_drawn=0)
        with self.context.store.read() as reader:
            units, strays, not_drawn = self._units(reader, experiment, watch)
        closed = now - self.context.config.deck_life  # until then the last deck of a unit could be answered
        # In the order of their first decks, which does not depend on what came of them.
        done = sorted((one for one in units if one.over <= closed), key=lambda one: one.first)
        arms = tuple(self._arm(arm, done, units) for arm in experiment.arms)
        alpha = sequential.ALPHA / (len(OUTCOMES) * (len(arms) - 1))
        contrasts = tuple(
            _contrast(arm.name, experiment.arms[0].name, place, done, alpha)
            for arm in experiment.arms[1:]
            for place in range(len(OUTCOMES))
        )
        return ExperimentReport(
            at=now,
            name=experiment.name,
            assigned=experiment.assigned,
            arms=arms,
            contrasts=contrasts,
            balance=_balance(experiment.arms, units),
            strays=strays,
            not_drawn=not_drawn,
        )

    def _units(
        self, reader: Reader, experiment: Experiment, watch: Callable[[int, int], None] | None
    ) -> tuple[list[_Unit], int, int]:
        units: dict[str, _Unit] = {}
        total, seen, strays, not_drawn = reader.count(StoredDeck, experiment=experiment.name), 0, 0, 0
        for decks in _pages(reader, experiment.name):
            swipes: dict[tuple[str, str], list[Event | None]] = defaultdict(list)
            for card, swipe in answered_cards(reader, decks):
                swipes[card.user, card.deck].append(swipe)
            for deck in decks:
                if deck.min_propensity is None:
                    not_drawn += deck.eligible
                    continue
                if not experiment.dealt(deck):
                    strays += 1
                    continue
                key = deck.unit or deck.user
                unit = units.get(key)
                if unit is None:
                    unit = units[key] = _Unit(deck.at, experiment.over(deck.unit, deck.at), deck.arm)
                if deck.at < unit.over:
                    _count(swipes[deck.user, deck.id], unit, unit.over + self.context.config.deck_life)
            seen += len(decks)
            if watch is not None:
                watch(seen, total)
        return list(units.values()), strays, not_drawn

    def _arm(self, arm: Arm, done: Sequence[_Unit], units: Sequence[_Unit]) -> ArmReport:
        assigned = [unit for unit in units if unit.arm == arm.name]
        counted = [unit for unit in done if unit.arm == arm.name]
        return ArmReport(
            name=arm.name,
            policy=arm.policy.slug,
            share=arm.share,
            units=len(counted),
            waiting=len(assigned) - len(counted),
            decks=sum(unit.decks for unit in assigned),
            cards=sum(unit.cards for unit in assigned),
            outcomes=tuple(
                OutcomeEstimate(outcome=outcome, mean=_interval(sequential.mean_sequence(_rates(counted, place)).last()))
                for place, outcome in enumerate(OUTCOMES)
            ),
        )


def _count(swipes: Sequence[Event | None], unit: _Unit, until: datetime) -> None:
    """A deck's cards by the swipes that answered them, the likes among them, and the likes that made a match.

    Answers that come later would change the past.
    """
    liked = [swipe for swipe in swipes if swipe is not None and swipe.decision == Decision.LIKE and swipe.at <= until]
    unit.decks += 1
    unit.cards += len(swipes)
    unit.hits[0] += len(liked)
    unit.hits[1] += sum(swipe.match is not None for swipe in liked)


def _pages(reader: Reader, experiment: str) -> Iterator[list[StoredDeck]]:
    after: tuple[object, ...] = ()
    while page := reader.find(StoredDeck, experiment=experiment, after=after, limit=_AT_ONCE):
        yield page
        after = tuple(getattr(page[-1], name) for name in StoredDeck.listed_by())


def _rates(units: Sequence[_Unit], outcome: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A card of each unit, so that everybody counts alike, however many decks they looked at."""
    return np.array([one.hits[outcome] / max(one.cards, 1) for one in units])


def _contrast(arm: str, first: str, outcome: int, done: Sequence[_Unit], alpha: float) -> Contrast:
    both = [one for one in done if one.arm in (arm, first)]
    course = sequential.difference_sequence(
        _rates(both, outcome), np.array([one.arm == arm for one in both], np.bool_), alpha=alpha
    )
    known = np.flatnonzero(~np.isnan(course.value))
    shown = known[np.unique(np.linspace(0, len(known) - 1, _POINTS).astype(np.int64))] if len(known) else known
    points = tuple(
        CoursePoint(units=int(n) + 1, value=float(course.value[n]), low=float(course.low[n]), high=float(course.high[n]))
        for n in shown
    )
    return Contrast(arm=arm, outcome=OUTCOMES[outcome], difference=_interval(course.last()), course=points)


def _interval(estimate: clustered.RatioEstimate | None) -> SequentialEstimate | None:
    return None if estimate is None else SequentialEstimate(value=estimate.value, low=estimate.low, high=estimate.high)


def _balance(arms: Sequence[Arm], units: Sequence[_Unit]) -> float | None:
    counts: dict[str, int] = defaultdict(int)
    for one in units:
        counts[one.arm] += 1
    total, shares = sum(counts[arm.name] for arm in arms), sum(arm.share for arm in arms)
    if not total:
        return None
    expected = {arm.name: total * arm.share / shares for arm in arms}
    distance = sum((counts[name] - number) ** 2 / number for name, number in expected.items())
    return float(chdtrc(len(arms) - 1, distance))  # scipy.stats has it too, and takes half a second to import
