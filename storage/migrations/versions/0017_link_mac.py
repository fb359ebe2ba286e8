"""A MAC for each link to the page for passkeys.

Links last five minutes: those of before the upgrade have no MAC, and open no page.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017t"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("passkey_link", sa.Column("mac", sa.Text(), nullable=True))
