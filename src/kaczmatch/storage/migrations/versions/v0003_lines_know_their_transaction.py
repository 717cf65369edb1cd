"""Lines know their transaction."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """On PostgreSQL alone: elsewhere commits are in the order of their numbers.

    The server fills the column in, also for processes of the release before. The lines that are there come before everything, and
    are not rewritten. Their index is built while writes wait, for some seconds per million lines.
    """
    if op.get_context().dialect.name != "postgresql":
        return
    for log in ("audit", "changes", "events", "outbox"):
        op.execute(f'ALTER TABLE "{log}" ADD COLUMN "txid" xid8 DEFAULT \'0\'')
        op.execute(f'ALTER TABLE "{log}" ALTER COLUMN "txid" SET DEFAULT pg_current_xact_id()')
        op.execute(f'CREATE INDEX "{log}_txid_number" ON "{log}" ("txid", "number")')
