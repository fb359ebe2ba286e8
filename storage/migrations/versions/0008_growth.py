"""What keeps every look-up as quick with a hundred thousand rows as with a thousand: indexes, words, kept counts.

The types are spelled out here, so that this revision stays what it was when the tables move on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.cards import card_words

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BY_BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

_TOP = "parent_id IS NULL"
# name, table, columns, of which rows ("" = all)
INDEXES = (
    ("ix_request_parent_id", "request", ["parent_id"], "parent_id IS NOT NULL"),
    ("ix_request_subject", "request", ["subject", "created_at"], ""),
    ("ix_request_page", "request", ["created_at", "id"], _TOP),
    ("ix_request_page_state", "request", ["state", "created_at", "id"], _TOP),
    ("ix_request_page_requester", "request", ["requester", "state", "created_at", "id"], _TOP),
    ("ix_request_page_kind", "request", ["kind", "state", "created_at", "id"], _TOP),
    ("ix_request_unpurged", "request", ["created_at"], "purged_at IS NULL"),
    ("ix_request_in_doubt", "request", ["finished_at"], "outcome_unknown"),
    ("ix_decision_decided_at", "decision", ["decided_at"], ""),
    ("ix_inbox_last_received", "inbox", ["program", "source", "received_at"], ""),
    ("ix_outbox_sent_at", "outbox", ["sent_at"], ""),
    ("ix_alert_open", "alert", ["raised_at", "kind"], "state <> 'resolved'"),
    ("ix_alert_dedupe", "alert", ["dedupe"], ""),
    ("ix_alert_subject", "alert", ["subject", "kind"], ""),
    ("ix_alert_raised_at", "alert", ["raised_at"], ""),
    ("ix_card_holder_key", "card", ["holder_key", "id"], ""),
    ("ix_card_status", "card", ["status", "holder_key", "id"], ""),
    ("ix_card_gone", "card", ["program", "gone_at"], "gone_at IS NOT NULL"),
    ("ix_card_word_word", "card_word", ["word", "card_id"], ""),
)
# As they were before.
MADE_AGAIN = (
    ("ix_request_parent_id", "request", ["parent_id"]),
    ("ix_request_subject", "request", ["subject"]),
    ("ix_card_holder_key", "card", ["holder_key"]),
)

_SEEN = ("program", "holder", "last4", "partner_ref", "status", "gone_at")
_CHANGED = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in _SEEN)


def _counted(row: str, more: int) -> str:
    """One card more, or fewer, as `row` of a trigger has it; nothing of a closed one."""
    return (
        f"INSERT INTO card_count (program, status, more) SELECT {row}.program, coalesce({row}.status, ''), {more}"
        f" WHERE {row}.gone_at IS NULL AND coalesce({row}.status, '') <> 'DELETED';"
    )


_SQLITE_TRIGGERS = (
    f"CREATE TRIGGER card_counted_new AFTER INSERT ON card BEGIN {_counted('NEW', 1)} END",
    f"CREATE TRIGGER card_counted_changed AFTER UPDATE ON card WHEN {_CHANGED.replace('IS DISTINCT FROM', 'IS NOT')}"
    f" BEGIN {_counted('OLD', -1)} {_counted('NEW', 1)} END",
    f"CREATE TRIGGER card_counted_gone AFTER DELETE ON card BEGIN {_counted('OLD', -1)} END",
)
_POSTGRES_TRIGGERS = (
    f"""
    CREATE FUNCTION card_counted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'INSERT' THEN {_counted("OLD", -1)} END IF;
        IF TG_OP <> 'DELETE' THEN {_counted("NEW", 1)} END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER card_counted_new AFTER INSERT OR DELETE ON card
    FOR EACH ROW EXECUTE FUNCTION card_counted()
    """,
    f"""
    CREATE TRIGGER card_counted_changed AFTER UPDATE ON card
    FOR EACH ROW WHEN ({_CHANGED}) EXECUTE FUNCTION card_counted()
    """,
)


def upgrade() -> None:
    op.create_table(
        "card_word",
        sa.Column("card_id", sa.Text(), nullable=False),
        sa.Column("word", BY_BYTES, nullable=False),
        sa.ForeignKeyConstraint(["card_id"], ["card.id"], name="fk_card_word_card"),
        sa.PrimaryKeyConstraint("card_id", "word"),
    )
    op.create_table(
        "card_count",
        sa.Column("id", BIG, nullable=False),
        sa.Column("program", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("more", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _fill_words()
    op.execute(
        "INSERT INTO card_count (program, status, more) SELECT program, coalesce(status, ''), count(*) FROM card"
        " WHERE gone_at IS NULL AND coalesce(status, '') <> 'DELETED' GROUP BY program, coalesce(status, '')"
    )
    postgres = op.get_bind().dialect.name == "postgresql"
    for statement in _POSTGRES_TRIGGERS if postgres else _SQLITE_TRIGGERS:
        op.execute(statement)
    for name, *_ in MADE_AGAIN:
        op.drop_index(name)
    for name, table, columns, where in INDEXES:
        some = sa.text(where) if where else None
        op.create_index(name, table, columns, sqlite_where=some, postgresql_where=some)
    op.create_index(
        "ix_audit_subject", "audit", ["subject", "seq"], postgresql_ops={"subject": "text_pattern_ops"}
    )


def _fill_words() -> None:
    bind, last = op.get_bind(), ""
    read = sa.text("SELECT id, holder, last4, partner_ref FROM card WHERE id > :last ORDER BY id LIMIT 1000")
    write = sa.text("INSERT INTO card_word (card_id, word) VALUES (:card_id, :word)")
    while found := bind.execute(read, {"last": last}).all():
        words = [
            {"card_id": card.id, "word": word}
            for card in found
            for word in sorted(card_words.words_of(card.holder, card.last4, card.partner_ref))
        ]
        if words:
            bind.execute(write, words)
        last = found[-1].id
