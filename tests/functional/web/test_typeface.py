"""One typeface and one icon set, the same on every machine."""

from __future__ import annotations

import io
import re

from fontTools.ttLib import TTFont

from kaczmatch.report.typeface import typeface
from kaczmatch.web.assets import FOLDER
from kaczmatch.web.pages import TEMPLATES

from .conftest import Visitor


def test_the_typeface_is_small_and_has_what_the_pages_write() -> None:
    content = typeface()
    font = TTFont(io.BytesIO(content))
    assert len(content) < 30_000
    assert {axis.axisTag for axis in font["fvar"].axes} == {"wght"}
    assert set(map(ord, "AZaz09éß…−→Δκ")) <= set(font.getBestCmap())


def test_a_browser_takes_it_from_this_host(visitor: Visitor) -> None:
    page = visitor.page
    page.goto(visitor.site.address)
    assert page.evaluate("() => document.fonts.load('700 1rem Manrope').then(found => found.length)") == 1
    assert page.evaluate("() => getComputedStyle(document.body).fontFamily").startswith("Manrope")


def test_every_icon_that_is_asked_for_is_there() -> None:
    """And no other."""
    known = set(re.findall(r'^  "(\w+)": "M', (TEMPLATES / "icons.html.j2").read_text(), re.MULTILINE))
    sources = [*TEMPLATES.glob("*.j2"), *FOLDER.rglob("*.js")]
    calls = [call for path in sources for call in re.findall(r"\bicon\(([^)]*)\)", path.read_text())]
    asked = {name for call in calls for name in re.findall(r'"(\w+)"', call)}
    assert asked == known - {"light", "dark"}  # which theme.js shows


def test_no_other_typeface_stands_in() -> None:
    """Every letter of the pages is one of Manrope's, but for signs of algebra that it lacks."""
    font = TTFont(io.BytesIO(typeface()))
    sources = [path for folder in (TEMPLATES, FOLDER) for path in folder.rglob("*") if path.suffix in (".j2", ".js", ".css")]
    written = {letter for path in sources for letter in path.read_text() if not letter.isspace()}
    assert written - set(map(chr, font.getBestCmap())) == set("‖ᵀ⁻¹")
