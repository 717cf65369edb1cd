"""The prior is fitted again from what people like now, and everybody is relearned under it in the background."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import final

from kaczmatch.service.domain.catalogue import FIRST_ANSWERS_ONLY
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import REFIT
from kaczmatch.service.domain.records import SINGLE_ROW, LastRefit, Model, PersonCounters
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.operations.models import Models


@final
@dataclass(frozen=True, slots=True)
class Refit:
    """The use cases of fitting the prior again: as a job of the service, or by an operator's command."""

    context: Context

    def run(self) -> str | None:
        """Fit and switch. Returns the version of the new prior, or None where too few people have swiped."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            model = reader.get(Model, current.model)
        if model is None:
            return None
        settings = {FIRST_ANSWERS_ONLY: False} | json.loads(model.settings)  # learned as before, from another start
        models = Models(self.context)
        prior = models.fit_prior(model.learner, settings)
        if prior is None or prior.version == model.prior:
            return None
        models.relearn(model.learner, settings, prior, refit=True)
        return prior.version

    def run_if_due(self, *, every: timedelta, min_people: int) -> str | None:
        """Run if the last refit is old enough, enough people have swiped, and no other process is at it."""

        def claim(transaction: Transaction) -> bool:
            """The process that writes the time first does it."""
            if not self._is_due(transaction, every):
                return False
            transaction.put(LastRefit(at=self.context.clock()))
            return True

        with self.context.store.read() as reader:
            building = self.context.catalogue.current(reader).building
            # People are counted only while a refit is due: once there are enough of them, it soon is not any more.
            wanted = not building and self._is_due(reader, every) and people_who_swiped(reader) >= min_people
        return self.run() if wanted and self.context.store.write(claim, locks=[REFIT]).result() else None

    def _is_due(self, reader: Reader, every: timedelta) -> bool:
        last = reader.get(LastRefit, SINGLE_ROW)
        return last is None or self.context.clock() - last.at >= every


def people_who_swiped(reader: Reader) -> int:
    """How many people have liked or passed on somebody. The store counts; no record is loaded."""
    return reader.count(PersonCounters) - reader.count(PersonCounters, swipes=0)
