"""Draft the next migration: what it takes to get from the last one to the records as they are."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from alembic.script import ScriptDirectory

from kaczmatch.storage.connecting import connected
from kaczmatch.storage.migrating import configured


def draft(words: str) -> Path:
    """The file to look through."""
    with TemporaryDirectory() as folder:
        database = connected(f"sqlite:///{folder}/draft.db")
        try:
            with database.writer.begin() as connection:
                config = configured(connection)
                command.upgrade(config, "head")
                number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
                script = command.revision(config, words, autogenerate=True, rev_id=f"{number:04}")
        finally:
            database.close()
    if script is None or isinstance(script, list):
        raise RuntimeError("Alembic wrote no script")
    return Path(script.path)


if __name__ == "__main__":
    print(draft(" ".join(sys.argv[1:]) or "changes"))
