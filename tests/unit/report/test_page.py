"""The page of results: the answer first, long tables folded."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.report.page import ROWS_SHOWN, ResultsPage
from kaczmatch.report.results import ReportPart, Table
from kaczmatch.reproduce.report import write_report
from kaczmatch.reproduce.study import Plan, Reproduction
from kaczmatch.reproduce.tables import metrics_part


def page_of(rows: int, folder: Path) -> str:
    table = Table("numbers", "Numbers", [{"name": f"row {place}", "value": place} for place in range(rows)])
    page = ResultsPage(title="T", lead="Lead", scope="Scope", command="c", advice=["Take <this>."], headline=[("9", "of ten")])
    return page.write([ReportPart("part", "Part", ["Words"], [table])], folder).read_text(encoding="utf-8")


def test_the_answer_stands_before_everything_that_explains_it(tmp_path: Path) -> None:
    page = page_of(3, tmp_path)
    places = [page.index(words) for words in ("Take &lt;this&gt;.", "of ten", "Scope", "Words", "row 0")]
    assert places == sorted(places)
    assert "light-dark(" in page  # the colours of the pages, for both themes
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_only_a_long_table_is_folded_and_all_its_rows_are_there(tmp_path: Path) -> None:
    assert "Show all" not in page_of(ROWS_SHOWN, tmp_path)
    page = page_of(ROWS_SHOWN + 3, tmp_path)
    assert f"Show all {ROWS_SHOWN + 3} rows" in page
    assert page.count("<td>row ") == ROWS_SHOWN + 3


def test_a_quick_run_cannot_tell_and_does_not_say_none_was_reproduced(tmp_path: Path) -> None:
    plan = Plan(seeds=1, users=2, quick=True)
    part = metrics_part("paper", Reproduction(plan, lambda _: None))
    assert part.headline[0][0] == "cannot tell"
    page = write_report([part], plan, tmp_path, "kaczmatch reproduce").read_text(encoding="utf-8")
    assert "0 of 18" not in page
    assert "Of 18 numbers and claims of the paper: 18 cannot tell." in page
