"""Measured figures in pages are never typed: a file in docs/results backs each table, and the page shows what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from record import text_of
from render import RESULTS, ROOT, pages, read_result, rendered, unbacked

RESULT = {
    "name": "trial",
    "command": "python benchmarks/peeking.py",
    "commit": "0" * 40,
    "date": "2026-11-16",
    "machine": "two cores",
    "load": 0.1,
    "tables": {"auc": {"columns": ["learner", "auc", "all_users"], "rows": [["tk", -0.0004, 1200], ["probit", 0.6664, 1200]]}},
}
PAGE = "Before.\n\n<!-- result: trial -->\n<!-- end -->\n\nAfter.\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "trial.json").write_text(text_of(RESULT))
    return tmp_path


def shown(text: str, results: Path) -> str:
    problems: list[str] = []
    after = rendered(text, ROOT / "docs" / "page.md", problems, results)
    assert problems == []
    return after


def problem_with(mark: str, results: Path) -> str:
    problems: list[str] = []
    page = f"{mark}\n<!-- end -->\n"
    assert rendered(page, ROOT / "docs" / "page.md", problems, results) == page, "a table that cannot be made stays as it is"
    (problem,) = problems
    return problem


def test_every_table_of_figures_is_what_a_file_says() -> None:
    problems: list[str] = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert list(unbacked(text)) == [], f"{page.name}: record it (docs/record.py) and mark the table, or say why not"
        assert rendered(text, page, problems) == text, f"{page.name}: run `make results`"
    assert problems == []


def test_every_result_says_where_it_is_from_and_is_shown() -> None:
    shown_somewhere = "".join(page.read_text(encoding="utf-8") for page in pages())
    paths = sorted(RESULTS.glob("*.json"))
    assert len(paths) > 10
    for path in paths:
        result = read_result(path.stem)
        assert result["name"] == path.stem
        assert re.fullmatch(r"[0-9a-f]{40}", result["commit"]), path
        assert all((ROOT / word).exists() for word in result["command"].split() if word.endswith(".py")), path
        assert f"<!-- result: {path.stem}" in shown_somewhere, f"no page shows {path.name}"


def test_rendering_writes_the_table_and_changes_nothing_the_second_time(results: Path) -> None:
    once = shown(PAGE, results)
    assert "| learner | auc | all users |\n| --- | --- | --- |\n| tk | 0.000 | 1,200 |\n| probit | 0.666 | 1,200 |\n" in once
    assert "commit 0000000, two cores:" in once
    assert once.startswith("Before.\n")
    assert once.endswith("\nAfter.\n")
    assert shown(once, results) == once


def test_a_mark_chooses_columns_rows_and_digits(results: Path) -> None:
    choice = 'columns = {learner = "rule", auc = "AUC"}\nrows = {probit = "`probit`"}\ndigits = 2\n'
    assert "| rule | AUC |\n| --- | --- |\n| `probit` | 0.67 |\n\n" in shown(
        PAGE.replace(" -->\n", f"\n{choice}-->\n", 1), results
    )


def test_a_figure_that_was_typed_over_is_noticed(results: Path) -> None:
    stale = shown(PAGE, results).replace("0.666", "0.777")
    assert shown(stale, results) != stale


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ("", "trial.json has the tables auc; say which"),
        ('rows = ["nobody"]', "rows: there is no nobody; there are tk, probit"),
        ('columns = ["loss"]', "columns: there is no loss"),
        ("colour = 1", "a mark takes columns, rows and digits"),
    ],
)
def test_what_no_file_has_is_an_error_that_says_what_there_is(results: Path, choice: str, problem: str) -> None:
    source = "trial" if choice else "trial/other"
    assert problem in problem_with(f"<!-- result: {source}\n{choice}\n-->", results)


def test_a_missing_file_is_an_error_that_says_how_to_make_it(results: Path) -> None:
    assert "python docs/record.py absent -- COMMAND" in problem_with("<!-- result: absent -->", results)


@pytest.mark.parametrize(
    ("table", "measured"),
    [
        ("| rule | AUC |\n| --- | --- |\n| tk | .512 |\n| nk | .498 |\n", True),
        ("| | lost |\n| --- | --- |\n| kills | **0** of 6,409 |\n| cuts | |\n", True),
        ("| setting | default | |\n| --- | --- | --- |\n| `port` | `8000` | where to listen |\n", False),
        ("| 1 | claim |\n| --- | --- |\n| 2 | the norm is at most 3 |\n", False),
        ("<!-- not measured: defaults -->\n\n| setting | default |\n| --- | --- |\n| alpha | 0.02 |\n", False),
        ("```\n| rule | AUC |\n| --- | --- |\n| tk | .512 |\n```\n", False),
    ],
)
def test_tables_of_figures_are_told_from_others(table: str, measured: bool) -> None:
    assert bool(list(unbacked(f"Words.\n\n{table}\nMore words.\n"))) is measured


def test_a_result_is_written_with_a_row_a_line_and_read_back() -> None:
    text = text_of(RESULT)
    assert json.loads(text) == RESULT
    assert '        ["tk", -0.0004, 1200],\n' in text


def test_a_benchmark_hands_its_tables_over(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/peeking.py", "--studies", "2", "--units", "120", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (row, *_) = json.loads((tmp_path / "peeking.json").read_text())
    assert list(row) == ["units", "100"]
