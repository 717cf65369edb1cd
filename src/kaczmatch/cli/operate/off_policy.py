"""`kaczmatch off-policy`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.app.composition import policy_of
from kaczmatch.cli.operate.store_access import json_settings, open_store_of, operator_errors, settings_from
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.inference.off_policy import OffPolicyEstimate
from kaczmatch.learners.registry import learner as make_learner
from kaczmatch.report.results import ReportPart, Table
from kaczmatch.service.experiments.off_policy import OffPolicyEvaluation, TargetPolicy

Named = tuple[str, str]  # a slug and its settings as JSON


def run(config: Path | None, policy: Named, learner: Named | None, since: datetime | None, seed: int, *, as_json: bool) -> None:
    with operator_errors():
        rule = None if learner is None else make_learner(learner[0], **json_settings("learner-settings", learner[1]))
        target = TargetPolicy(policy_of(policy[0], json_settings("settings", policy[1])), rule)
        start = None if since is None else since.replace(tzinfo=since.tzinfo or UTC)
        with open_store_of(settings_from(config)) as (_, context), RowProgress() as progress:
            found = OffPolicyEvaluation(context).evaluate(
                target, np.random.default_rng(seed), since=start, watch=lambda done, total: progress("dealing again", done, total)
            )
    table = Table("off-policy", "Likes per card", _rows(found))
    if as_json:
        sys.stdout.write(table.json())
        return
    words = (
        f"{found.decks:,} decks and {found.cards:,} cards of {found.people:,} people say as much about this policy as "
        f"{found.effective_cards:,.0f} of its own cards for {found.effective_people:,.0f} people. Weights are "
        f"{found.mean_weight.value:.2f} on average; they should be 1. Intervals are of 95 % and take people for independent."
    )
    show_parts([ReportPart("off-policy", "What this policy would have earned", [words, *_left_out(found)], [table])])


def _left_out(found: OffPolicyEstimate) -> list[str]:
    words = []
    if found.not_drawn:
        words.append(
            f"{found.not_drawn:,} cards and swipes were not drawn, because the app brought the people. They are left out."
        )
    if found.unsupported_decks:
        words.append(f"{found.unsupported_decks:,} decks gave some people no chance at all. They are left out.")
    return words


def _rows(found: OffPolicyEstimate) -> list[dict[str, Any]]:
    named = {
        "as dealt": found.logged,
        "this policy, doubly robust": found.doubly_robust,
        "this policy, IPS": found.ips,
        "this policy, SNIPS": found.snips,
    }
    return [{"what": name, "likes_per_card": one.value, "low": one.low, "high": one.high} for name, one in named.items()]
