"""`kaczmatch relearn`, `kaczmatch refit` and `kaczmatch models rollback`."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.cli.operate.store_access import json_settings, open_store_of, operator_errors, say, settings_from, spread
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.service.domain.context import Context
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
            progress("fitting", 0, 0)
            fitted = models.fit(slug, settings) or unfitted(slug, settings, words.dimensions)
            recount_appeal(context, lambda done, total: progress("counting appeal", done, total), parts)
            number = Relearning(context, parts).relearn(
                fitted.learner,
                fitted.settings,
                fitted.prior,
                lambda done, total: progress("learning anew", done, total),
                sites=fitted.sites,
            )
        say(f"model {number} is in use: {_in_use(context)}, everybody's swipes learned anew from {fitted.prior.version}")


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
            progress("fitting", 0, 0)
            version = Refit(context, parts).run(lambda done, total: progress("learning anew", done, total))
        why_not = "too few people have swiped, nothing has changed, or it would not predict the latest swipes better"
        say(f"newcomers now start from {version}; the service learns by {_in_use(context)}" if version else why_not)


def _in_use(context: Context) -> str:
    with context.store.read() as reader:
        fold = context.catalogue.fold(reader, context.catalogue.current(reader).model)
    return fold.learner.slug
