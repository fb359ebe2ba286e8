"""What is known of an older copy of the database that was put in place, and the debits that it has no request for.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0015"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")
MONEY = sa.Text().with_variant(sa.Numeric(30, 10), "postgresql")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "safe_mode",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("head_seq", BIG, nullable=False),
        sa.Column("head_at", WHEN, nullable=True),
        sa.Column("anchor_seq", BIG, nullable=False),
        sa.Column("anchor_at", WHEN, nullable=True),
        sa.Column("entered_at", WHEN, nullable=False),
        sa.Column("voided", sa.Integer(), nullable=True),
        sa.Column("reported", sa.Integer(), nullable=False),
        sa.Column("left_at", WHEN, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "orphan_debit",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("amount_usd", MONEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("card_id", sa.Text(), nullable=True),
        sa.Column("booked_at", WHEN, nullable=False),
        sa.Column("found_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("program", "reference"),
    )
