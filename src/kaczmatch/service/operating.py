"""What an operator may look at: figures of the whole, and one person's timeline, where every look leaves an audit line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import final

from kaczmatch.recommend.exposure import gini
from kaczmatch.service.context import Context
from kaczmatch.service.folding import LIKE, PASS, SWIPED
from kaczmatch.service.people import present
from kaczmatch.service.records import Audit, Dealt, Event, Impression, Learned, Match, Message, Model, Person, Report, Standing
from kaczmatch.service.store import Reader, Unit

_WINDOW = timedelta(hours=1)
_MOST = 20_000  # lines looked at for a figure: enough for a rate
_MANY, _NEARLY_ALL = 100, 0.95  # swipes and the share of likes from which somebody seems to like everybody


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened to or by somebody."""

    at: datetime
    what: str
    other: str = ""
    detail: str = ""


@final
@dataclass(frozen=True, slots=True)
class Minute:
    """What happened within one minute."""

    at: datetime
    swipes: int
    likes: int
    decks: int


@final
@dataclass(frozen=True, slots=True)
class Suspect:
    """Somebody who likes nearly everybody, as bots do."""

    user: str
    swipes: int
    likes: int


@final
@dataclass(frozen=True, slots=True)
class Overview:
    """The whole in figures; rates are over the last hour."""

    people: int
    paused: int
    matches: int
    open_reports: int
    kept_messages: int
    learner: str
    prior: str
    like_rate: float | None
    match_rate: float | None
    policies: tuple[tuple[str, str, str, int], ...]  # policy, sampler, reason, decks
    stability: tuple[float, ...]  # Δs of people's last sessions
    exposure_gini: float | None
    minutes: tuple[Minute, ...]
    like_everybody: tuple[Suspect, ...]  # of those who swiped within the hour, the busiest first


@final
@dataclass(frozen=True, slots=True)
class Operating:
    """The use cases of an operator."""

    context: Context

    def timeline(self, user: str, actor: str, *, limit: int = 200) -> list[Moment]:
        """What one person did and what was done about them, the newest first. That it was looked at is written down first."""

        def work(unit: Unit) -> None:
            present(unit, user)
            line = Audit(id=self.context.new_id(), at=self.context.clock(), actor=actor, action="looked at timeline", user=user)
            unit.append(line)

        self.context.store.write(work, people=[user], reads=[(Person, (user,))]).result()
        with self.context.store.read() as reader:
            moments = [
                Moment(one.at, one.kind if one.decision is None else one.decision, one.candidate or "", one.deck or "")
                for one in reader.find(Event, user=user, newest=True, limit=limit)
            ]
            moments += [
                Moment(one.at, "deck dealt", detail=f"{one.policy}: {one.reason}")
                for one in reader.find(Dealt, user=user, newest=True, limit=limit)
            ]
            moments += [Moment(one.at, "matched", one.other) for one in reader.find(Match, user=user, newest=True, limit=limit)]
            made, received = ({"user": user}, "reported", "other"), ({"other": user}, "was reported by", "user")
            for equal, what, other in (made, received):
                found = reader.find(Report, newest=True, limit=limit, **equal)
                moments += [Moment(one.at, what, getattr(one, other), one.reason) for one in found]
            looks = reader.find(Audit, user=user, newest=True, limit=limit)
            moments += [Moment(one.at, one.action, detail=one.actor) for one in looks]
        return sorted(moments, key=lambda one: one.at, reverse=True)[:limit]

    def overview(self) -> Overview:
        now = self.context.clock()
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            model = reader.get(Model, current.model)
            people = reader.count(Person)
            events = [one for one in reader.find(Event, newest=True, limit=_MOST) if one.at > now - _WINDOW]
            decks = reader.find(Dealt, after=(now - _WINDOW,), limit=_MOST)
            shown = Counter(card.other for card in reader.find(Impression, newest=True, limit=_MOST))
            learned = reader.find(Learned, model=current.model, limit=2_000)
            swipes = [one for one in events if one.kind == SWIPED and one.decision in (LIKE, PASS) and not one.imported]
            likes = [one for one in swipes if one.decision == LIKE]
            policies = Counter((deck.policy, deck.sampler, deck.reason) for deck in decks)
            return Overview(
                people=people,
                paused=reader.count(Person, paused=True),
                matches=reader.count(Match, ended=None) // 2,
                open_reports=reader.count(Report, closed=None),
                kept_messages=reader.count(Message),
                learner="" if model is None else model.learner,
                prior="" if model is None else model.prior,
                like_rate=len(likes) / len(swipes) if swipes else None,
                match_rate=sum(one.match is not None for one in likes) / len(likes) if likes else None,
                policies=tuple((*names, number) for names, number in policies.most_common(20)),
                stability=tuple(round(one.stability[-1], 3) for one in learned if one.stability),
                exposure_gini=gini([*shown.values(), *[0] * max(0, people - len(shown))]) if shown else None,
                minutes=_minutes(swipes, decks, now),
                like_everybody=_suspects(reader, {one.user for one in swipes}),
            )


def _suspects(reader: Reader, users: Collection[str]) -> tuple[Suspect, ...]:
    standings = reader.many(Standing, [(user,) for user in users]).values()
    found = [one for one in standings if one.swipes >= _MANY and one.likes >= _NEARLY_ALL * one.swipes]
    return tuple(Suspect(one.user, one.swipes, one.likes) for one in sorted(found, key=lambda one: (-one.swipes, one.user)))


def _minutes(swipes: Sequence[Event], decks: Sequence[Dealt], now: datetime) -> tuple[Minute, ...]:
    start = (now - _WINDOW).replace(second=0, microsecond=0)
    swiped, liked, dealt = Counter[datetime](), Counter[datetime](), Counter[datetime]()
    for one in swipes:
        minute = one.at.replace(second=0, microsecond=0)
        swiped[minute] += 1
        liked[minute] += one.decision == LIKE
    for deck in decks:
        dealt[deck.at.replace(second=0, microsecond=0)] += 1
    times = [start + timedelta(minutes=place) for place in range(61)]
    return tuple(Minute(time, swiped[time], liked[time], dealt[time]) for time in times)
