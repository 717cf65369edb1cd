"""Pages that a tired reader finishes: short doors, wrapped lines, links that lead somewhere, one meaning per class name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
RESULT = re.compile(r"<!-- result:.*?<!-- end -->", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """A page without code and rendered results."""
    return FENCE.sub("", RESULT.sub("", text))


@pytest.mark.parametrize(("page", "most"), [("README.md", 900), ("ARCHITECTURE.md", 1_500)])
def test_the_first_pages_are_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_is_wrapped_at_100(page: Path) -> None:
    lines = prose(page.read_text(encoding="utf-8")).splitlines()
    kept_whole = ("|", "    ", "#", "<", "[![", "![")  # tables, code, headings, marks, pictures
    long = [line for line in lines if len(line) > 100 and not line.startswith(kept_whole) and " " in line.strip("- ")]
    assert long == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", prose(page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_class_names_have_one_meaning() -> None:
    """A name may stand in two files only where the glossary explains that both are the same notion."""
    names = Counter(
        node.name
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    repeated = {name for name, files in names.items() if files > 1}
    section = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## One name, two classes")[2]
    explained = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert repeated <= explained
    assert len(repeated) <= 6


def test_the_walks_name_files_and_functions_that_exist() -> None:
    text = re.sub(r"\s+", " ", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    package = ROOT / "src" / "kaczmatch"
    files = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text))
    assert [file for file in sorted(files) if not (package / file).exists()] == []
    named = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`: `([A-Za-z_.]+)`", text)
    assert named
    missing = [
        (file, name)
        for file, name in named
        if not all(re.search(rf"(class|def) {part}\b", (package / file).read_text(encoding="utf-8")) for part in name.split("."))
    ]
    assert missing == []


def test_the_picture_shows_every_package() -> None:
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "kaczmatch").glob("*/__init__.py")]
    rooms = [path.parent.name for path in (ROOT / "src" / "kaczmatch" / "service").glob("*/__init__.py")]
    assert [name for name in packages + rooms if f">{name}<" not in picture] == []
