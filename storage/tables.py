"""The tables. The query modules turn rows into domain values and back.

Migrations are the way to a new table or column; a test compares them with what is declared here.
CHECKs and unique indexes repeat the rules that must hold even against raw SQL. Indexes that
each database has in words of its own are in `storage.migrations.dialect_indexes`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from bot.domain.requests import DecisionKind, Stage, State
from storage.columns import Json, Money, SealedText, UtcDateTime, Word

metadata = MetaData()

# Compared byte by byte on both databases, so that what begins alike lies together.
_BY_BYTES = Text().with_variant(Text(collation="C"), "postgresql")
_BIG = BigInteger().with_variant(Integer, "sqlite")


def _words(column: str, *allowed: str) -> str:
    quoted = ", ".join(f"'{word}'" for word in allowed)
    return f"{column} IN ({quoted})"


def _key(name: str) -> Column[Any]:
    return Column(name, Text, primary_key=True)


def _text(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False)


def _maybe_text(name: str) -> Column[Any]:
    return Column(name, Text)


def _sealed(name: str) -> Column[Any]:
    return Column(name, SealedText, nullable=False)


def _when(name: str) -> Column[Any]:
    return Column(name, UtcDateTime, nullable=False)


def _maybe_when(name: str) -> Column[Any]:
    return Column(name, UtcDateTime)


def _number(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False)


def _maybe_number(name: str) -> Column[Any]:
    return Column(name, Integer)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False)


def _json(name: str) -> Column[Any]:
    return Column(name, Json, nullable=False)


# Facts about this installation: its name.
meta = Table(
    "meta",
    metadata,
    _key("name"),
    _text("value"),
)

# A sealed constant per master key in use: a wrong key is noticed before it can do harm.
keycheck = Table(
    "keycheck",
    metadata,
    _key("kid"),
    _sealed("sealed"),
)

# A card program: one Partner API account and its sealed key.
program = Table(
    "program",
    metadata,
    _key("name"),
    _text("base_url"),
    _sealed("sealed_key"),
    _number("key_version"),
    _text("key_prefix"),
    _maybe_text("partner_id"),
    _maybe_text("paused_reason"),
    _maybe_when("paused_at"),
    _when("created_at"),
    _when("updated_at"),
    _maybe_when("drafts_since"),
    _maybe_when("drafts_until"),
)

# A Slack account as last seen; decisions never rely on this copy.
person = Table(
    "person",
    metadata,
    _key("slack_id"),
    _text("name"),
    _text("real_name"),
    _text("team_id"),
    _flag("is_restricted"),
    _flag("is_ultra_restricted"),
    _flag("is_stranger"),
    _flag("is_bot"),
    _flag("deleted"),
    _text("tz"),
    _when("checked_at"),
)

# Who was in which role when it was last resolved, to notice changes of a group. Nothing writes it as yet.
person_role = Table(
    "person_role",
    metadata,
    _key("slack_id"),
    _key("role"),
    _text("source"),
    _when("seen_at"),
)

# One asked-for operation: the truth about it. `sealed_*` are empty once purged.
request = Table(
    "request",
    metadata,
    _key("id"),
    _text("program"),
    _text("kind"),
    Column("state", Word(State), nullable=False),
    _number("version"),
    _text("requester"),
    _text("requester_name"),
    _text("reason"),
    _json("terms"),
    _text("subject"),
    _text("subject_label"),
    _text("summary"),
    Column("exposure_usd", Money, nullable=False),
    _text("digest"),
    _text("key"),
    _number("approvals_needed"),
    _text("policy_version"),
    _when("created_at"),
    _when("expires_at"),
    _json("facts"),
    _text("body_mac"),
    _flag("break_glass"),
    _maybe_when("approved_at"),
    _maybe_when("valid_until"),
    _maybe_when("first_sent_at"),
    _maybe_when("due_at"),
    _maybe_when("remind_at"),
    _maybe_when("key_expires_at"),
    _number("attempts"),
    _number("fence"),
    _maybe_text("lease_owner"),
    _maybe_when("lease_until"),
    _flag("outcome_unknown"),
    _flag("needs_person"),
    Column("outcome", Json),
    _text("outcome_text"),
    _maybe_when("finished_at"),
    Column("sealed_private", SealedText),
    Column("sealed_body", SealedText),
    _maybe_when("purged_at"),
    _maybe_number("rows"),
    _maybe_text("parent_id"),
    Column("stage", Word(Stage)),
    UniqueConstraint("key", name="uq_request_key"),
    UniqueConstraint("id", "requester", name="uq_request_id_requester"),
    CheckConstraint(_words("state", *State), name="ck_request_state"),
    CheckConstraint("version >= 1", name="ck_request_version"),
    Index("ix_request_state_due_at", "state", "due_at"),
    Index("ix_request_created_at", "created_at"),
    Index("ix_request_approved_at", "approved_at"),
    Index("ix_request_subject", "subject", "created_at"),
)

# A filled form on its way to a request.
draft = Table(
    "draft",
    metadata,
    _key("id"),
    _text("owner"),
    _text("kind"),
    _text("program"),
    _sealed("sealed_content"),
    _when("created_at"),
)

# One person's decision. The composite key ties `requester` to the request's own.
decision = Table(
    "decision",
    metadata,
    _key("id"),
    _text("request_id"),
    Column("kind", Word(DecisionKind), nullable=False),
    _text("actor"),
    _text("actor_name"),
    _text("requester"),
    _text("reason"),
    _text("verdict"),
    _text("digest"),
    _text("policy_version"),
    _text("mac"),
    _when("decided_at"),
    Column("assertion", Json),
    Column("conditions", Json),
    ForeignKeyConstraint(
        ["request_id", "requester"], ["request.id", "request.requester"], name="fk_decision_request"
    ),
    Index("ix_decision_request_id", "request_id"),
    Index("ix_decision_decided_at", "decided_at"),
    CheckConstraint(
        _words("kind", "approve", "reject", "cancel", "break_glass", "confirm", "resolve"),
        name="ck_decision_kind",
    ),
    CheckConstraint(
        "kind NOT IN ('approve', 'reject', 'confirm') OR actor <> requester", name="ck_decision_not_own"
    ),
    CheckConstraint("verdict IN ('', 'succeeded', 'failed')", name="ck_decision_verdict"),
)

# One call to the Partner API for a request, written before the call.
attempt = Table(
    "attempt",
    metadata,
    _key("id"),
    _text("request_id"),
    _number("number"),
    _number("fence"),
    _text("owner"),
    _text("purpose"),
    _when("sent_at"),
    _maybe_when("answered_at"),
    _maybe_number("status"),
    _maybe_text("code"),
    _maybe_text("certainty"),
    _maybe_text("finding"),
    _text("detail"),
    ForeignKeyConstraint(["request_id"], ["request.id"], name="fk_attempt_request"),
    UniqueConstraint("request_id", "number", name="uq_attempt_number"),
    CheckConstraint(_words("purpose", "send", "replay", "look"), name="ck_attempt_purpose"),
)

# An event the API sent us, by webhook or by the event log; each once. Its payload is purged in time.
inbox = Table(
    "inbox",
    metadata,
    _key("event_id"),
    _text("program"),
    _text("type"),
    _when("created_at"),
    _when("received_at"),
    _text("source"),
    Column("sealed_payload", SealedText),
    _text("state"),
    _maybe_when("processed_at"),
    _number("attempts"),
    _maybe_when("retry_at"),
    CheckConstraint(_words("state", "received", "processed"), name="ck_inbox_state"),
    Index("ix_inbox_state_received_at", "state", "received_at"),
    Index("ix_inbox_last_received", "program", "source", "received_at"),
)

# A program's signing secrets, the newest version current. `lost`: one was made that we never saw.
webhook_secret = Table(
    "webhook_secret",
    metadata,
    _key("program"),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("sealed_secret", SealedText),
    _text("state"),
    _when("since"),
    _maybe_when("until"),
    CheckConstraint(_words("state", "current", "previous", "lost"), name="ck_webhook_secret_state"),
    CheckConstraint("(state = 'lost') = (sealed_secret IS NULL)", name="ck_webhook_secret_lost_has_none"),
    CheckConstraint("(state = 'previous') = (until IS NOT NULL)", name="ck_webhook_secret_until"),
)

# A purchase as its events tell it; `picture` is worked out from all of them again each time.
purchase = Table(
    "purchase",
    metadata,
    _key("program"),
    _key("transaction_id"),
    _maybe_text("card_id"),
    _maybe_text("merchant"),
    _text("state"),
    _json("picture"),
    _when("updated_at"),
    Index("ix_purchase_card", "program", "card_id"),
    Index("ix_purchase_state", "state"),
)

# One event of a purchase. `facts` are figures and codes, nothing personal.
purchase_event = Table(
    "purchase_event",
    metadata,
    _key("event_id"),
    _text("program"),
    _text("transaction_id"),
    _maybe_text("card_id"),
    _text("kind"),
    _when("occurred_at"),
    _json("facts"),
    Index("ix_purchase_event_transaction", "program", "transaction_id"),
    Index("ix_purchase_event_occurred_at", "program", "occurred_at"),
)

# An event to send to another system: its bytes once made, sealed, the same at every attempt.
relay_delivery = Table(
    "relay_delivery",
    metadata,
    _key("id"),
    _text("destination"),
    _text("event_id"),
    Column("sealed_body", SealedText),
    _text("state"),
    _number("attempts"),
    _when("due_at"),
    _text("last_error"),
    _when("created_at"),
    _maybe_when("sent_at"),
    UniqueConstraint("destination", "event_id", name="uq_relay_delivery_once"),
    CheckConstraint(_words("state", "owed", "sent", "dead"), name="ck_relay_delivery_state"),
    Index("ix_relay_delivery_due", "destination", "state", "due_at"),
)

# Readings over time, for charts and for the rate at which money is spent.
reading_history = Table(
    "reading_history",
    metadata,
    _key("program"),
    _key("name"),
    Column("read_at", UtcDateTime, primary_key=True),
    _json("value"),
)

# Who does what only one process of several may do, and until when unless it is renewed.
lease = Table(
    "lease",
    metadata,
    _key("name"),
    _text("owner"),
    _when("until"),
)

# What was sent with a key of the API in the last minute, by all processes that use it.
rate_minute = Table(
    "rate_minute",
    metadata,
    _key("key_prefix"),
    _json("minute"),
)

# A process that runs on this database: what it does, and when it last said that it does.
replica = Table(
    "replica",
    metadata,
    _key("owner"),
    _text("roles"),
    _when("started_at"),
    _when("beat_at"),
)

# How far something that is read in pieces has been read.
cursor = Table(
    "cursor",
    metadata,
    _key("program"),
    _key("name"),
    _text("value"),
    _when("updated_at"),
)

# The history of an alert, in the order of `n`: what its thread tells.
alert_thread_line = Table(
    "alert_note",  # the name it was created under
    metadata,
    _key("alert_id"),
    Column("n", Integer, primary_key=True, autoincrement=False),
    _when("at"),
    _text("actor"),
    _text("text"),
    ForeignKeyConstraint(["alert_id"], ["alert.id"], name="fk_alert_note_alert"),
)

# A named rule by which some alerts are not posted.
mute = Table(
    "mute",
    metadata,
    _key("name"),
    _json("rule"),
    _text("by"),
    _when("since"),
    _maybe_when("until"),
)

# Who in Slack gets the one-time codes of the cards with this `partner_ref`.
person_card = Table(
    "person_card",
    metadata,
    _key("partner_ref"),
    _text("slack_id"),
)

# Somebody has stopped sending to a program. What the API does not take of a key is in `program`.
pause = Table(
    "pause",
    metadata,
    _key("program"),
    _text("by"),
    _text("by_name"),
    _text("reason"),
    _when("since"),
)

# An older copy of the database was put in place. One without `left_at` is in force: nothing is sent.
# `head_seq`: where the copy's audit chain ended; `anchor_seq`: where it had ended at `anchor_at`, as kept
# outside.
safe_mode = Table(
    "safe_mode",
    metadata,
    _key("id"),
    Column("head_seq", _BIG, nullable=False),
    _maybe_when("head_at"),
    Column("anchor_seq", _BIG, nullable=False),
    _maybe_when("anchor_at"),
    _when("entered_at"),
    _maybe_number("voided"),
    _maybe_when("left_at"),
)

# A row of the card provider's ledger under a key made here, for which there is no request here.
orphan_debit = Table(
    "orphan_debit",
    metadata,
    _key("program"),
    _key("reference"),
    Column("amount_usd", Money, nullable=False),
    _key("kind"),
    _maybe_text("card_id"),
    _when("booked_at"),
    _when("found_at"),
    _maybe_when("listed_at"),
)

# A call of the API that the key of a program may not make.
held_endpoint = Table(
    "held_endpoint",
    metadata,
    _key("program"),
    _key("endpoint"),
    _text("message"),
    _when("since"),
)

# What one person asked for and a second one has to say yes to, other than an operation at the API.
consent = Table(
    "consent",
    metadata,
    _key("id"),
    _text("kind"),
    _text("subject"),
    _json("terms"),
    _text("asked_by"),
    _text("asked_by_name"),
    _when("asked_at"),
    _when("expires_at"),
    _text("state"),
    _maybe_text("answered_by"),
    _maybe_when("answered_at"),
    CheckConstraint(_words("state", "open", "given", "declined", "expired"), name="ck_consent_state"),
    CheckConstraint("state <> 'given' OR answered_by <> asked_by", name="ck_consent_not_own"),
    CheckConstraint("state <> 'given' OR answered_by IS NOT NULL", name="ck_consent_answered"),
)

# A passkey of a person: the public half, sealed with whose it is, so that nobody can put another in its
# place.  `version` counts its changes, the uses of it among them.
passkey = Table(
    "passkey",
    metadata,
    _key("id"),
    _text("slack_id"),
    _text("credential_id"),
    _text("name"),
    _text("state"),
    _number("version"),
    _sealed("sealed_key"),
    _when("created_at"),
    _maybe_when("added_at"),
    _maybe_when("used_at"),
    _maybe_when("ended_at"),
    _text("ended_why"),
    UniqueConstraint("credential_id", name="uq_passkey_credential_id"),
    CheckConstraint(_words("state", "waiting", "active", "ended"), name="ck_passkey_state"),
    Index("ix_passkey_slack_id", "slack_id", "state"),
)

# A one-time link to the page for passkeys. Of its token, and of the page's own, only the digest is kept.
passkey_link = Table(
    "passkey_link",
    metadata,
    _key("token_digest"),
    _text("slack_id"),
    _text("purpose"),
    _text("subject"),
    _number("version"),
    _text("digest"),
    _text("nonce"),
    _json("terms"),
    _text("view_id"),
    _when("made_at"),
    _when("expires_at"),
    _maybe_text("page_digest"),
    _maybe_when("spent_at"),
    _maybe_text("mac"),
    Index("ix_passkey_link_expires_at", "expires_at"),
)

# Who opened the Home tab when, and what was shown there last: its fingerprint, not its content.
home_view = Table(
    "home_view",
    metadata,
    _key("slack_id"),
    _when("opened_at"),
    _maybe_when("published_at"),
    _text("fingerprint"),
)

# What a person and the bot are talking about in one thread: ids and typed values, never raw text.
dialog = Table(
    "dialog",
    metadata,
    _key("team_id"),
    _key("channel_id"),
    _key("thread_ts"),
    _key("user_id"),
    _text("id"),  # what buttons carry
    _text("intent"),
    _sealed("sealed_slots"),  # a phone number or an address may be among them
    _text("asked_slot"),  # empty = nothing is asked
    _json("candidates"),
    _text("last_card_id"),
    _number("misses"),
    _number("version"),
    _when("created_at"),
    _when("expires_at"),
    UniqueConstraint("id", name="uq_dialog_id"),
)

# A text that nobody understood, without its values; kept for a month, and only where the settings say so.
unread_text = Table(
    "unread_text",
    metadata,
    _key("id"),
    _sealed("sealed_text"),  # a name may have slipped through the mask
    _when("said_at"),
    Index("ix_unread_text_said_at", "said_at"),
)

# The one-time link of an approved card_reveal: of its token only the digest is kept.  `spent_at`: the link
# was used; `state` tells whether details were given for it.
card_reveal = Table(
    "card_reveal",
    metadata,
    _key("request_id"),
    _text("state"),
    _when("valid_until"),  # of the approval: no link is made later
    _number("links"),
    _maybe_text("token_digest"),
    _maybe_when("expires_at"),
    _maybe_when("spent_at"),
    ForeignKeyConstraint(["request_id"], ["request.id"], name="fk_card_reveal_request"),
    UniqueConstraint("token_digest", name="uq_card_reveal_token_digest"),
    CheckConstraint(_words("state", "owed", "sent", "opened", "over"), name="ck_card_reveal_state"),
    Index("ix_card_reveal_state_valid_until", "state", "valid_until"),
)

# A Slack message to send. `body` holds ids and plain facts, nothing personal. Ids give the order.
outbox = Table(
    "outbox",
    metadata,
    Column("id", _BIG, primary_key=True),
    _text("channel"),
    _maybe_text("user"),
    _text("kind"),
    _text("subject"),
    _json("body"),
    _text("dedupe"),
    _text("state"),
    _when("due_at"),
    _number("attempts"),
    _text("last_error"),
    _when("created_at"),
    _maybe_when("sent_at"),
    UniqueConstraint("dedupe", name="uq_outbox_dedupe"),
    CheckConstraint(_words("kind", "card", "line", "alert", "direct"), name="ck_outbox_kind"),
    CheckConstraint(_words("state", "owed", "sending", "sent", "dropped"), name="ck_outbox_state"),
    Index("ix_outbox_state_due_at", "state", "due_at"),
    Index("ix_outbox_subject", "subject", "kind"),
    Index("ix_outbox_sent_at", "sent_at"),
)

# Where the picture of a subject is in Slack, and which version was drawn last.
message = Table(
    "message",
    metadata,
    _key("subject"),
    _key("kind"),
    _text("channel"),
    _text("ts"),
    _when("posted_at"),
    _number("drawn_version"),
)

# A fact someone should look at. One open alert per `dedupe`.
alert = Table(
    "alert",
    metadata,
    _key("id"),
    _text("dedupe"),
    _text("kind"),
    _text("subject"),
    _text("severity"),
    _text("title"),
    _text("text"),
    _text("state"),
    _number("count"),
    _when("raised_at"),
    _when("updated_at"),
    _maybe_text("acknowledged_by"),
    _maybe_when("snoozed_until"),
    _maybe_text("assigned_to"),
    _maybe_when("resolved_at"),
    _maybe_text("program"),
    CheckConstraint(_words("state", "raised", "acknowledged", "snoozed", "resolved"), name="ck_alert_state"),
    Index("ix_alert_dedupe", "dedupe"),
    Index("ix_alert_subject", "subject", "kind"),
    Index("ix_alert_raised_at", "raised_at"),
)

# A card of the directory. Ids are case-sensitive, as text is on both databases.
card = Table(
    "card",
    metadata,
    _key("id"),
    _text("program"),
    _text("holder"),
    _text("holder_key"),
    _maybe_text("last4"),
    _maybe_text("partner_ref"),
    _maybe_text("status"),
    _maybe_when("created_at"),
    Column("balance_usd", Money),
    _maybe_when("balance_at"),
    _when("seen_at"),
    _maybe_when("gone_at"),
    _maybe_text("mac"),  # of who the card is: None = written before labels were signed
    Index("ix_card_last4", "last4"),
    Index("ix_card_partner_ref", "partner_ref"),
    Index("ix_card_holder_key", "holder_key", "id"),
    Index("ix_card_status", "status", "holder_key", "id"),
)

# What people may begin to type for a card: the words of its holder, its last four and parts of its reference.
card_word = Table(
    "card_word",
    metadata,
    _key("card_id"),
    Column("word", _BY_BYTES, primary_key=True),
    ForeignKeyConstraint(["card_id"], ["card.id"], name="fk_card_word_card"),
    Index("ix_card_word_word", "word", "card_id"),
)

# How many open cards of a program have a status ("" = none yet): the sum of `more` over its rows.  Triggers
# of `card` add a row at each change of a card that people see (`more` may be 0); `storage.cards.card_counts`
# puts rows together. No row is changed, so nobody waits for anybody here.
card_count = Table(
    "card_count",
    metadata,
    Column("id", _BIG, primary_key=True),
    _text("program"),
    _text("status"),
    _number("more"),
)

# When a program's directory was last read whole.
card_sync = Table(
    "card_sync",
    metadata,
    _key("program"),
    _when("synced_at"),
    _number("count"),
)

# The last value read of something at the API: float, fees.
reading = Table(
    "reading",
    metadata,
    _key("program"),
    _key("name"),
    _json("value"),
    _when("read_at"),
)

# One link of the audit chain. Triggers refuse UPDATE, DELETE and TRUNCATE.
audit = Table(
    "audit",
    metadata,
    Column("seq", _BIG, primary_key=True, autoincrement=False),
    _when("at"),
    _text("actor"),
    _text("action"),
    _text("subject"),
    _text("outcome"),
    _text("reason_code"),
    _text("body"),
    _text("policy_version"),
    _text("prev"),
    _text("hash"),
    _text("mac"),
)

# The end of the chain; its only row is locked while a link is added.
audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", _BIG, nullable=False),
    _text("hash"),
    CheckConstraint("id = 1", name="ck_audit_head_one"),
)

# What a row of a signed table is to be, or that there is to be none: see `storage.signed_rows`.
row_signature = Table(
    "row_signature",
    metadata,
    _key("table_name"),
    _key("row_key"),
    _number("version"),
    _text("mac"),
)
