"""The tables of the carrier, on PostgreSQL only: an SQLite file has one process, which carries in memory."""

from __future__ import annotations

from alembic import op

from storage.migrations import carrier_schema

revision = "0010p"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        carrier_schema.bring_up(op.get_bind())
