"""The decisions on a request are found without reading those on all others.

The index of `uq_decision_once` leaves out resolutions, so no search by request alone can use it.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005o"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_decision_request_id", "decision", ["request_id"])
