"""How Alembic runs: on the connection it is given."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context

from kaczmatch.storage.schema import METADATA, NUMBER, TEXT


def rendered(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Types that have a name in the template are written by it."""
    if kind == "type":
        return "TEXT" if item is TEXT else "NUMBER" if item is NUMBER else False
    return False


def run() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        render_as_batch=True,
        render_item=rendered,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name Alembic gives it
    run()
