"""Passkeys, the one-time links to their page, and the assertion that is stored with a decision.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "passkey",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("slack_id", sa.Text(), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sealed_key", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("added_at", WHEN, nullable=True),
        sa.Column("used_at", WHEN, nullable=True),
        sa.Column("ended_at", WHEN, nullable=True),
        sa.Column("ended_why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("credential_id", name="uq_passkey_credential_id"),
        sa.CheckConstraint("state IN ('waiting', 'active', 'ended')", name="ck_passkey_state"),
    )
    op.create_index("ix_passkey_slack_id", "passkey", ["slack_id", "state"])
    op.create_table(
        "passkey_link",
        sa.Column("token_digest", sa.Text(), nullable=False),
        sa.Column("slack_id", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("view_id", sa.Text(), nullable=False),
        sa.Column("made_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("page_digest", sa.Text(), nullable=True),
        sa.Column("spent_at", WHEN, nullable=True),
        sa.PrimaryKeyConstraint("token_digest"),
    )
    op.create_index("ix_passkey_link_expires_at", "passkey_link", ["expires_at"])
    op.add_column("decision", sa.Column("assertion", sa.Text(), nullable=True))
