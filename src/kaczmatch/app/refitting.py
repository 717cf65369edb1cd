"""Where newcomers start: fitted again from what people like, now and then, and taken into use in the background."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import REFIT
from kaczmatch.service.domain.records import SINGLE_ROW, LastRefit, Model, StoredState
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.operations.models import Models
from kaczmatch.settings.model import Settings

_LOOKED_AT = 20_000


@final
@dataclass(frozen=True, slots=True)
class Refitting:
    """As a job of the service, or by `kaczmatch refit`."""

    context: Context
    settings: Settings

    def run(self) -> str | None:
        """Fit and switch; the version of the new prior, or None where too few people have swiped."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            model = reader.get(Model, current.model)
        if model is None:
            return None
        settings, models = json.loads(model.settings), Models(self.context)
        prior = models.fit_prior(model.learner, settings)
        if prior is None or prior.version == model.prior:
            return None
        models.change(model.learner, settings, prior)
        return prior.version

    def run_if_due(self) -> str | None:
        """Where it is time, enough people have swiped, and no other process is at it."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            known = reader.find(StoredState, model=current.model, limit=_LOOKED_AT)
        if current.building or sum(one.swipes > 0 for one in known) < self.settings.refit_people:
            return None
        return self.run() if self.context.store.write(self._claim, locks=[REFIT]).result() else None

    def _claim(self, transaction: Transaction) -> bool:
        """Whoever writes the time first does it."""
        now, last = self.context.clock(), transaction.get(LastRefit, SINGLE_ROW)
        if last is not None and now - last.at < timedelta(days=self.settings.refit_days):
            return False
        transaction.put(LastRefit(at=now))
        return True
