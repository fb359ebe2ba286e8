"""The stage of a request whose effect goes on after the call. Those from before take theirs at the next reading.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004f"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("request", sa.Column("stage", sa.Text(), nullable=True))
