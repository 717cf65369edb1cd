"""The prior is fitted again from what people like now, and everybody is relearned under it in the background."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import final

from kaczmatch.service.domain.catalogue import FIRST_ANSWERS_ONLY
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import REFIT
from kaczmatch.service.domain.records import SINGLE_ROW, LastRefit, Model, StoredState
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.relearning import Relearning


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
        prior = Models(self.context).fit_prior(model.learner, settings)
        if prior is None or prior.version == model.prior:
            return None
        Relearning(self.context).relearn(model.learner, settings, prior, refit=True)
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
            current = self.context.catalogue.current(reader)
            due = not current.building and self._is_due(reader, every)
            wanted = due and have_swiped(reader, current.model, min_people)
        return self.run() if wanted and self.context.store.write(claim, locks=[REFIT]).result() else None

    def _is_due(self, reader: Reader, every: timedelta) -> bool:
        last = reader.get(LastRefit, SINGLE_ROW)
        return last is None or self.context.clock() - last.at >= every


def have_swiped(reader: Reader, model: int, people: int) -> bool:
    """Whether so many people have swiped: whoever has, has a state. The store passes over all of them but one."""
    return people < 1 or bool(reader.find(StoredState, model=model, skip=people - 1, limit=1))
