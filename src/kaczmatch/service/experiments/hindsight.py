"""The past as decks met it: every deck that was dealt, with what was known and who was there at that moment.

It is read from the log. States are folds of the events until then, so they are those of the time; the same events can be folded
by another learner too. What the log does not keep is taken as it is now: profiles and vocabulary.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.event_fold import EventFold
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.policy import Experience, Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.service.domain.appeal import appeal_to, rating_evidence, with_rating
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold, without_undone
from kaczmatch.service.domain.records import (
    Block,
    Decision,
    Event,
    EventKind,
    Impression,
    MatchSide,
    Person,
    PersonCounters,
    StoredDeck,
)
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.experiments.past_states import PastStates
from kaczmatch.service.meeting.decks import MOST_ADMIRERS
from kaczmatch.service.meeting.profiles import profile_of


@final
@dataclass(frozen=True, slots=True, eq=False)
class PastDeck:
    """One deck that was dealt, and all that dealing it again takes."""

    deck: StoredDeck
    cards: tuple[Impression, ...]
    viewer: Viewer
    experience: Experience
    blocked: frozenset[str]
    recent: dict[Hashable, datetime]
    admirers: tuple[str, ...]
    recommender: Recommender
    exposure: Exposure  # of everybody, until then


@final
class Hindsight:
    """Walks through the log once; occasions come with a recommender that deals by `policy`.

    With a `learner`, everybody is taken to have been learned by it, from a neutral start; otherwise by the model in use then.
    """

    def __init__(self, context: Context, reader: Reader, policy: Policy, learner: Learner | None = None) -> None:
        self._context, self._reader, self._policy = context, reader, policy
        current = context.catalogue.current(reader)
        self._words = context.catalogue.vocabulary(reader, current.vocabulary)
        self._other = None if learner is None else self._fold_of(learner)
        self._minds: PastStates | None = None
        self._people = {person.id: person for person in reader.find(Person)}
        by_arrival = sorted(self._people.values(), key=lambda person: person.created)
        self._coming, self._here = deque(by_arrival), dict[str, Person]()
        self._leaving = deque(sorted((one for one in by_arrival if one.paused), key=lambda person: person.changed))
        self._apart: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        for match in reader.find(MatchSide):
            self._apart[match.user].append((match.at, match.other))
        for block in reader.find(Block):
            self._apart[block.user].append((block.at, block.other))
            self._apart[block.other].append((block.at, block.user))
        self._past: list[Event] = []
        self._met: dict[str, dict[Hashable, datetime]] = defaultdict(dict)
        self._likers: dict[str, dict[str, None]] = defaultdict(dict)  # the newest last
        self._standings: dict[str, PersonCounters] = {}
        self._judged: set[str] = set()
        self._exposure = Exposure(cap=context.config.exposure_cap)

    def past_decks(self, watch: Callable[[int, int], None] | None = None) -> Iterator[PastDeck]:
        """Every deck, in the order of time. Use one before you ask for the next: the world goes on."""
        decks = self._reader.find(StoredDeck)
        events = deque(without_undone(self._reader.find(Event)))
        for number, deck in enumerate(decks):
            # Events are in the order of their commits. One that was imported says an older time, and waits for those before it.
            while events and events[0].at < deck.at:
                self._happened(events.popleft())
            cards = tuple(self._reader.find(Impression, user=deck.user, deck=deck.id))
            if cards and deck.user in self._people:
                yield self._occasion(deck, cards)
            self._exposure.record([card.candidate for card in cards], deck.at)
            if watch is not None:
                watch(number + 1, len(decks))

    def _occasion(self, deck: StoredDeck, cards: tuple[Impression, ...]) -> PastDeck:
        minds, user, rules = self._settled(deck), deck.user, self._context.config
        profile = profile_of(self._people[user], self._words, rules.schema)
        taste = minds.tracked(user)
        return PastDeck(
            deck,
            cards,
            Viewer(profile, minds.fold.learner, minds.state(user), self._appeal(user, deck.at)),
            Experience(taste.swipes, taste.stability),
            frozenset(other for at, other in self._apart[user] if at <= deck.at),
            {other: at for other, at in self._met[user].items() if at > deck.at - rules.cooldown},
            tuple(reversed(self._likers[user]))[:MOST_ADMIRERS],
            minds.recommender,
            self._exposure,
        )

    def _settled(self, deck: StoredDeck) -> PastStates:
        """Everybody's mind at the moment of a deck."""
        minds = self._minds
        if minds is None or (self._other is None and minds.fold.model != deck.model):
            fold = self._other or self._context.catalogue.fold(self._reader, deck.model)
            minds = self._minds = PastStates(self._context.config, self._words, fold, self._policy)
            minds.enter(self._here.values())
            for event in self._past:
                minds.tell(event)
            self._judged.update(self._here)
        come, gone = (
            _until(self._coming, lambda one: one.created, deck.at),
            _until(self._leaving, lambda one: one.changed, deck.at),
        )
        self._here.update((person.id, person) for person in come)
        self._judged.update(person.id for person in come)
        for person in gone:
            self._here.pop(person.id, None)
        minds.enter(come)
        minds.leave(gone)
        minds.settle({user: self._appeal(user, deck.at) for user in self._judged})
        self._judged.clear()
        return minds

    def _happened(self, event: Event) -> None:
        self._past.append(event)
        if self._minds is not None:
            self._minds.tell(event)
        if event.kind != EventKind.SWIPED or event.candidate is None:
            return
        user, other, liked = event.user, event.candidate, event.decision == Decision.LIKE
        self._met[user][other] = max(event.at, self._met[user].get(other, event.at))
        self._likers[other].pop(user, None)
        if liked:
            self._likers[other][user] = None
        if event.decision != Decision.SKIP:
            mine, theirs = (self._standings.get(one, PersonCounters(user=one)) for one in (user, other))
            said = rating_evidence(mine, liked=liked)
            excess, information, weighed = with_rating(theirs, said, event.at, self._context.config.appeal)
            self._standings[other] = replace(theirs, excess=excess, information=information, appeal_as_of=weighed)
            self._standings[user] = replace(mine, swipes=mine.swipes + 1, likes=mine.likes + liked)
            self._judged.add(other)

    def _appeal(self, user: str, at: datetime) -> float:
        return appeal_to(self._standings.get(user, PersonCounters(user=user)), None, at, self._context.config.appeal)

    def _fold_of(self, learner: Learner) -> ModelFold:
        prior = neutral_prior(learner, self._words.dimensions)
        return ModelFold(0, EventFold(learner, prior), lambda _: self._words.dimensions)


def _until(waiting: deque[Person], moment: Callable[[Person], datetime], limit: datetime) -> list[Person]:
    """Whose time has come, in order."""
    found = []
    while waiting and moment(waiting[0]) <= limit:
        found.append(waiting.popleft())
    return found
