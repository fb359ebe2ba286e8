"""Since when people can read of a debit that an older copy does not know is kept for each of them: a count says nothing
of those that another process commits later, in whatever place.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017t"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.add_column("orphan_debit", sa.Column("listed_at", WHEN, nullable=True))
    # In the order in which they were listed: so many of those of the one that is in force.
    op.execute(
        sa.text(
            "UPDATE orphan_debit SET listed_at = found_at WHERE"
            " (SELECT count(*) FROM orphan_debit AS earlier, safe_mode"
            "   WHERE safe_mode.left_at IS NULL AND orphan_debit.found_at >= safe_mode.entered_at"
            "   AND earlier.found_at >= safe_mode.entered_at"
            "   AND (earlier.found_at, earlier.booked_at, earlier.reference)"
            "     <= (orphan_debit.found_at, orphan_debit.booked_at, orphan_debit.reference))"
            " <= coalesce((SELECT min(reported) FROM safe_mode WHERE left_at IS NULL), 0)"
        )
    )
    op.drop_column("safe_mode", "reported")
