"""The whole in figures. What grows with use is looked at through a window or a sample, and how much was looked at is said."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import numpy as np

from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.rules.kaczmarz import gram_condition
from kaczmatch.recommend.decks.exposure import gini, top_share
from kaczmatch.schemas.operators import (
    MinuteCounts,
    Overview,
    PeopleSample,
    PolicyUse,
    SuspiciousAccount,
    WebhookStatus,
)
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import seen_features, with_features
from kaczmatch.service.domain.impressions import Impression, impressions
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    AbuseReport,
    Decision,
    Delivery,
    Event,
    EventKind,
    LastWebhookError,
    MatchSide,
    Model,
    OutboxMessage,
    Person,
    PersonCounters,
    StoredDeck,
    StoredState,
)
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.messages.webhook_delivery import FAILED, WAITING

_WINDOW = timedelta(hours=1)
_MOST = 20_000  # lines looked at for a figure: enough for a rate
_DECKS = 600  # whose cards are looked at
_SWIPERS = 300  # people whose Δs and κ are looked at: who swiped last
_BLOCK = 32  # of their swipes, as many as a block of the paper has
_MANY, _NEARLY_ALL = 100, 0.95  # swipes and the share of likes from which somebody seems to like everybody
_CURVE = 100  # parts of the Lorenz curve


def overview(context: Context) -> Overview:
    now = context.clock()
    with context.store.read() as reader:
        current = context.catalogue.current(reader)
        model, fold = reader.get(Model, current.model), context.catalogue.fold(reader, current.model)
        people = reader.count(Person)
        lines = reader.find(Event, newest=True, limit=_MOST)
        decks = [one for one in reader.find(StoredDeck, newest=True, limit=_MOST) if one.at > now - _WINDOW]
        cards = impressions(reader, reader.find(StoredDeck, newest=True, limit=_DECKS))
        recent = _last_swipes(lines)
        learned = reader.many(StoredState, [(current.model, user) for user in recent])
        names = context.catalogue.vocabulary(reader, current.vocabulary).dimensions
        swipes = [one for one in lines if one.at > now - _WINDOW and _decided(one) and not one.imported]
        likes = [one for one in swipes if one.decision == Decision.LIKE]
        policies = Counter((deck.policy, deck.sampler, deck.reason) for deck in decks)
        shown = _shown(cards, people)
        gauged = [_gauged(with_features(reader, rows), names) for rows in recent.values()]
        return Overview(
            people=people,
            paused=reader.count(Person, paused=True),
            matches=reader.count(MatchSide, ended=None) // 2,
            open_reports=reader.count(AbuseReport, closed=None),
            kept_messages=reader.count(OutboxMessage),
            learner="" if model is None else model.learner,
            prior="" if model is None else model.prior,
            model_from=None if model is None else model.used_from,
            refit=model is not None and model.refit,
            traits=fold.traits is not None if model is not None and model.learner == ProbitTraits.slug else None,
            webhooks=webhook_status(reader),
            like_rate=len(likes) / len(swipes) if swipes else None,
            match_rate=sum(one.match is not None for one in likes) / len(likes) if likes else None,
            policies=tuple(
                PolicyUse(policy=policy, sampler=sampler, reason=reason, decks=number)
                for (policy, sampler, reason), number in policies.most_common(20)
            ),
            stability=tuple(round(one.stability[-1], 3) for one in learned.values() if one.stability),
            conditions=tuple(round(condition, 2) for condition, _ in gauged),
            singular=sum(singular for _, singular in gauged),
            exposure_gini=gini(shown) if shown else None,
            exposure_gini_lowest=_lowest_gini(len(cards), people) if shown else None,
            exposure_top=top_share(shown) if shown else None,
            lorenz=_lorenz(shown),
            minutes=_minutes(swipes, decks, now),
            like_everybody=_suspects(reader, {one.user for one in swipes}),
            sample=PeopleSample(events=len(lines), cards=len(cards), people=len(recent)),
        )


def webhook_status(reader: Reader) -> WebhookStatus:
    last = reader.get(LastWebhookError, SINGLE_ROW)
    return WebhookStatus(
        waiting=reader.count(Delivery, status=WAITING),
        failed=reader.count(Delivery, status=FAILED),
        last_error="" if last is None else f"{last.topic}, try {last.attempts}: {last.problem}",
        last_error_at=None if last is None else last.at,
    )


def _suspects(reader: Reader, users: Collection[str]) -> tuple[SuspiciousAccount, ...]:
    standings = reader.many(PersonCounters, [(user,) for user in users]).values()
    found = [one for one in standings if one.swipes >= _MANY and one.likes >= _NEARLY_ALL * one.swipes]
    return tuple(
        SuspiciousAccount(user=one.user, swipes=one.swipes, likes=one.likes)
        for one in sorted(found, key=lambda one: (-one.swipes, one.user))
    )


def _decided(event: Event) -> bool:
    return event.kind == EventKind.SWIPED and event.decision in (Decision.LIKE, Decision.PASS)


def _last_swipes(newest_first: Iterable[Event]) -> dict[str, list[Event]]:
    """The last swipes of those who swiped last and often enough to say something."""
    found = defaultdict[str, list[Event]](list)
    for event in newest_first:
        if _decided(event) and (event.user in found or len(found) < 2 * _SWIPERS) and len(found[event.user]) < _BLOCK:
            found[event.user].append(event)
    often = [(user, events) for user, events in found.items() if len(events) >= _BLOCK // 4]
    return dict(often[:_SWIPERS])


def _gauged(events: Sequence[Event], names: int) -> tuple[float, bool]:
    """κ with damping, and whether there is none without."""
    rows = np.array([unpacked(seen_features(event), max(names, 1)) for event in events])
    return gram_condition(rows, 1.0), math.isinf(gram_condition(rows))


def _shown(cards: Iterable[Impression], people: int) -> list[int]:
    """How often each person was shown, who was not included; empty where nobody was."""
    counts = Counter(card.candidate for card in cards)
    return [*counts.values(), *[0] * max(0, people - len(counts))] if counts else []


def _lowest_gini(cards: int, people: int) -> float:
    """Everybody gets as many cards, or one more: cards cannot be divided."""
    one_more = cards % people
    return one_more * (people - one_more) / (people * cards)


def _lorenz(shown: Sequence[int]) -> tuple[float, ...]:
    if not shown:
        return ()
    reached = np.concatenate([[0.0], np.cumsum(np.sort(np.array(shown, np.float64)))])
    places = np.linspace(0, len(shown), _CURVE + 1)
    share = np.interp(places, np.arange(len(shown) + 1), reached / reached[-1])
    return tuple(round(float(one), 4) for one in share)


def _minutes(swipes: Sequence[Event], decks: Sequence[StoredDeck], now: datetime) -> tuple[MinuteCounts, ...]:
    start = (now - _WINDOW).replace(second=0, microsecond=0)
    swiped, liked, dealt = Counter[datetime](), Counter[datetime](), Counter[datetime]()
    for one in swipes:
        minute = one.at.replace(second=0, microsecond=0)
        swiped[minute] += 1
        liked[minute] += one.decision == Decision.LIKE
    for deck in decks:
        dealt[deck.at.replace(second=0, microsecond=0)] += 1
    times = [start + timedelta(minutes=place) for place in range(61)]
    return tuple(MinuteCounts(at=time, swipes=swiped[time], likes=liked[time], decks=dealt[time]) for time in times)
