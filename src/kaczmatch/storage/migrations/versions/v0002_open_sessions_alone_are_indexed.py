"""Open sessions alone are indexed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    open_sessions = sa.text('"in_session"')
    with op.batch_alter_table("person_counters", schema=None) as batch_op:
        batch_op.drop_index("person_counters_in_session_last_swipe_at_user")
        batch_op.create_index(
            "person_counters_last_swipe_at_user",
            ["last_swipe_at", "user"],
            unique=False,
            sqlite_where=open_sessions,
            postgresql_where=open_sessions,
        )
