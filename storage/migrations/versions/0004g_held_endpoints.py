"""Calls that a key may not make are held one by one, where a whole program was paused before.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004g"
down_revision = "0004d"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "held_endpoint",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("since", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("program", "endpoint"),
    )
