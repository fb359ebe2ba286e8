"""A program that is for drafts only, and when it was last: nothing is sent to it, and nothing that was approved then.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005o"
down_revision = "0004g"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.add_column("program", sa.Column("drafts_since", WHEN, nullable=True))
    op.add_column("program", sa.Column("drafts_until", WHEN, nullable=True))
