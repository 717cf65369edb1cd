"""The service still answers what it answered, on each database. `life.py` says what is asked, and when to write the file anew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpus.frozen import differences
from corpus.life import FILE, Lived, live

pytestmark = pytest.mark.server
DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    folder = tmp_path_factory.mktemp("life")
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        return live(folder, databases=(server.new(), server.new()))
    return live(folder)


def test_answers_are_as_they_were(lived: Lived) -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    found = differences(lived.kept, kept, 1e-8)
    assert not found, "\n".join(found[:20])


def test_every_operation_is_asked(lived: Lived) -> None:
    paths: dict[str, dict[str, Any]] = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
    asked = {f"{method.lower()} /v1{path}" for method, path in lived.asked}
    left = [
        f"{method} {path}"
        for path, methods in paths.items()
        for method in methods
        if not any(re.fullmatch(f"{method} {re.sub('{[a-z]+}', '[^/]+', path)}", one) for one in asked)
    ]
    assert left == []
