"""Let a person correct what they said of an unknown outcome: several `resolve` decisions of one person.

SQLite cannot drop a constraint, so the table is made again there with its rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004d"
down_revision = "0004f"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")
_COLUMNS = "id,request_id,kind,actor,actor_name,requester,reason,verdict,digest,policy_version,mac,decided_at"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("uq_decision_once", "decision", type_="unique")
    else:
        op.execute("ALTER TABLE decision RENAME TO decision_before")
        _make_decision()
        op.execute(f"INSERT INTO decision ({_COLUMNS}) SELECT {_COLUMNS} FROM decision_before")  # noqa: S608  fixed names
        op.drop_table("decision_before")
    op.create_index(
        "uq_decision_once",
        "decision",
        ["request_id", "kind", "actor"],
        unique=True,
        sqlite_where=sa.text("kind <> 'resolve'"),
        postgresql_where=sa.text("kind <> 'resolve'"),
    )


def _make_decision() -> None:
    op.create_table(
        "decision",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("requester", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=False),
        sa.Column("mac", sa.Text(), nullable=False),
        sa.Column("decided_at", WHEN, nullable=False),
        sa.CheckConstraint(
            "kind IN ('approve', 'reject', 'cancel', 'break_glass', 'confirm', 'resolve')",
            name="ck_decision_kind",
        ),
        sa.CheckConstraint(
            "kind NOT IN ('approve', 'reject', 'confirm') OR actor <> requester", name="ck_decision_not_own"
        ),
        sa.CheckConstraint("verdict IN ('', 'succeeded', 'failed')", name="ck_decision_verdict"),
        sa.ForeignKeyConstraint(
            ["request_id", "requester"], ["request.id", "request.requester"], name="fk_decision_request"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
