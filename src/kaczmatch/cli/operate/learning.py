"""`kaczmatch relearn`, `kaczmatch refit` and `kaczmatch models rollback`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kaczmatch.cli.operate.store_access import json_settings, open_store_of, operator_errors, say, settings_from, spread
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Model
from kaczmatch.service.operations.appeal_recount import recount_appeal
from kaczmatch.service.operations.models import Models, unfitted
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.relearning import Relearning


def relearn(config: Path | None, slug: str, text: str, *, ray: str | None, workers: int | None) -> None:
    with operator_errors(), open_store_of(read := settings_from(config)) as (store, context):
        settings, models, parts = json_settings("settings", text), Models(context), spread(read, store, ray, workers)
        with context.store.read() as reader:
            words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        with RowProgress() as progress:
            fitted = models.fit(slug, settings) or unfitted(slug, settings, words.dimensions)
            recount_appeal(context, lambda done, total: progress("counting appeal", done, total), parts)
            number = Relearning(context, parts).relearn(
                fitted.learner,
                fitted.settings,
                fitted.prior,
                lambda done, total: progress("learning anew", done, total),
                selection=fitted.selection,
                sites=fitted.sites,
            )
        learned = _words(fitted.learner, fitted.settings)
        say(f"model {number} is in use: {learned}, everybody's swipes learned anew from {fitted.prior.version}")


def rollback(config: Path | None) -> None:
    with operator_errors(), open_store_of(read := settings_from(config)) as (store, context), RowProgress() as progress:
        number = Relearning(context, spread(read, store, None, None)).rollback(
            lambda done, total: progress("learning anew", done, total)
        )
        say(f"model {number} is in use: it learns as the one before the last did")


def refit(config: Path | None, *, ray: str | None, workers: int | None) -> None:
    with operator_errors(), open_store_of(read := settings_from(config)) as (store, context):
        with RowProgress() as progress:
            parts = spread(read, store, ray, workers)
            version = Refit(context, parts).run(lambda done, total: progress("learning anew", done, total))
        why_not = "too few people have swiped, nothing has changed, or it would predict the last day's swipes worse"
        say(f"newcomers now start from {version}; the service learns by {_in_use(context)}" if version else why_not)


def _in_use(context: Context) -> str:
    with context.store.read() as reader:
        model = reader.get(Model, context.catalogue.current(reader).model)
    return "" if model is None else _words(model.learner, json.loads(model.settings))


def _words(learner: str, settings: Mapping[str, Any]) -> str:
    traits = settings.get("traits", 0)
    return f"{learner} with {traits} trait{'' if traits == 1 else 's'}" if traits else learner
