"""The learning half still answers what it answered. `frozen.py` says what is asked, and when the files may be written anew."""

from __future__ import annotations

import json

import pytest

from corpus.frozen import PARTS, differences, file_of, plain

STATES = 1e-9
PRINTED = 2e-6  # tables have six digits


@pytest.mark.parametrize("part", PARTS)
def test_answers_are_as_they_were(part: str) -> None:
    kept = json.loads(file_of(part).read_text(encoding="utf-8"))
    found = differences(plain(PARTS[part]()), kept, STATES if part in ("states", "population") else PRINTED)
    assert not found, "\n".join(found[:20])
