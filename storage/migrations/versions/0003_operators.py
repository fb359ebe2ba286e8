"""Operators: the state of conversations.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    _conversation()
    _card_reveal()
    _people()
    _events()
    _look_ups()
    _batches()


def _conversation() -> None:
    op.create_table(
        "dialog",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("thread_ts", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("sealed_slots", sa.Text(), nullable=False),
        sa.Column("asked_slot", sa.Text(), nullable=False),
        sa.Column("candidates", sa.Text(), nullable=False),
        sa.Column("last_card_id", sa.Text(), nullable=False),
        sa.Column("misses", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "thread_ts", "user_id"),
        sa.UniqueConstraint("id", name="uq_dialog_id"),
    )


def _people() -> None:
    op.create_table(
        "pause",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("program"),
    )
    op.create_table(
        "consent",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked_by_name", sa.Text(), nullable=False),
        sa.Column("asked_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("answered_by", sa.Text(), nullable=True),
        sa.Column("answered_at", WHEN, nullable=True),
        sa.CheckConstraint("state IN ('open', 'given', 'declined', 'expired')", name="ck_consent_state"),
        sa.CheckConstraint("state <> 'given' OR answered_by <> asked_by", name="ck_consent_not_own"),
        sa.CheckConstraint("state <> 'given' OR answered_by IS NOT NULL", name="ck_consent_answered"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "uq_consent_open",
        "consent",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "home_view",
        sa.Column("slack_id", sa.Text(), nullable=False),
        sa.Column("opened_at", WHEN, nullable=False),
        sa.Column("published_at", WHEN, nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("slack_id"),
    )


def _look_ups() -> None:
    op.create_index("ix_purchase_event_occurred_at", "purchase_event", ["program", "occurred_at"])
    op.create_index("ix_request_subject", "request", ["subject"])


def _batches() -> None:
    op.add_column("request", sa.Column("rows", sa.Integer(), nullable=True))
    op.add_column("request", sa.Column("parent_id", sa.Text(), nullable=True))
    op.create_index("ix_request_parent_id", "request", ["parent_id"])


def _card_reveal() -> None:
    op.create_table(
        "card_reveal",
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("valid_until", WHEN, nullable=False),
        sa.Column("links", sa.Integer(), nullable=False),
        sa.Column("token_digest", sa.Text(), nullable=True),
        sa.Column("expires_at", WHEN, nullable=True),
        sa.Column("spent_at", WHEN, nullable=True),
        sa.CheckConstraint("state IN ('owed', 'sent', 'opened', 'over')", name="ck_card_reveal_state"),
        sa.ForeignKeyConstraint(["request_id"], ["request.id"], name="fk_card_reveal_request"),
        sa.PrimaryKeyConstraint("request_id"),
        sa.UniqueConstraint("token_digest", name="uq_card_reveal_token_digest"),
    )
    op.create_index("ix_card_reveal_state_valid_until", "card_reveal", ["state", "valid_until"])


def _events() -> None:
    """Payloads that can be purged, and who watches where several processes could."""
    with op.batch_alter_table("inbox") as inbox:
        inbox.alter_column("sealed_payload", existing_type=sa.Text(), nullable=True)
    kept = sa.text("sealed_payload IS NOT NULL")
    op.create_index(
        "ix_inbox_kept_payload", "inbox", ["processed_at"], sqlite_where=kept, postgresql_where=kept
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
