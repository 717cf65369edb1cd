"""The checklist of a release finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from release import problems

ROOT = Path(__file__).parents[2]
GOOD = {
    "version": "1.2.3",
    "changelog": "## [1.2.3] - 2026-05-01\n",
    "citation": "version: 1.2.3",
    "changes": "",
    "tags": ["v1.2.2"],
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": "1.2"}, "no semantic version"),
        ({"changelog": "## [1.2.3], not released yet\n"}, "CHANGELOG.md has no line"),
        ({"citation": "version: 1.2.2"}, "CITATION.cff does not say"),
        ({"changes": " M README.md"}, "not everything is committed:  M README.md"),
        ({"tags": ["v1.2.3"]}, "tagged already"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], problem: str) -> None:
    assert problems(**GOOD) == []  # type: ignore[arg-type]
    assert problem in "\n".join(problems(**{**GOOD, **change}))  # type: ignore[arg-type]


def test_the_forms_for_issues_are_well_formed() -> None:
    for name in ("bug.yml", "idea.yml"):
        form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / name).read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(form)
        assert all({"id", "attributes"} <= set(part) for part in form["body"] if part["type"] != "markdown")
