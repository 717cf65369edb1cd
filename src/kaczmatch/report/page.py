"""One self-contained page: no other file, no other host."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import jinja2
from markupsafe import Markup

from kaczmatch.report.results import ReportPart, Table
from kaczmatch.report.typeface import typeface

ROWS_SHOWN: Final = 10  # of a table, until the reader asks for all
_STATIC: Final = resources.files("kaczmatch") / "web" / "static"  # files, no code: reports look like the pages

_BRAND: Final = {"colours": "css/colours.css", "mark": "mark.svg"}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsPage:
    """What stands around the parts of a report."""

    title: str
    lead: str
    scope: str
    command: str
    advice: Sequence[str] = ()  # what to do, before everything else
    headline: Sequence[tuple[str, str]] = ()  # a number, and what it says
    verdicts: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # how a verdict looks: good, half, bad, open

    def write(self, parts: Sequence[ReportPart], folder: Path) -> Path:
        """`report.html` in `folder`."""
        template = jinja2.Template((Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8"), autoescape=True)
        page = template.render(
            page=self,
            brand={name: Markup((_STATIC / path).read_text(encoding="utf-8")) for name, path in _BRAND.items()},  # noqa: S704
            typeface=base64.b64encode(typeface()).decode(),
            rows_shown=ROWS_SHOWN,
            parts=[
                {
                    "name": part.name,
                    "title": part.title,
                    "words": part.words,
                    "figures": [{"svg": Markup(figure.svg), "caption": figure.caption} for figure in part.figures],  # noqa: S704
                    "tables": [self._shown(table) for table in part.tables if table.in_report],
                }
                for part in parts
            ],
        )
        path = folder / "report.html"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
        return path

    def _shown(self, table: Table) -> dict[str, Any]:
        names = list(table.rows[0]) if table.rows else []
        numeric = {name: all(isinstance(row[name], int | float) for row in table.rows) for name in names}
        return {
            "title": table.title,
            "note": table.note,
            "columns": [{"name": name.replace("_", " "), "number": numeric[name]} for name in names],
            "rows": [[self._cell(name, row[name], number=numeric[name]) for name in names] for row in table.rows],
        }

    def _cell(self, name: str, value: Any, *, number: bool) -> dict[str, Any]:
        if isinstance(value, float):
            plain = 1e-9 <= abs(value) < 1e5 or value == 0
            text = "" if not math.isfinite(value) else f"{value:.3f}" if plain else f"{value:.1e}"
        else:
            text = str(value)
        return {
            "text": text,
            "number": number,
            "code": name == "command",
            "verdict": self.verdicts.get(text) if name == "verdict" else None,
        }
