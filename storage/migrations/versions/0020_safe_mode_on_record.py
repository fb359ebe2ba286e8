"""Safe mode is in the audit log alone: a row that somebody invented in an older copy kept it from beginning."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("safe_mode")
