"""`kaczmatch relearn` and `kaczmatch refit`."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.cli.operate.store_access import json_settings, open_store_of, operator_errors, say, settings_from
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.service.domain.catalogue import model_learner, neutral_prior
from kaczmatch.service.operations.appeal_recount import recount_appeal
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.relearning import Relearning


def relearn(config: Path | None, slug: str, text: str) -> None:
    with operator_errors(), open_store_of(settings_from(config)) as (_, context):
        settings, models = json_settings("settings", text), Models(context)
        with context.store.read() as reader:
            words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        rule = model_learner(slug, settings)
        with RowProgress() as progress:
            prior = models.fit_prior(slug, settings) or neutral_prior(rule, words.dimensions)
            recount_appeal(context, lambda done, total: progress("counting appeal", done, total))
            number = Relearning(context).relearn(
                slug, settings, prior, lambda done, total: progress("learning anew", done, total)
            )
        say(f"model {number} is in use: {slug}, everybody's swipes learned anew from {prior.version}")


def refit(config: Path | None) -> None:
    with operator_errors(), open_store_of(settings_from(config)) as (_, context):
        version = Refit(context).run()
        say(f"newcomers now start from {version}" if version else "too few people have swiped, or nothing has changed")
