"""`kaczmatch off-policy`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.app.composing import policy_of
from kaczmatch.cli.operating import Stages, chosen, opened, plainly, settings_from
from kaczmatch.cli.session import show
from kaczmatch.inference.off_policy import OffPolicyEstimate
from kaczmatch.learners.registry import learner as make_learner
from kaczmatch.report.results import Part, Table
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy

Named = tuple[str, str]  # a slug and its settings as JSON


def run(config: Path | None, policy: Named, learner: Named | None, since: datetime | None, seed: int, *, as_json: bool) -> None:
    with plainly():
        rule = None if learner is None else make_learner(learner[0], **chosen("learner-settings", learner[1]))
        target = TargetPolicy(policy_of(policy[0], chosen("settings", policy[1])), rule)
        start = None if since is None else since.replace(tzinfo=since.tzinfo or UTC)
        with opened(settings_from(config)) as (_, context), Stages() as stages:
            found = OffPolicyEvaluation(context).evaluate(
                target, np.random.default_rng(seed), since=start, watch=lambda done, total: stages("dealing again", done, total)
            )
    table = Table("off-policy", "Likes a card", _rows(found))
    if as_json:
        sys.stdout.write(table.json())
        return
    words = (
        f"{found.decks:,} decks and {found.cards:,} cards of {found.people:,} people say as much about this policy as "
        f"{found.effective_cards:,.0f} of its own cards for {found.effective_people:,.0f} people. Weights are "
        f"{found.mean_weight.value:.2f} on average; they should be 1. Intervals are of 95 % and take people for independent."
    )
    show([Part("off-policy", "What this policy would have earned", [words], [table])])


def _rows(found: OffPolicyEstimate) -> list[dict[str, Any]]:
    named = {
        "as dealt": found.logged,
        "this policy, doubly robust": found.doubly_robust,
        "this policy, IPS": found.ips,
        "this policy, SNIPS": found.snips,
    }
    return [{"what": name, "likes_a_card": one.value, "low": one.low, "high": one.high} for name, one in named.items()]
