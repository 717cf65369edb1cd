"""Results as small tables and bars, for notebooks. They take the colours of the page around them and ask nobody for anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_MOST = 30  # rows
_WIDTH = 160  # pixels from the middle to one end


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A title and a table. Numbers have three digits."""
    shown = list(rows)
    like = shown[0] if shown else columns  # a heading stands where its column's cells do
    head = "".join(_cell("th", escape(name), value) for name, value in zip(columns, like, strict=True))
    body = "".join(f"<tr>{''.join(_cell('td', _text(value), value) for value in row)}</tr>" for row in shown[:_MOST])
    more = f"<p>… and {len(shown) - _MOST:,} more</p>" if len(shown) > _MOST else ""
    return f"<div><b>{escape(title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def bars(title: str, names: Sequence[str], values: Sequence[float], spreads: Sequence[float] | None = None) -> str:
    """A bar per name, the longest first; where spreads are known, a line from one standard deviation below to one above."""
    spreads = [0.0] * len(values) if spreads is None else spreads
    reach = max((abs(value) + spread for value, spread in zip(values, spreads, strict=True)), default=0.0) or 1.0
    order = sorted(range(len(values)), key=lambda place: -abs(values[place]))
    rows = [(names[place], values[place], spreads[place], _bar(values[place] / reach, spreads[place] / reach)) for place in order]
    columns = ["", "weight", "± sd", ""] if any(spreads) else ["", "weight", ""]
    return table(title, columns, [row if any(spreads) else (row[0], row[1], row[3]) for row in rows])


class Markup(str):
    """A cell that is HTML already."""

    __slots__ = ()


def _bar(share: float, spread: float) -> Markup:
    length, middle = abs(share) * _WIDTH, _WIDTH + share * _WIDTH
    left = _WIDTH - (length if share < 0.0 else 0.0)
    line = f'<path d="M{middle - spread * _WIDTH:.1f} 7H{middle + spread * _WIDTH:.1f}" stroke="currentColor"/>' if spread else ""
    fill = "#2a7d4f" if share >= 0.0 else "#b3482c"
    return Markup(
        f'<svg width="{2 * _WIDTH}" height="14" role="img" aria-label="{share:+.2f}">'
        f'<rect x="{left:.1f}" y="2" width="{length:.1f}" height="10" fill="{fill}"/>{line}</svg>'
    )


def _cell(tag: str, text: str, value: object) -> str:
    """With its alignment, because every notebook has another one."""
    side = "right" if isinstance(value, float) else "left"
    return f'<{tag} style="text-align:{side};padding:1px 8px">{text}</{tag}>'


def _text(value: object) -> str:
    return value if isinstance(value, Markup) else f"{value:.3f}" if isinstance(value, float) else escape(str(value))
