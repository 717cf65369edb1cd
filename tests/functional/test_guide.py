"""The guide, mentoring, jobs and the tutorial work as they stand: their blocks are run in order, against a real service."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from executed import BLOCK, PORT, executed, run
from worlds.ports import free_port

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "blocks", "said"),
    [
        ("service.md", 10, ('"written":4', "match.created", '"match"')),
        ("mentoring.md", 8, ('"written":6', "match: ", "full 'mara' has as many open matches", "you have as many open matches")),
        (
            "jobs.md",
            6,
            ("Data analyst Example Ltd like", "match: Data analyst https://jobs.example/1 no age", "['Data analyst']"),
        ),
        ("tutorial.md", 7, ("60 users", "26 swipes")),
    ],
)
def test_the_page_works_as_it_stands_from_an_empty_folder(tmp_path: Path, page: str, blocks: int, said: tuple[str, ...]) -> None:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("needs bash and curl")
    text, port = (DOCS / page).read_text(encoding="utf-8"), str(free_port())
    assert len(BLOCK.findall(text)) >= blocks
    printed = run(text.replace(PORT, port), tmp_path)
    assert [words for words in said if words not in "\n".join(printed)] == []
    assert executed(text, printed).replace(port, PORT) == text  # what a page shows is what is printed; if not: make docs


def test_the_map_of_the_api_names_every_route_and_no_other() -> None:
    document = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))
    routes = {f"{method.upper()} {path.removeprefix('/v1')}" for path, ways in document["paths"].items() for method in ways}
    told = set(re.findall(r"`((?:GET|PUT|POST|PATCH|DELETE) /[^`?]*)`", (DOCS / "http-api.md").read_text(encoding="utf-8")))
    assert told == routes
    ids = {operation["operationId"] for ways in document["paths"].values() for operation in ways.values()}
    assert set(re.findall(r"^\| `(\w+)` \| `[A-Z]+ /", (DOCS / "http-api.md").read_text(encoding="utf-8"), re.MULTILINE)) == ids
