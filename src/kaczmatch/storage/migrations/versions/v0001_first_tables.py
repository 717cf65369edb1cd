"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id", name="audit_key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index("audit_user", ["user"], unique=False)

    op.create_table(
        "blocks",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user", "other"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("blocks", schema=None) as batch_op:
        batch_op.create_index("blocks_other", ["other"], unique=False)
        batch_op.create_index("blocks_user_at", ["user", "at"], unique=False)

    op.create_table(
        "changes",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id", name="changes_key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("changes", schema=None) as batch_op:
        batch_op.create_index("changes_user", ["user"], unique=False)

    op.create_table(
        "decks",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.Column("policy", TEXT, nullable=False),
        sa.Column("sampler", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("model", sa.BigInteger(), nullable=False),
        sa.Column("eligible", sa.BigInteger(), nullable=False),
        sa.Column("least", sa.Double(), nullable=False),
        sa.Column("experiment", TEXT, nullable=False),
        sa.Column("arm", TEXT, nullable=False),
        sa.Column("unit", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("user", "id"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("decks", schema=None) as batch_op:
        batch_op.create_index("decks_at_id", ["at", "id"], unique=False)
        batch_op.create_index("decks_experiment_at_id", ["experiment", "at", "id"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("message", TEXT, nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("next", sa.BigInteger(), nullable=True),
        sa.Column("status", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("message"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "events",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("candidate", TEXT, nullable=True),
        sa.Column("decision", TEXT, nullable=True),
        sa.Column("features", sa.LargeBinary(), nullable=True),
        sa.Column("appeal", sa.Double(), nullable=False),
        sa.Column("vocabulary", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.BigInteger(), nullable=False),
        sa.Column("deck", TEXT, nullable=True),
        sa.Column("match", TEXT, nullable=True),
        sa.Column("undoes", TEXT, nullable=True),
        sa.Column("imported", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("user", "id", name="events_key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("events_candidate_number", ["candidate", "number"], unique=False)
        batch_op.create_index("events_user_number", ["user", "number"], unique=False)

    op.create_table(
        "facts",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "impressions",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("deck", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("chance", sa.Double(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("answer", TEXT, nullable=True),
        sa.Column("decision", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("user", "deck", "other"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("impressions", schema=None) as batch_op:
        batch_op.create_index("impressions_at_user_deck_other", ["at", "user", "deck", "other"], unique=False)
        batch_op.create_index("impressions_other", ["other"], unique=False)

    op.create_table(
        "keys",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("hash", TEXT, nullable=False),
        sa.Column("scopes", TEXT, nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("revoked", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "learned",
        sa.Column("model", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("swipes", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.Column("anchor", sa.LargeBinary(), nullable=False),
        sa.Column("stability", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("model", "user"),
        sqlite_with_rowid=True,
    )
    with op.batch_alter_table("learned", schema=None) as batch_op:
        batch_op.create_index("learned_user", ["user"], unique=False)

    op.create_table(
        "matches",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.Column("outcomes", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("user", "other"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("matches", schema=None) as batch_op:
        batch_op.create_index("matches_id", ["id"], unique=False)
        batch_op.create_index("matches_user_at", ["user", "at"], unique=False)

    op.create_table(
        "messages",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("topic", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("posted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id", name="messages_key"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index("messages_other", ["other"], unique=False)
        batch_op.create_index("messages_posted_number", ["posted", "number"], unique=False)
        batch_op.create_index("messages_user", ["user"], unique=False)

    op.create_table(
        "models",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("learner", TEXT, nullable=False),
        sa.Column("settings", TEXT, nullable=False),
        sa.Column("prior", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pairs",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("decision", TEXT, nullable=False),
        sa.Column("decided", sa.BigInteger(), nullable=False),
        sa.Column("swipe", TEXT, nullable=False),
        sa.Column("excess", sa.Double(), nullable=False),
        sa.Column("information", sa.Double(), nullable=False),
        sa.Column("weighed", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("user", "other"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("pairs", schema=None) as batch_op:
        batch_op.create_index("pairs_other_decision_decided", ["other", "decision", "decided"], unique=False)

    op.create_table(
        "people",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("i_am", TEXT, nullable=False),
        sa.Column("i_look_for", TEXT, nullable=False),
        sa.Column("born", TEXT, nullable=False),
        sa.Column("youngest", sa.BigInteger(), nullable=False),
        sa.Column("oldest", sa.BigInteger(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=True),
        sa.Column("column", sa.BigInteger(), nullable=True),
        sa.Column("within_km", sa.Double(), nullable=True),
        sa.Column("features", sa.LargeBinary(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("people", schema=None) as batch_op:
        batch_op.create_index("people_paused_id", ["paused", "id"], unique=False)

    op.create_table(
        "priors",
        sa.Column("version", TEXT, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("version"),
        sqlite_with_rowid=True,
    )
    op.create_table(
        "reports",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("other", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("words", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("closed", sa.BigInteger(), nullable=True),
        sa.Column("resolution", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("reports", schema=None) as batch_op:
        batch_op.create_index("reports_closed_at_id", ["closed", "at", "id"], unique=False)
        batch_op.create_index("reports_other", ["other"], unique=False)
        batch_op.create_index("reports_user", ["user"], unique=False)

    op.create_table(
        "standings",
        sa.Column("user", TEXT, nullable=False),
        sa.Column("swipes", sa.BigInteger(), nullable=False),
        sa.Column("likes", sa.BigInteger(), nullable=False),
        sa.Column("excess", sa.Double(), nullable=False),
        sa.Column("information", sa.Double(), nullable=False),
        sa.Column("weighed", sa.BigInteger(), nullable=True),
        sa.Column("deck", TEXT, nullable=True),
        sa.Column("swiped", sa.BigInteger(), nullable=False),
        sa.Column("session", TEXT, nullable=False),
        sa.Column("talking", sa.Boolean(), nullable=False),
        sa.Column("spent", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("user"),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("standings", schema=None) as batch_op:
        batch_op.create_index("standings_talking_swiped_user", ["talking", "swiped", "user"], unique=False)

    op.create_table(
        "vocabularies",
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("names", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version"),
        sqlite_with_rowid=True,
    )
