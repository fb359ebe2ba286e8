"""Signatures of rows that carried none: who gets codes, pauses, confirmations, mute rules, links, labels of cards.

What the tables hold by now is signed once, when the master key is there: see `storage.upgrades`.
The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0010p"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "row_signature",
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("row_key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("mac", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("table_name", "row_key"),
    )
    op.add_column("card", sa.Column("mac", sa.Text(), nullable=True))
