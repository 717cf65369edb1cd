"""The prior is fitted again from what people like now, and everybody is relearned under it in the background."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import final

from kaczmatch.service.domain.catalogue import FIRST_ANSWERS_ONLY
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import REFIT
from kaczmatch.service.domain.records import SINGLE_ROW, Event, LastRefit, Model, StoredState
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.recent_loss import latest_from
from kaczmatch.service.operations.relearning import Progress, Relearning


@final
@dataclass(frozen=True, slots=True)
class Refit:
    """The use cases of fitting the prior again: as a job of the service, or by an operator's command."""

    context: Context
    parts: StoreParts = field(default_factory=StoreParts)

    def run(self, on_progress: Progress | None = None) -> str | None:
        """Fit and switch. Returns the version of the new prior.

        None: too few people have swiped, nothing has changed, or it does not predict the latest swipes better.
        """
        with self.context.store.read() as reader:
            current, latest = self.context.catalogue.current(reader), latest_from(reader)
            model = reader.get(Model, current.model)
        if model is None:
            return None
        settings = {FIRST_ANSWERS_ONLY: False} | json.loads(model.settings)  # learned as before, from another start
        fitted = Models(self.context).fit(model.learner, settings, before=latest)
        if fitted is None or fitted.prior.version == model.prior:
            return None
        number = Relearning(self.context, self.parts).relearn(
            fitted.learner, fitted.settings, fitted.prior, on_progress, refit=True, sites=fitted.sites
        )
        return fitted.prior.version if number else None

    def run_if_due(self, *, every: timedelta, min_people: int, min_events: int = 0) -> str | None:
        """Run if the last refit is old enough or there are twice as many events, enough people have swiped, and no other process
        is at it. The first time there must be `min_events`."""

        def claim(transaction: Transaction) -> bool:
            """The process that writes the time first does it."""
            if not self._is_due(transaction, every, min_events):
                return False
            transaction.put(LastRefit(at=self.context.clock(), events=_events(transaction)))
            return True

        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            due = not current.building and self._is_due(reader, every, min_events)
            wanted = due and have_swiped(reader, current.model, min_people)
        return self.run() if wanted and self.context.store.write(claim, locks=[REFIT]).result() else None

    def _is_due(self, reader: Reader, every: timedelta, min_events: int) -> bool:
        last, events = reader.get(LastRefit, SINGLE_ROW), _events(reader)
        if last is None:
            return events >= min_events
        return self.context.clock() - last.at >= every or events >= 2 * max(last.events, min_events, 1)


def _events(reader: Reader) -> int:
    """How many there have been, about: the number of the newest."""
    return max((event.number for event in reader.find(Event, newest=True, limit=1)), default=0)


def have_swiped(reader: Reader, model: int, people: int) -> bool:
    """Whether so many people have swiped: whoever has, has a state. The store passes over all of them but one."""
    return people < 1 or bool(reader.find(StoredState, model=model, skip=people - 1, limit=1))
