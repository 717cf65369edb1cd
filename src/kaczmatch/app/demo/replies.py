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
from kaczmatch.service.meeting.swipes import Swipe, Swipes

_RESERVED = 1.0  # log-odds: about one like in six matches at first, which tests/functional/api/test_demo.py counts


@final
@dataclass(slots=True)
class DemoReplies:
    """A job that runs every few seconds."""

    context: Context
    population: DemoPopulation
    rng: np.random.Generator
    _read_to: int | None = None

    def reply(self) -> int:
        """Decide on everybody who has liked an invented person since the last call. Returns how many decisions that were."""
        with self.context.store.read() as reader:
            if self._read_to is None:
                newest = reader.find(Event, newest=True, limit=1)
                self._read_to = newest[0].number if newest else 0
            events = reader.find(Event, after=(self._read_to,), limit=1_000)
            fresh = [one for one in events if one.kind == EventKind.SWIPED and not one.imported]
            wanted = [(one.candidate or "", one.user) for one in fresh if one.decision == Decision.LIKE]
            known = reader.many(LatestDecision, wanted)
            answers = [pair for pair in wanted if pair not in known]
            people = {user: person for (user,), person in reader.many(Person, [(user,) for _, user in answers]).items()}
        self._read_to = max((one.number for one in events), default=self._read_to)
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
