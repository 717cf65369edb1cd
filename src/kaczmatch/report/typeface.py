"""Manrope (SIL Open Font License) from the installed package `font-manrope`: what the pages use of it, as one small file."""

from __future__ import annotations

import functools
import io
from importlib.metadata import version
from importlib.resources import files
from typing import Final

PACKAGE: Final = "font-manrope"
FILE: Final = "manrope.woff2"
_MORE: Final = "\u00a0¡£§©«°±²³·»¿αβκλμστΔ₀₁–—‘’“”…•←↑→↓−≤≥≈"
_CHARACTERS: Final = (*range(0x20, 0x7F), *range(0xC0, 0x100), *map(ord, _MORE))  # of Latin-1, what names and sentences have


def typeface_version() -> str:
    """Changes with what `typeface` returns, and costs nothing."""
    return f"{PACKAGE} {version(PACKAGE)}: {len(_CHARACTERS)}"


@functools.cache
def typeface() -> bytes:
    """All weights in one file. It is made at the first request: that takes a second."""
    from fontTools import subset  # the service starts without it
    from fontTools.ttLib import TTFont

    with files("font_manrope").joinpath("files/Manrope-VariableFont_wght.ttf").open("rb") as source:
        font = TTFont(source, recalcTimestamp=False)  # the same bytes each time
    options = subset.Options(hinting=False, layout_features=["kern", "tnum"])
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=_CHARACTERS)
    chosen.subset(font)
    font.flavor = "woff2"
    made = io.BytesIO()
    font.save(made)
    return made.getvalue()
