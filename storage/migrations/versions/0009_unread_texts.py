"""Texts that nobody understood, masked and sealed; kept only where the settings say so.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "unread_text",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("sealed_text", sa.Text(), nullable=False),
        sa.Column("said_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_unread_text_said_at", "unread_text", ["said_at"])
