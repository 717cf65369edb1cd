"""Kernels are compiled once per installation, not once per start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.app.warm_up import warm_up
from kaczmatch.service.meeting.swipes import Swipes
from kaczmatch.settings.model import Settings

STARTED = """
from kaczmatch.app.warm_up import warm_up
from kaczmatch.recommend.index.packed_ids import PackedIds
from kaczmatch.settings.reading import read
warm_up(read())
print("ready", flush=True)
assert PackedIds.of(["ada", "bo"]).numbers(["bo"]).tolist() == [1]
"""


def test_a_later_start_compiles_nothing_and_the_first_deck_from_a_snapshot_loads_nothing(tmp_path: Path) -> None:
    """Numba says what it saves in its cache. Decks are drawn at random, so what one start did not need, the next one may."""
    environment = os.environ | {"NUMBA_DEBUG_CACHE": "1", "KACZMATCH_DATA": str(tmp_path)}
    for _ in range(5):
        said = subprocess.run(  # noqa: S603
            [sys.executable, "-c", STARTED], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        saved = [line for line in said.splitlines() if "data saved" in line]
        if not saved:
            break
    assert saved == []
    before, _, after = said.partition("ready\n")
    assert "data loaded" in before
    assert "packed_ids._find" in before
    assert "[cache]" not in after


def test_kernels_of_traits_are_ready_before_a_fit_finds_that_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    swiped, swipe = list[str](), Swipes.swipe

    def noted(swipes: Swipes, *what: Any) -> Any:
        with swipes.context.store.read() as reader:
            current = swipes.context.catalogue.current(reader)
            swiped.append(swipes.context.catalogue.fold(reader, current.model).learner.slug)
        return swipe(swipes, *what)

    monkeypatch.setattr(Swipes, "swipe", noted)
    warm_up(Settings())
    assert list(dict.fromkeys(swiped)) == ["probit-diag", "probit-traits"]
