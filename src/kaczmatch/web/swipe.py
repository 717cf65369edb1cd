"""The swipe page of the demo."""

from __future__ import annotations

from typing import Final

from kaczmatch.web.pages import SitePage

SWIPE: Final = SitePage("/", "swipe.html.j2", "Swipe")
