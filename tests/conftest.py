"""Settings that every test shares."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

SOURCES = Path(__file__).parent.parent / "src"

# A kernel's cache notices a change of its own file, not of a file whose functions it has compiled in.
_newest = max(path.stat().st_mtime for path in SOURCES.rglob("*.py"))
for _kernel in SOURCES.rglob("*.nb[ic]"):
    if _kernel.stat().st_mtime < _newest:
        _kernel.unlink(missing_ok=True)

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
