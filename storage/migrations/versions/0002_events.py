"""Events: secrets of the webhook, purchases, the relay, readings over time, and the life of alerts.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

WHEN = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    op.add_column("inbox", sa.Column("retry_at", WHEN, nullable=True))
    _webhook()
    _purchases()
    _alerts()
    op.create_table(
        "relay_delivery",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("sealed_body", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", WHEN, nullable=False),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("sent_at", WHEN, nullable=True),
        sa.CheckConstraint("state IN ('owed', 'sent', 'dead')", name="ck_relay_delivery_state"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("destination", "event_id", name="uq_relay_delivery_once"),
    )
    op.create_index("ix_relay_delivery_due", "relay_delivery", ["destination", "state", "due_at"])
    op.create_table(
        "reading_history",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("read_at", WHEN, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("program", "name", "read_at"),
    )
    op.create_table(
        "cursor",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("program", "name"),
    )


def _webhook() -> None:
    op.create_table(
        "webhook_secret",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("since", WHEN, nullable=False),
        sa.Column("until", WHEN, nullable=True),
        sa.CheckConstraint("state IN ('current', 'previous', 'lost')", name="ck_webhook_secret_state"),
        sa.CheckConstraint(
            "(state = 'lost') = (sealed_secret IS NULL)", name="ck_webhook_secret_lost_has_none"
        ),
        sa.CheckConstraint("(state = 'previous') = (until IS NOT NULL)", name="ck_webhook_secret_until"),
        sa.PrimaryKeyConstraint("program", "version"),
    )
    op.create_index(
        "uq_webhook_secret_current",
        "webhook_secret",
        ["program"],
        unique=True,
        sqlite_where=sa.text("state = 'current'"),
        postgresql_where=sa.text("state = 'current'"),
    )


def _purchases() -> None:
    op.create_table(
        "purchase",
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("transaction_id", sa.Text(), nullable=False),
        sa.Column("card_id", sa.Text(), nullable=True),
        sa.Column("merchant", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("picture", sa.Text(), nullable=False),
        sa.Column("updated_at", WHEN, nullable=False),
        sa.PrimaryKeyConstraint("program", "transaction_id"),
    )
    op.create_index("ix_purchase_card", "purchase", ["program", "card_id"])
    op.create_index("ix_purchase_state", "purchase", ["state"])
    op.create_table(
        "purchase_event",
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("transaction_id", sa.Text(), nullable=False),
        sa.Column("card_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("occurred_at", WHEN, nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("event_id"),
    )
    op.create_index("ix_purchase_event_transaction", "purchase_event", ["program", "transaction_id"])


def _alerts() -> None:
    op.create_table(
        "alert_note",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", WHEN, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], name="fk_alert_note_alert"),
        sa.PrimaryKeyConstraint("alert_id", "n"),
    )
    op.create_table(
        "mute",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("since", WHEN, nullable=False),
        sa.Column("until", WHEN, nullable=True),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "person_card",
        sa.Column("partner_ref", sa.Text(), nullable=False),
        sa.Column("slack_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("partner_ref"),
    )
