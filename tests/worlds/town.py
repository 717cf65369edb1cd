"""A small town on any store: the whole service in this process, with a clock and ids that tests control."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import count
from typing import Any, TypeVar

import numpy as np

from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import with_features
from kaczmatch.service.domain.impressions import Impression, answered_cards, impressions
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import Event, PersonCounters, Record, StoredDeck, StoredState
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.matches import Matches
from kaczmatch.service.meeting.open_deck import OpenDeck
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.ranking import CandidateRanking
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import RecordedSwipe, Swipe, Swipes
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.privacy.erasure import Erasure
from worlds.clock import Clock

TAGS = ("jazz", "chess", "climbing", "cooking", "theatre", "cycling")
R = TypeVar("R", bound=Record)


def about(name: str = "Somebody", *, man: bool = False, tags: Sequence[str] = ("jazz",), **more: Any) -> ProfileInput:
    """A woman who looks for men, or a man who looks for women."""
    sides = ("man", "woman") if man else ("woman", "man")
    says = {"name": name, "born": date(1995, 3, 1), "i_am": frozenset(sides[:1]), "i_look_for": frozenset(sides[1:])}
    if "latitude" in more:
        more["location"] = {"latitude": more.pop("latitude"), "longitude": more.pop("longitude")}
    return ProfileInput(**(says | {"tags": frozenset(tags)} | more))


def about_in_turn(place: int, **more: Any) -> ProfileInput:
    """Women and men in turn, with birthdays and tags that differ."""
    tags = [TAGS[place % 6], TAGS[(place * 5 + 1) % 6]]
    says: dict[str, Any] = {"name": f"Person {place}", "tags": tags, "born": date(1990, 1, 1 + place % 28)}
    return about(man=place % 2 == 1, **(says | more))


class Town:
    """Everything of the service, and shortcuts to it."""

    def __init__(
        self,
        store: Store,
        *,
        learner: str = "probit-diag",
        settings: dict[str, Any] | None = None,
        tags: Sequence[str] = TAGS,
        features: Sequence[str] = (),
        clock: Clock | None = None,
        before: Town | None = None,  # whose place this one takes, after a restart
        snapshot: SnapshotFiles | None = None,
        **rules: Any,
    ) -> None:
        self.clock = clock or (Clock() if before is None else before.clock)
        self.numbers = count(1) if before is None else before.numbers
        rules = {"deck_size": 4, "away_days": None} | rules
        self.context = Context(store, ServiceConfig(**rules), self.clock, lambda: f"id{next(self.numbers)}", snapshot=snapshot)
        self.models, self.relearning = Models(self.context), Relearning(self.context)
        self.models.set_up(Vocabulary.of(tags, features), learner, {"appeal": True} if settings is None else settings)
        self.rng = np.random.default_rng(7)
        self.people, self.swiping, self.undoing = Profiles(self.context), Swipes(self.context), Undo(self.context)
        tokens = ErasedTokens(self.context, b"secret")
        self.matching, self.safety, self.preferences = (
            Matches(self.context),
            Safety(self.context, tokens),
            Preferences(self.context),
        )
        self.ranking, self.erasing = (
            CandidateRanking(self.context, lambda: self.rng),
            Erasure(self.context, Scrubbing(self.context), tokens),
        )
        self.world = ServingIndex(self.context)
        self.world.load()
        self.decks = Decks(self.context, self.world, lambda: self.rng)

    @property
    def now(self) -> datetime:
        return self.clock.now

    def wait(self, **time: float) -> None:
        self.clock.wait(**time)

    def move_in(self, *users: str, man: bool = False, tags: Sequence[str] = ("jazz",), **more: Any) -> None:
        for user in users:
            said: dict[str, Any] = {"name": user.title(), "man": man, "tags": tags} | more
            self.people.put(user, about(**said)).result()
        self.world.follow()

    def couples(self, number: int) -> None:
        """w0, w1, … and m0, m1, …, each with two tags of their own."""
        for place in range(number):
            tags = [TAGS[place % len(TAGS)], TAGS[(place + 1 + place // len(TAGS)) % len(TAGS)]]
            self.move_in(f"w{place}", tags=tags)
            self.move_in(f"m{place}", man=True, tags=tags[::-1])

    def populate(self, number: int) -> None:
        """p0, p1, …: women and men in turn."""
        for moving in [self.people.put(f"p{place}", about_in_turn(place)) for place in range(number)]:
            moving.result()
        self.world.follow()

    def deck(self, user: str, size: int | None = None) -> OpenDeck:
        return self.decks.deck(user, size)

    def shown(self, user: str, candidate: str) -> str:
        """A deck of `user` in which `candidate` is; the two must fit."""
        hand = self.deck(user, 100)
        assert hand.deck is not None, hand.empty
        assert candidate in {card.person.id for card in hand.cards}, f"{candidate} was not dealt"
        return hand.deck.id

    def swipe(self, user: str, candidate: str, decision: str = "like", *, id: str = "", deck: str | None = None) -> RecordedSwipe:
        self.wait(seconds=1)
        deck = self.shown(user, candidate) if deck is None else deck
        identifier = id or f"s{next(self.numbers)}"
        swipe = Swipe(user=user, id=identifier, candidate=candidate, decision=decision, deck=deck)
        return self.swiping.swipe(swipe).result()

    def swipe_outside(self, user: str, candidate: str, decision: str = "like", *, id: str = "") -> RecordedSwipe:
        """On somebody whom the app found itself."""
        return self.swipe(user, candidate, decision, id=id, deck="")

    def import_swipe(self, user: str, candidate: str, decision: str = "like", *, id: str = "") -> RecordedSwipe:
        """A swipe of before: nobody is told what comes of it."""
        swipe = Swipe(user=user, id=id or f"s{next(self.numbers)}", candidate=candidate, decision=decision, deck="")
        return self.swiping.import_swipe(swipe, self.now).result()

    def announce(self, user: str, number: int, topic: str = "match.created") -> None:
        """Something for the app to hear of, with a number by which a test knows it again."""
        told = {"user": user, "n": number}
        self.context.store.write(lambda tx: announce(tx, self.context, topic, user, told), locks=[user]).result()

    def find(self, kind: type[R], **equal: Any) -> list[R]:
        with self.context.store.read() as reader:
            return list(reader.find(kind, **equal))

    def cards(self, **equal: Any) -> list[Impression]:
        """The cards of decks."""
        with self.context.store.read() as reader:
            return impressions(reader, reader.find(StoredDeck, **equal))

    def answers(self, **equal: Any) -> dict[str, Event | None]:
        """The swipes that answered the cards of decks, by candidate."""
        with self.context.store.read() as reader:
            return {card.candidate: swipe for card, swipe in answered_cards(reader, reader.find(StoredDeck, **equal))}

    def learned(self, user: str) -> StoredState | None:
        with self.context.store.read() as reader:
            return reader.get(StoredState, self.context.catalogue.current(reader).model, user)

    def standing(self, user: str) -> PersonCounters:
        return next(one for one in self.find(PersonCounters) if one.user == user)

    def events(self, user: str) -> list[Event]:
        with self.context.store.read() as reader:
            return with_features(reader, reader.find(Event, user=user))
