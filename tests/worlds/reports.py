"""Reports as files."""

from __future__ import annotations

import re
from pathlib import Path


def size_before_charts(folder: Path) -> int:
    """Bytes of `report.html` without what its charts draw."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    return len(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL).encode())
