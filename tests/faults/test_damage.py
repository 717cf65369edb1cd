"""A snapshot that is damaged is noticed when a process starts: no crash, no wrong deck."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import damaging


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    damaging.prepare(folder)
    return folder


def test_whatever_is_damaged_is_noticed_and_nothing_wrong_is_dealt(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file once, in a process that may crash."""
    found = list(damaging.outcomes(place, 1, Random(5).randrange(1_000)))  # noqa: S311
    assert len(found) >= 30
    assert [one for one in found if one.crashed or not one.noticed or not one.same] == []
