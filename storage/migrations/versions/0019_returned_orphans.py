"""A debit that an older copy does not know, and what came back of it, may have one reference: they are two rows now."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    names_its_keys = {"pk": "%(table_name)s_pkey"}
    with op.batch_alter_table(
        "orphan_debit", recreate="auto", naming_convention=names_its_keys
    ) as orphan_debit:
        orphan_debit.drop_constraint("orphan_debit_pkey", type_="primary")
        orphan_debit.create_primary_key("orphan_debit_pkey", ["program", "reference", "kind"])
