"""Another half-life of appeal: what was said stays, and is summed up anew."""

from __future__ import annotations

from dataclasses import replace

from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.service.operations.appeal_recount import recount_appeal
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import MemoryStore
from worlds.town import Town


def test_appeal_is_counted_anew_under_another_half_life() -> None:
    town = Town(MemoryStore())
    town.populate(8)
    for user in ("p0", "p2", "p4"):
        town.import_swipe(user, "p1")
        town.wait(days=30)
    aged = replace(town.context, config=replace(town.context.config, appeal=AppealModel(half_life_days=9.0)))
    assert any("the appeal of 'p1' is not the sum" in problem for problem in verify(aged).problems)
    told: list[tuple[int, int]] = []
    recount_appeal(aged, lambda done, total: told.append((done, total)))
    assert verify(aged).problems == ()
    assert told == [(8, 8)]
