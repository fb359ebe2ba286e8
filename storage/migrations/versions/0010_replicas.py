"""What several processes on one database share: the minute of each key, and that each of them is alive.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "rate_minute",
        sa.Column("key_prefix", sa.Text(), nullable=False),
        sa.Column("minute", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key_prefix"),
    )
    op.create_table(
        "replica",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("started_at", WHEN, nullable=False),
        sa.Column("beat_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
