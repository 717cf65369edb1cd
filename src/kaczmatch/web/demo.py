"""The pages of the demo."""

from __future__ import annotations

from typing import Final

from kaczmatch.web.pages import Page

SWIPE: Final = Page("/", "swipe.html.j2", "Swipe")
