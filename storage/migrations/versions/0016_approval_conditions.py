"""What the policy asked for when an approval was given, and a MAC for each link to the page for passkeys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("decision", sa.Column("conditions", sa.Text(), nullable=True))
    # Links last five minutes: those of before the upgrade have no MAC, and open no page.
    op.add_column("passkey_link", sa.Column("mac", sa.Text(), nullable=True))
