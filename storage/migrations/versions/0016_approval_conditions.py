"""What the policy asked for when an approval was given, where that was more than stands in the request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("decision", sa.Column("conditions", sa.Text(), nullable=True))
