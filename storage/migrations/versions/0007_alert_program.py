"""The program that an alert belongs to. Those raised before have none, and belong to all.

The type is spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("alert", sa.Column("program", sa.Text(), nullable=True))
