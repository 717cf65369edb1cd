"""Invented people reply: a person whom a visitor likes decides on the visitor, by their own taste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.app.demo.population import DemoPopulation
from kaczmatch.service.domain.capacity import without_full
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Decision, Event, EventKind, LatestDecision, Person
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Cursor
from kaczmatch.service.meeting.swipes import Swipe, Swipes

_RESERVED = 1.7  # log-odds: about one like in six matches at first, which tests/functional/api/test_demo.py counts


@final
@dataclass(slots=True)
class DemoReplies:
    """A job that runs every few seconds."""

    context: Context
    population: DemoPopulation
    rng: np.random.Generator
    _read: Cursor | None = None

    def reply(self) -> int:
        """Decide on everybody who has liked an invented person since the last call. Returns how many decisions that were."""
        with self.context.store.read() as reader:
            events, self._read = reader.became_visible(Event, self._read, 1_000)
            fresh = [one for one in events if one.kind == EventKind.SWIPED and not one.imported]
            wanted = [(one.candidate or "", one.user) for one in fresh if one.decision == Decision.LIKE]
            known = reader.many(LatestDecision, wanted)
            answers = [pair for pair in wanted if pair not in known]
            people = {user: person for (user,), person in reader.many(Person, [(user,) for _, user in answers]).items()}
        return sum(self._decide(other, people[user]) for other, user in answers if user in people)

    def _decide(self, other: str, visitor: Person) -> bool:
        ids = list(self.population.people)
        if other not in self.population.people or self._full(other, visitor):
            return False
        tags = unpacked(visitor.features, len(self.population.names))
        odds = float(self.population.like_log_odds(ids.index(other), tags[None, :])[0]) - _RESERVED
        decision = "like" if self.rng.random() < 1.0 / (1.0 + np.exp(-odds)) else "pass"
        swipe = Swipe(user=other, id=f"demo-{self.context.new_id()}", candidate=visitor.id, decision=decision, deck="")
        try:
            Swipes(self.context).import_swipe(swipe, self.context.clock()).result()
        except Refusal:
            return False
        return True

    def _full(self, other: str, visitor: Person) -> bool:
        """Whether one of them takes no match; an imported like would make one all the same."""
        with self.context.store.read() as reader:
            people = [person for person in (reader.get(Person, other), visitor) if person is not None]
            return len(without_full(reader, people, self.context.config.schema)) < 2
