"""`make walk` follows a swipe and a deck through the service."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What is printed, and the picture. In a process of its own, where nothing else sets a profiler."""
    picture = tmp_path_factory.mktemp("walk") / "walk.svg"
    command = [sys.executable, ROOT / "docs" / "walk.py", picture]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout, picture  # noqa: S603


def test_a_walk_has_two_numbers_and_lists_as_many_functions(walked: tuple[str, Path]) -> None:
    text, _ = walked
    found = re.findall(r"^(A swipe|A deck): (\d+) functions in (\d+) files$", text, re.MULTILINE)
    assert [title for title, *_ in found] == ["A swipe", "A deck"]
    for part, (_, functions, files) in zip(re.split(r"^A deck", text, flags=re.MULTILINE), found, strict=True):
        listed = re.findall(r"^  .*\S  +(\S+\.py)$", part, re.MULTILINE)
        assert (len(listed), len(set(listed))) == (int(functions), int(files))
        assert re.search(r"^The largest function has \d+ statements: \S+ in \S+\.py$", part, re.MULTILINE)


def test_walks_pass_the_routes_the_store_and_the_kernels(walked: tuple[str, Path]) -> None:
    swipe, deck = re.split(r"^A deck", walked[0], flags=re.MULTILINE)
    assert "routes/swipes.py" in swipe
    assert "routes/decks.py" in deck
    assert all("commit" in part and "sqlite.py" in part for part in (swipe, deck))
    assert "search_kernel.py" in deck


def test_the_picture_says_the_same(walked: tuple[str, Path]) -> None:
    text, picture = walked
    drawn = [element.text for element in ElementTree.parse(picture).iter() if element.get("class") == "title"]  # noqa: S314
    assert drawn == re.findall(r"^A (?:swipe|deck): .*$", text, re.MULTILINE)
