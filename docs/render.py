"""Writes the tables of measured figures into README.md and docs/*.md, from the files in docs/results: `make results`.

A page says which table it shows between two comments; what stands between them is written by this program:

    <!-- result: market/market-archetypes
    digits = 2
    columns = {policy = "policy", matches_per_100 = "matches per 100 cards"}
    rows = ["default", "paper"]
    -->
    <!-- end -->

`market` is docs/results/market.json and `market-archetypes` one of its tables. Where a file has only one table, the name of
the file is enough. The lines below are TOML, and each may be left out. `columns` chooses columns, as a list or with the
heading that each gets. `rows` chooses rows by their first cell, as a list or with the name that each gets. `digits` is the
number of decimal places; without it three digits are shown.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
FIELDS = ("name", "command", "commit", "date", "machine", "load", "tables")

Result = Mapping[str, Any]
_MARKED = re.compile(r"<!-- result: (?P<source>[\w./-]+)\n?(?P<choice>[^>]*?)-->\n.*?<!-- end -->", re.DOTALL)
_UNMEASURED = re.compile(r"<!-- not measured: [^>]+-->\n+(?P<table>(?:\|[^\n]*\n)+)")
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"(?:^\|[^\n]*(?:\n|\Z)){2,}", re.MULTILINE)
_FIGURE = re.compile(r"(\*\*)?[-+−±<>≈~]?\.?\d")


class BadResult(ValueError):
    """A page asks for what no file in docs/results has."""


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read_result(name: str, folder: Path = RESULTS) -> Result:
    path = folder / f"{name}.json"
    if not path.exists():
        raise BadResult(f"there is no {path.name} in {folder.name}; record it: python docs/record.py {name} -- COMMAND")
    found: Result = json.loads(path.read_text(encoding="utf-8"))
    if missing := [field for field in FIELDS if field not in found]:
        raise BadResult(f"{path.name} has no {', '.join(missing)}; record it again: python docs/record.py {name} -- COMMAND")
    return found


def rendered(text: str, page: Path, problems: list[str], folder: Path = RESULTS) -> str:
    """A page with every marked table as the files have it; a table that no file has stays as it is, and is a problem."""

    def shown(found: re.Match[str]) -> str:
        head = found[0][: found[0].index("-->") + 3]
        try:
            return f"{head}\n\n{_content(found['source'], found['choice'], page, folder)}\n<!-- end -->"
        except (BadResult, tomllib.TOMLDecodeError) as error:
            problems.append(f"{page.name}, {found['source']}: {error}")
            return found[0]

    return _MARKED.sub(shown, text)


def unbacked(text: str) -> Iterator[str]:
    """First lines of the tables of figures that stand outside the marks.

    A table shows figures if at least half of the filled cells of one of its columns begin with a number. The first column
    does not count, because it names the rows. Numbers in backticks are values to type, not figures. A comment `<!-- not
    measured: reason -->` before a table exempts it.
    """
    for outside in (_FENCED, _MARKED, _UNMEASURED):
        text = outside.sub("", text)
    for table in _TABLE.findall(text):
        if _shows_figures(table):
            yield table.splitlines()[0]


def _shows_figures(table: str) -> bool:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in table.splitlines()[2:]]
    width = max((len(row) for row in rows), default=0)
    for column in range(1, width):
        cells = [row[column] for row in rows if len(row) > column and row[column]]
        if cells and 2 * sum(bool(_FIGURE.match(cell)) for cell in cells) >= len(cells):
            return True
    return False


def _content(source: str, choice: str, page: Path, folder: Path) -> str:
    name, _, table = source.partition("/")
    result = read_result(name, folder)
    tables: Mapping[str, Mapping[str, Any]] = result["tables"]
    table = table or (next(iter(tables)) if len(tables) == 1 else "")
    if table not in tables:
        raise BadResult(f"{name}.json has the tables {', '.join(tables)}; say which: {name}/TABLE")
    asked = tomllib.loads(choice)
    if unknown := set(asked) - {"columns", "rows", "digits"}:
        raise BadResult(f"{', '.join(sorted(unknown))}: a mark takes columns, rows and digits")
    columns: list[str] = tables[table]["columns"]
    plain = {column: column.replace("_", " ") for column in columns}
    headings = _chosen("columns", asked.get("columns", plain), columns)
    by_name = {str(row[0]): row for row in tables[table]["rows"]}
    picked = _chosen("rows", asked["rows"], list(by_name)) if "rows" in asked else None
    rows = tables[table]["rows"] if picked is None else [[label, *by_name[key][1:]] for key, label in picked.items()]
    places = {column: columns.index(column) for column in headings}
    digits = asked.get("digits")
    lines = [_line(headings.values()), "| --- " * len(headings) + "|\n"]
    lines += [_line(_cell(row[place], digits) for column, place in places.items()) for row in rows]
    return "".join(lines) + "\n" + _origin(result, page)


def _chosen(what: str, asked: Sequence[str] | Mapping[str, str], there: Sequence[str]) -> dict[str, str]:
    """What was asked for, with the name it gets."""
    found = dict(asked) if isinstance(asked, Mapping) else {one: one for one in asked}
    if missing := [one for one in found if one not in there]:
        raise BadResult(f"{what}: there is no {', '.join(missing)}; there are {', '.join(there)}")
    return found


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _cell(value: Any, digits: int | None) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, float):
        size = abs(value)
        places = digits if digits is not None else 3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0
        return f"{round(value, places) + 0.0:,.{places}f}"  # + 0.0: no minus before a zero
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value).replace("|", "\\|")


def _origin(result: Result, page: Path) -> str:
    """Where the figures are from, below their table."""
    file = (RESULTS / f"{result['name']}.json").relative_to(page.parent).as_posix()
    words = (
        f"[{result['name']}]({file}), {result['date']}, commit {result['commit'][:7]}, {result['machine']}: `{result['command']}`"
    )
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def main() -> None:
    problems: list[str] = []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = rendered(before, page, problems)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} is written anew")
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
