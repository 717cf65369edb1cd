"""Our code as a release that comes after it: with one migration more."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]
REVISION: Final = "9999"
# What any further migration may do: a column that may be empty, a table, an index.
_MIGRATION: Final = '''"""Something more."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "{revision}", "{before}", None, None


def upgrade() -> None:
    op.execute("ALTER TABLE events ADD COLUMN later TEXT")
    op.execute("CREATE TABLE later (id BIGINT PRIMARY KEY)")
    op.execute("CREATE INDEX events_later ON events (later)")
'''


def release_after(folder: Path) -> Path:
    """Its `src`, in a folder, with what was compiled of it, which takes a minute otherwise."""
    code = folder / "src"
    shutil.copytree(ROOT / "src", code)
    versions = code / "kaczmatch" / "storage" / "migrations" / "versions"
    (versions / f"v{REVISION}_later.py").write_text(_MIGRATION.format(revision=REVISION, before=last_revision()))
    return code


def last_revision() -> str:
    """Of the migrations that we have."""
    versions = ROOT / "src" / "kaczmatch" / "storage" / "migrations" / "versions"
    return max(path.name[1:5] for path in versions.glob("v[0-9]*.py"))
