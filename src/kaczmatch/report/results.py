"""What an experiment yields: tables, figures and the words between them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, final

import altair as alt
import vl_convert

Row = Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one shape; `timed` where they hold seconds, which no two runs share."""

    name: str
    title: str
    rows: Sequence[Row]
    note: str = ""
    timed: bool = False
    in_report: bool = True

    def csv(self) -> str:
        """Six digits behind the point, so that the same seed gives the same bytes."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.rows[0]) if self.rows else [], lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            writer.writerow({key: f"{value:.6f}" if isinstance(value, float) else value for key, value in row.items()})
        return text.getvalue()

    def markdown(self) -> str:
        names = list(self.rows[0])
        lines = ["| " + " | ".join(name.replace("_", " ") for name in names) + " |", "| --- " * len(names) + "|"]
        for row in self.rows:
            cells = (f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|") for value in row.values())
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def json(self) -> str:
        return json.dumps([{key: _plain(value) for key, value in row.items()} for row in self.rows], indent=2) + "\n"


@final
@dataclass(frozen=True)
class Figure:
    name: str
    chart: alt.TopLevelMixin
    caption: str

    @cached_property
    def svg(self) -> str:
        """Drawn once, for its file and for the report."""
        return vl_convert.vegalite_to_svg(self._drawing())

    @property
    def png(self) -> bytes:
        return vl_convert.vegalite_to_png(self._drawing(), ppi=110)

    def _drawing(self) -> dict[str, Any]:
        """Labels stand at their ticks: the outermost are not pushed into their neighbours. A legend has room, since letters of
        a page are wider than those that are measured here."""
        drawing: dict[str, Any] = self.chart.to_dict()
        room = {"left": 5, "right": 30, "top": 5, "bottom": 5}
        return drawing | {"padding": room, "config": {"axisX": {"labelFlush": False}} | drawing.get("config", {})}


@final
@dataclass(frozen=True, slots=True)
class ReportPart:
    """One section of the report."""

    name: str
    title: str
    words: Sequence[str]
    tables: Sequence[Table] = field(default=())
    figures: Sequence[Figure] = field(default=())
    headline: Sequence[tuple[str, str]] = ()  # numbers to take home, and what each says

    def write(self, folder: Path) -> list[Path]:
        """Every number as CSV and JSON, every figure as SVG and PNG."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for table in self.tables:
            written.append(folder / f"{table.name}.json")
            written[-1].write_text(table.json(), encoding="utf-8")
            if not table.timed:
                written.append(folder / f"{table.name}.csv")
                written[-1].write_text(table.csv(), encoding="utf-8", newline="")
        for figure in self.figures:
            written += [folder / f"{figure.name}.svg", folder / f"{figure.name}.png"]
            written[-2].write_text(figure.svg, encoding="utf-8")
            written[-1].write_bytes(figure.png)
        return written


def _plain(value: Any) -> Any:
    """JSON has no NaN; what cannot be computed is null."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value
