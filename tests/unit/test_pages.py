"""Links of pages lead somewhere, and what ARCHITECTURE.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_links_lead_to_files() -> None:
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", prose(page.read_text(encoding="utf-8")))
    ]
    assert len(links) > 100
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []


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
