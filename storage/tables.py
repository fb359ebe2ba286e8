"""The rows. No behaviour: the query modules turn rows into domain values and back.

Migrations are the way to a new table or column; a test compares them with what is declared here.
CHECKs and unique indexes repeat the rules that must hold even against raw SQL.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlmodel import Field, SQLModel

from bot.domain.requests import DecisionKind, Stage, State
from storage.columns import Json, Money, SealedText, UtcDateTime, Word

# Compared byte by byte on both databases, so that what begins alike lies together.
_BY_BYTES = Text().with_variant(Text(collation="C"), "postgresql")
_BIG = BigInteger().with_variant(Integer, "sqlite")


def _words(column: str, *allowed: str) -> str:
    quoted = ", ".join(f"'{word}'" for word in allowed)
    return f"{column} IN ({quoted})"


def _key() -> Any:
    return Field(primary_key=True, sa_type=Text)


def _text() -> Any:
    return Field(sa_type=Text)


def _maybe_text() -> Any:
    return Field(sa_type=Text, nullable=True)


def _when() -> Any:
    return Field(sa_type=cast(Any, UtcDateTime))


def _maybe_when() -> Any:
    return Field(sa_type=cast(Any, UtcDateTime), nullable=True)


def _json() -> Any:
    return Field(sa_type=cast(Any, Json))


def _some(name: str, where: str, *columns: str) -> Index:
    """An index of some rows alone: for searches that say `where` in the same words."""
    return Index(name, *columns, sqlite_where=sql(where), postgresql_where=sql(where))


_TOP = "parent_id IS NULL"
_OPEN_ALERT = "state <> 'resolved'"


class MetaRow(SQLModel, table=True):
    """Facts about this installation: its name."""

    __tablename__ = "meta"
    name: str = _key()
    value: str = _text()


class KeyCheckRow(SQLModel, table=True):
    """A sealed constant per master key in use: a wrong key is noticed before it can do harm."""

    __tablename__ = "keycheck"
    kid: str = _key()
    sealed: str = Field(sa_type=cast(Any, SealedText))


class ProgramRow(SQLModel, table=True):
    """A card program: one Partner API account and its sealed key."""

    __tablename__ = "program"
    name: str = _key()
    base_url: str = _text()
    sealed_key: str = Field(sa_type=cast(Any, SealedText))
    key_version: int
    key_prefix: str = _text()
    partner_id: str | None = _maybe_text()
    paused_reason: str | None = _maybe_text()
    paused_at: datetime | None = _maybe_when()
    created_at: datetime = _when()
    updated_at: datetime = _when()
    drafts_since: datetime | None = _maybe_when()
    drafts_until: datetime | None = _maybe_when()


class PersonRow(SQLModel, table=True):
    """A Slack account as last seen; decisions never rely on this copy."""

    __tablename__ = "person"
    slack_id: str = _key()
    name: str = _text()
    real_name: str = _text()
    team_id: str = _text()
    is_restricted: bool
    is_ultra_restricted: bool
    is_stranger: bool
    is_bot: bool
    deleted: bool
    tz: str = _text()
    checked_at: datetime = _when()


class PersonRoleRow(SQLModel, table=True):
    """Who was in which role when it was last resolved, to notice changes of a group. Nothing writes it as yet."""

    __tablename__ = "person_role"
    slack_id: str = _key()
    role: str = _key()
    source: str = _text()
    seen_at: datetime = _when()


class RequestRow(SQLModel, table=True):
    """One asked-for operation: the truth about it. `sealed_*` are empty once purged."""

    __tablename__ = "request"
    __table_args__ = (
        UniqueConstraint("key", name="uq_request_key"),
        UniqueConstraint("id", "requester", name="uq_request_id_requester"),
        CheckConstraint(_words("state", *State), name="ck_request_state"),
        CheckConstraint("version >= 1", name="ck_request_version"),
        Index("ix_request_state_due_at", "state", "due_at"),
        Index("ix_request_created_at", "created_at"),
        Index("ix_request_approved_at", "approved_at"),
        _some("ix_request_parent_id", "parent_id IS NOT NULL", "parent_id"),
        Index("ix_request_subject", "subject", "created_at"),
        # Pages of requests, a batch standing for its rows: each search is the front of one of these.
        _some("ix_request_page", _TOP, "created_at", "id"),
        _some("ix_request_page_state", _TOP, "state", "created_at", "id"),
        _some("ix_request_page_requester", _TOP, "requester", "state", "created_at", "id"),
        _some("ix_request_page_kind", _TOP, "kind", "state", "created_at", "id"),
        _some("ix_request_unpurged", "purged_at IS NULL", "created_at"),
        _some("ix_request_in_doubt", "outcome_unknown", "finished_at"),
    )
    id: str = _key()
    program: str = _text()
    kind: str = _text()
    state: State = Field(sa_type=cast(Any, Word(State)))
    version: int
    requester: str = _text()
    requester_name: str = _text()
    reason: str = _text()
    terms: dict[str, str] = _json()
    subject: str = _text()
    subject_label: str = _text()
    summary: str = _text()
    exposure_usd: Decimal = Field(sa_type=cast(Any, Money))
    digest: str = _text()
    key: str = _text()
    approvals_needed: int
    policy_version: str = _text()
    created_at: datetime = _when()
    expires_at: datetime = _when()
    facts: dict[str, Any] = _json()
    body_mac: str = _text()
    break_glass: bool
    approved_at: datetime | None = _maybe_when()
    valid_until: datetime | None = _maybe_when()
    first_sent_at: datetime | None = _maybe_when()
    due_at: datetime | None = _maybe_when()
    remind_at: datetime | None = _maybe_when()
    key_expires_at: datetime | None = _maybe_when()
    attempts: int
    fence: int
    lease_owner: str | None = _maybe_text()
    lease_until: datetime | None = _maybe_when()
    outcome_unknown: bool
    needs_person: bool
    outcome: dict[str, Any] | None = Field(sa_type=cast(Any, Json), nullable=True)
    outcome_text: str = _text()
    finished_at: datetime | None = _maybe_when()
    sealed_private: str | None = Field(sa_type=cast(Any, SealedText), nullable=True)
    sealed_body: str | None = Field(sa_type=cast(Any, SealedText), nullable=True)
    purged_at: datetime | None = _maybe_when()
    rows: int | None = Field(nullable=True)
    parent_id: str | None = _maybe_text()
    stage: Stage | None = Field(sa_type=cast(Any, Word(Stage)), nullable=True)


class DraftRow(SQLModel, table=True):
    """A filled form on its way to a request."""

    __tablename__ = "draft"
    id: str = _key()
    owner: str = _text()
    kind: str = _text()
    program: str = _text()
    sealed_content: str = Field(sa_type=cast(Any, SealedText))
    created_at: datetime = _when()


class DecisionRow(SQLModel, table=True):
    """One person's decision. The composite key ties `requester` to the request's own."""

    __tablename__ = "decision"
    __table_args__ = (
        ForeignKeyConstraint(
            ["request_id", "requester"], ["request.id", "request.requester"], name="fk_decision_request"
        ),
        Index("ix_decision_request_id", "request_id"),
        Index("ix_decision_decided_at", "decided_at"),
        # Once for each person, but for the outcome of an unresolved request: that can be corrected.
        Index(
            "uq_decision_once",
            "request_id",
            "kind",
            "actor",
            unique=True,
            sqlite_where=sql("kind <> 'resolve'"),
            postgresql_where=sql("kind <> 'resolve'"),
        ),
        CheckConstraint(
            _words("kind", "approve", "reject", "cancel", "break_glass", "confirm", "resolve"),
            name="ck_decision_kind",
        ),
        CheckConstraint(
            "kind NOT IN ('approve', 'reject', 'confirm') OR actor <> requester", name="ck_decision_not_own"
        ),
        CheckConstraint("verdict IN ('', 'succeeded', 'failed')", name="ck_decision_verdict"),
    )
    id: str = _key()
    request_id: str = _text()
    kind: DecisionKind = Field(sa_type=cast(Any, Word(DecisionKind)))
    actor: str = _text()
    actor_name: str = _text()
    requester: str = _text()
    reason: str = _text()
    verdict: str = _text()
    digest: str = _text()
    policy_version: str = _text()
    mac: str = _text()
    decided_at: datetime = _when()
    assertion: dict[str, Any] | None = Field(sa_type=cast(Any, Json), nullable=True)
    conditions: dict[str, Any] | None = Field(sa_type=cast(Any, Json), nullable=True)


class AttemptRow(SQLModel, table=True):
    """One call to the Partner API for a request, written before the call."""

    __tablename__ = "attempt"
    __table_args__ = (
        ForeignKeyConstraint(["request_id"], ["request.id"], name="fk_attempt_request"),
        UniqueConstraint("request_id", "number", name="uq_attempt_number"),
        CheckConstraint(_words("purpose", "send", "replay", "look"), name="ck_attempt_purpose"),
    )
    id: str = _key()
    request_id: str = _text()
    number: int
    fence: int
    owner: str = _text()
    purpose: str = _text()
    sent_at: datetime = _when()
    answered_at: datetime | None = _maybe_when()
    status: int | None = Field(nullable=True)
    code: str | None = _maybe_text()
    certainty: str | None = _maybe_text()
    finding: str | None = _maybe_text()
    detail: str = _text()


class InboxRow(SQLModel, table=True):
    """An event the API sent us, by webhook or by the event log; each once. Its payload is purged in time."""

    __tablename__ = "inbox"
    __table_args__ = (
        CheckConstraint(_words("state", "received", "processed"), name="ck_inbox_state"),
        Index("ix_inbox_state_received_at", "state", "received_at"),
        Index("ix_inbox_last_received", "program", "source", "received_at"),
        Index(
            "ix_inbox_kept_payload",
            "processed_at",
            sqlite_where=sql("sealed_payload IS NOT NULL"),
            postgresql_where=sql("sealed_payload IS NOT NULL"),
        ),
    )
    event_id: str = _key()
    program: str = _text()
    type: str = _text()
    created_at: datetime = _when()
    received_at: datetime = _when()
    source: str = _text()
    sealed_payload: str | None = Field(sa_type=cast(Any, SealedText), nullable=True)
    state: str = _text()
    processed_at: datetime | None = _maybe_when()
    attempts: int
    retry_at: datetime | None = _maybe_when()


class WebhookSecretRow(SQLModel, table=True):
    """A program's signing secrets, the newest version current. `lost`: one was made that we never saw."""

    __tablename__ = "webhook_secret"
    __table_args__ = (
        CheckConstraint(_words("state", "current", "previous", "lost"), name="ck_webhook_secret_state"),
        CheckConstraint("(state = 'lost') = (sealed_secret IS NULL)", name="ck_webhook_secret_lost_has_none"),
        CheckConstraint("(state = 'previous') = (until IS NOT NULL)", name="ck_webhook_secret_until"),
        Index(
            "uq_webhook_secret_current",
            "program",
            unique=True,
            sqlite_where=sql("state = 'current'"),
            postgresql_where=sql("state = 'current'"),
        ),
    )
    program: str = _key()
    version: int = Field(sa_column=Column("version", Integer, primary_key=True, autoincrement=False))
    sealed_secret: str | None = Field(sa_type=cast(Any, SealedText), nullable=True)
    state: str = _text()
    since: datetime = _when()
    until: datetime | None = _maybe_when()


class PurchaseRow(SQLModel, table=True):
    """A purchase as its events tell it; `picture` is worked out from all of them again each time."""

    __tablename__ = "purchase"
    __table_args__ = (
        Index("ix_purchase_card", "program", "card_id"),
        Index("ix_purchase_state", "state"),
    )
    program: str = _key()
    transaction_id: str = _key()
    card_id: str | None = _maybe_text()
    merchant: str | None = _maybe_text()
    state: str = _text()
    picture: dict[str, Any] = _json()
    updated_at: datetime = _when()


class PurchaseEventRow(SQLModel, table=True):
    """One event of a purchase. `facts` are figures and codes, nothing personal."""

    __tablename__ = "purchase_event"
    __table_args__ = (
        Index("ix_purchase_event_transaction", "program", "transaction_id"),
        Index("ix_purchase_event_occurred_at", "program", "occurred_at"),
    )
    event_id: str = _key()
    program: str = _text()
    transaction_id: str = _text()
    card_id: str | None = _maybe_text()
    kind: str = _text()
    occurred_at: datetime = _when()
    facts: dict[str, Any] = _json()


class RelayDeliveryRow(SQLModel, table=True):
    """An event to send to another system: its bytes once made, sealed, the same at every attempt."""

    __tablename__ = "relay_delivery"
    __table_args__ = (
        UniqueConstraint("destination", "event_id", name="uq_relay_delivery_once"),
        CheckConstraint(_words("state", "owed", "sent", "dead"), name="ck_relay_delivery_state"),
        Index("ix_relay_delivery_due", "destination", "state", "due_at"),
    )
    id: str = _key()
    destination: str = _text()
    event_id: str = _text()
    sealed_body: str | None = Field(sa_type=cast(Any, SealedText), nullable=True)
    state: str = _text()
    attempts: int
    due_at: datetime = _when()
    last_error: str = _text()
    created_at: datetime = _when()
    sent_at: datetime | None = _maybe_when()


class ReadingHistoryRow(SQLModel, table=True):
    """Readings over time, for charts and for the rate at which money is spent."""

    __tablename__ = "reading_history"
    program: str = _key()
    name: str = _key()
    read_at: datetime = Field(sa_type=cast(Any, UtcDateTime), primary_key=True)
    value: Any = _json()


class LeaseRow(SQLModel, table=True):
    """Who does what only one process of several may do, and until when unless it is renewed."""

    __tablename__ = "lease"
    name: str = _key()
    owner: str = _text()
    until: datetime = _when()


class RateMinuteRow(SQLModel, table=True):
    """What was sent with a key of the API in the last minute, by all processes that use it."""

    __tablename__ = "rate_minute"
    key_prefix: str = _key()
    minute: Any = _json()


class ReplicaRow(SQLModel, table=True):
    """A process that runs on this database: what it does, and when it last said that it does."""

    __tablename__ = "replica"
    owner: str = _key()
    roles: str = _text()
    started_at: datetime = _when()
    beat_at: datetime = _when()


class CursorRow(SQLModel, table=True):
    """How far something that is read in pieces has been read."""

    __tablename__ = "cursor"
    program: str = _key()
    name: str = _key()
    value: str = _text()
    updated_at: datetime = _when()


class AlertThreadLineRow(SQLModel, table=True):
    """The history of an alert, in the order of `n`: what its thread tells."""

    __tablename__ = "alert_note"  # the name it was created under
    __table_args__ = (ForeignKeyConstraint(["alert_id"], ["alert.id"], name="fk_alert_note_alert"),)
    alert_id: str = _key()
    n: int = Field(sa_column=Column("n", Integer, primary_key=True, autoincrement=False))
    at: datetime = _when()
    actor: str = _text()
    text: str = _text()


class MuteRow(SQLModel, table=True):
    """A named rule by which some alerts are not posted."""

    __tablename__ = "mute"
    name: str = _key()
    rule: dict[str, Any] = _json()
    by: str = _text()
    since: datetime = _when()
    until: datetime | None = _maybe_when()


class PersonCardRow(SQLModel, table=True):
    """Who in Slack gets the one-time codes of the cards with this `partner_ref`."""

    __tablename__ = "person_card"
    partner_ref: str = _key()
    slack_id: str = _text()


class PauseRow(SQLModel, table=True):
    """Somebody has stopped sending to a program. What the API does not take of a key is in `program`."""

    __tablename__ = "pause"
    program: str = _key()
    by: str = _text()
    by_name: str = _text()
    reason: str = _text()
    since: datetime = _when()


class OrphanDebitRow(SQLModel, table=True):
    """A row of the card provider's ledger under a key made here, for which there is no request here."""

    __tablename__ = "orphan_debit"
    program: str = _key()
    reference: str = _key()
    amount_usd: Decimal = Field(sa_type=cast(Any, Money))
    kind: str = _key()
    card_id: str | None = _maybe_text()
    booked_at: datetime = _when()
    found_at: datetime = _when()
    listed_at: datetime | None = _maybe_when()


class HeldEndpointRow(SQLModel, table=True):
    """A call of the API that the key of a program may not make."""

    __tablename__ = "held_endpoint"
    program: str = _key()
    endpoint: str = _key()
    message: str = _text()
    since: datetime = _when()


class ConsentRow(SQLModel, table=True):
    """What one person asked for and a second one has to say yes to, other than an operation at the API."""

    __tablename__ = "consent"
    __table_args__ = (
        CheckConstraint(_words("state", "open", "given", "declined", "expired"), name="ck_consent_state"),
        CheckConstraint("state <> 'given' OR answered_by <> asked_by", name="ck_consent_not_own"),
        CheckConstraint("state <> 'given' OR answered_by IS NOT NULL", name="ck_consent_answered"),
        Index(
            "uq_consent_open",
            "kind",
            "subject",
            unique=True,
            sqlite_where=sql("state = 'open'"),
            postgresql_where=sql("state = 'open'"),
        ),
    )
    id: str = _key()
    kind: str = _text()
    subject: str = _text()
    terms: dict[str, Any] = _json()
    asked_by: str = _text()
    asked_by_name: str = _text()
    asked_at: datetime = _when()
    expires_at: datetime = _when()
    state: str = _text()
    answered_by: str | None = _maybe_text()
    answered_at: datetime | None = _maybe_when()


class PasskeyRow(SQLModel, table=True):
    """A passkey of a person: the public half, sealed with whose it is, so that nobody can put another in its place.

    `version` counts its changes, the uses of it among them.
    """

    __tablename__ = "passkey"
    __table_args__ = (
        UniqueConstraint("credential_id", name="uq_passkey_credential_id"),
        CheckConstraint(_words("state", "waiting", "active", "ended"), name="ck_passkey_state"),
        Index("ix_passkey_slack_id", "slack_id", "state"),
    )
    id: str = _key()
    slack_id: str = _text()
    credential_id: str = _text()
    name: str = _text()
    state: str = _text()
    version: int
    sealed_key: str = Field(sa_type=cast(Any, SealedText))
    created_at: datetime = _when()
    added_at: datetime | None = _maybe_when()
    used_at: datetime | None = _maybe_when()
    ended_at: datetime | None = _maybe_when()
    ended_why: str = _text()


class PasskeyLinkRow(SQLModel, table=True):
    """A one-time link to the page for passkeys. Of its token, and of the page's own, only the digest is kept."""

    __tablename__ = "passkey_link"
    __table_args__ = (Index("ix_passkey_link_expires_at", "expires_at"),)
    token_digest: str = _key()
    slack_id: str = _text()
    purpose: str = _text()
    subject: str = _text()
    version: int
    digest: str = _text()
    nonce: str = _text()
    terms: dict[str, Any] = _json()
    view_id: str = _text()
    made_at: datetime = _when()
    expires_at: datetime = _when()
    page_digest: str | None = _maybe_text()
    spent_at: datetime | None = _maybe_when()
    mac: str | None = _maybe_text()


class HomeViewRow(SQLModel, table=True):
    """Who opened the Home tab when, and what was shown there last: its fingerprint, not its content."""

    __tablename__ = "home_view"
    slack_id: str = _key()
    opened_at: datetime = _when()
    published_at: datetime | None = _maybe_when()
    fingerprint: str = _text()


class DialogRow(SQLModel, table=True):
    """What a person and the bot are talking about in one thread: ids and typed values, never raw text."""

    __tablename__ = "dialog"
    __table_args__ = (UniqueConstraint("id", name="uq_dialog_id"),)
    team_id: str = _key()
    channel_id: str = _key()
    thread_ts: str = _key()
    user_id: str = _key()
    id: str = _text()  # what buttons carry
    intent: str = _text()
    sealed_slots: str = Field(sa_type=cast(Any, SealedText))  # a phone number or an address may be among them
    asked_slot: str = _text()  # empty = nothing is asked
    candidates: list[Any] = _json()
    last_card_id: str = _text()
    misses: int
    version: int
    created_at: datetime = _when()
    expires_at: datetime = _when()


class UnreadTextRow(SQLModel, table=True):
    """A text that nobody understood, without its values; kept for a month, and only where the settings say so."""

    __tablename__ = "unread_text"
    __table_args__ = (Index("ix_unread_text_said_at", "said_at"),)
    id: str = _key()
    sealed_text: str = Field(sa_type=cast(Any, SealedText))  # a name may have slipped through the mask
    said_at: datetime = _when()


class CardRevealRow(SQLModel, table=True):
    """The one-time link of an approved card_reveal: of its token only the digest is kept.

    `spent_at`: the link was used; `state` tells whether details were given for it.
    """

    __tablename__ = "card_reveal"
    __table_args__ = (
        ForeignKeyConstraint(["request_id"], ["request.id"], name="fk_card_reveal_request"),
        UniqueConstraint("token_digest", name="uq_card_reveal_token_digest"),
        CheckConstraint(_words("state", "owed", "sent", "opened", "over"), name="ck_card_reveal_state"),
        Index("ix_card_reveal_state_valid_until", "state", "valid_until"),
    )
    request_id: str = _key()
    state: str = _text()
    valid_until: datetime = _when()  # of the approval: no link is made later
    links: int
    token_digest: str | None = _maybe_text()
    expires_at: datetime | None = _maybe_when()
    spent_at: datetime | None = _maybe_when()


class OutboxRow(SQLModel, table=True):
    """A Slack message to send. `body` holds ids and plain facts, nothing personal. Ids give the order."""

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("dedupe", name="uq_outbox_dedupe"),
        CheckConstraint(_words("kind", "card", "line", "alert", "direct"), name="ck_outbox_kind"),
        CheckConstraint(_words("state", "owed", "sending", "sent", "dropped"), name="ck_outbox_state"),
        Index("ix_outbox_state_due_at", "state", "due_at"),
        Index("ix_outbox_subject", "subject", "kind"),
        Index("ix_outbox_sent_at", "sent_at"),
    )
    id: int = Field(sa_column=Column("id", _BIG, primary_key=True))
    channel: str = _text()
    user: str | None = _maybe_text()
    kind: str = _text()
    subject: str = _text()
    body: dict[str, Any] = _json()
    dedupe: str = _text()
    state: str = _text()
    due_at: datetime = _when()
    attempts: int
    last_error: str = _text()
    created_at: datetime = _when()
    sent_at: datetime | None = _maybe_when()


class MessageRow(SQLModel, table=True):
    """Where the picture of a subject is in Slack, and which version was drawn last."""

    __tablename__ = "message"
    subject: str = _key()
    kind: str = _key()
    channel: str = _text()
    ts: str = _text()
    posted_at: datetime = _when()
    drawn_version: int


class AlertRow(SQLModel, table=True):
    """A fact someone should look at. One open alert per `dedupe`."""

    __tablename__ = "alert"
    __table_args__ = (
        CheckConstraint(
            _words("state", "raised", "acknowledged", "snoozed", "resolved"), name="ck_alert_state"
        ),
        Index(
            "uq_alert_open_dedupe",
            "dedupe",
            unique=True,
            sqlite_where=sql(_OPEN_ALERT),
            postgresql_where=sql(_OPEN_ALERT),
        ),
        _some("ix_alert_open", _OPEN_ALERT, "raised_at", "kind"),
        Index("ix_alert_dedupe", "dedupe"),
        Index("ix_alert_subject", "subject", "kind"),
        Index("ix_alert_raised_at", "raised_at"),
    )
    id: str = _key()
    dedupe: str = _text()
    kind: str = _text()
    subject: str = _text()
    severity: str = _text()
    title: str = _text()
    text: str = _text()
    state: str = _text()
    count: int
    raised_at: datetime = _when()
    updated_at: datetime = _when()
    acknowledged_by: str | None = _maybe_text()
    snoozed_until: datetime | None = _maybe_when()
    assigned_to: str | None = _maybe_text()
    resolved_at: datetime | None = _maybe_when()
    program: str | None = _maybe_text()


class CardRow(SQLModel, table=True):
    """A card of the directory. Ids are case-sensitive, as text is on both databases."""

    __tablename__ = "card"
    __table_args__ = (
        Index("ix_card_last4", "last4"),
        Index("ix_card_partner_ref", "partner_ref"),
        Index("ix_card_holder_key", "holder_key", "id"),
        Index("ix_card_status", "status", "holder_key", "id"),
        _some("ix_card_gone", "gone_at IS NOT NULL", "program", "gone_at"),
    )
    id: str = _key()
    program: str = _text()
    holder: str = _text()
    holder_key: str = _text()
    last4: str | None = _maybe_text()
    partner_ref: str | None = _maybe_text()
    status: str | None = _maybe_text()
    created_at: datetime | None = _maybe_when()
    balance_usd: Decimal | None = Field(sa_type=cast(Any, Money), nullable=True)
    balance_at: datetime | None = _maybe_when()
    seen_at: datetime = _when()
    gone_at: datetime | None = _maybe_when()
    mac: str | None = _maybe_text()  # of who the card is: None = written before labels were signed


class CardWordRow(SQLModel, table=True):
    """What people may begin to type for a card: the words of its holder, its last four and parts of its reference."""

    __tablename__ = "card_word"
    __table_args__ = (
        ForeignKeyConstraint(["card_id"], ["card.id"], name="fk_card_word_card"),
        Index("ix_card_word_word", "word", "card_id"),
    )
    card_id: str = _key()
    word: str = Field(primary_key=True, sa_type=cast(Any, _BY_BYTES))


class CardCountRow(SQLModel, table=True):
    """How many open cards of a program have a status ("" = none yet): the sum of `more` over its rows.

    Triggers of `card` add a row at each change of a card that people see (`more` may be 0); `storage.cards.card_counts`
    puts rows together. No row is changed, so nobody waits for anybody here.
    """

    __tablename__ = "card_count"
    id: int = Field(sa_column=Column("id", _BIG, primary_key=True))
    program: str = _text()
    status: str = _text()
    more: int


class CardSyncRow(SQLModel, table=True):
    """When a program's directory was last read whole."""

    __tablename__ = "card_sync"
    program: str = _key()
    synced_at: datetime = _when()
    count: int


class ReadingRow(SQLModel, table=True):
    """The last value read of something at the API: float, fees."""

    __tablename__ = "reading"
    program: str = _key()
    name: str = _key()
    value: Any = _json()
    read_at: datetime = _when()


class AuditRow(SQLModel, table=True):
    """One link of the audit chain. Triggers refuse UPDATE, DELETE and TRUNCATE."""

    __tablename__ = "audit"
    # To be searched by the beginning of a subject, byte by byte.
    __table_args__ = (
        Index("ix_audit_subject", "subject", "seq", postgresql_ops={"subject": "text_pattern_ops"}),
    )
    seq: int = Field(sa_column=Column("seq", _BIG, primary_key=True, autoincrement=False))
    at: datetime = _when()
    actor: str = _text()
    action: str = _text()
    subject: str = _text()
    outcome: str = _text()
    reason_code: str = _text()
    body: str = _text()
    policy_version: str = _text()
    prev: str = _text()
    hash: str = _text()
    mac: str = _text()


class AuditHeadRow(SQLModel, table=True):
    """The end of the chain; its only row is locked while a link is added."""

    __tablename__ = "audit_head"
    __table_args__ = (CheckConstraint("id = 1", name="ck_audit_head_one"),)
    id: int = Field(sa_column=Column("id", Integer, primary_key=True, autoincrement=False))
    seq: int = Field(sa_column=Column("seq", _BIG, nullable=False))
    hash: str = _text()


class RowSignatureRow(SQLModel, table=True):
    """What a row of a signed table is to be, or that there is to be none: see `storage.signed_rows`."""

    __tablename__ = "row_signature"
    table_name: str = _key()
    row_key: str = _key()
    version: int
    mac: str = _text()


def _table(model: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(model.__tablename__)]


meta = _table(MetaRow)
keycheck = _table(KeyCheckRow)
program = _table(ProgramRow)
person = _table(PersonRow)
person_role = _table(PersonRoleRow)
request = _table(RequestRow)
draft = _table(DraftRow)
decision = _table(DecisionRow)
attempt = _table(AttemptRow)
inbox = _table(InboxRow)
webhook_secret = _table(WebhookSecretRow)
purchase = _table(PurchaseRow)
purchase_event = _table(PurchaseEventRow)
relay_delivery = _table(RelayDeliveryRow)
reading_history = _table(ReadingHistoryRow)
lease = _table(LeaseRow)
rate_minute = _table(RateMinuteRow)
replica = _table(ReplicaRow)
cursor = _table(CursorRow)
alert_thread_line = _table(AlertThreadLineRow)
mute = _table(MuteRow)
person_card = _table(PersonCardRow)
dialog = _table(DialogRow)
unread_text = _table(UnreadTextRow)
pause = _table(PauseRow)
orphan_debit = _table(OrphanDebitRow)
held_endpoint = _table(HeldEndpointRow)
consent = _table(ConsentRow)
passkey = _table(PasskeyRow)
passkey_link = _table(PasskeyLinkRow)
home_view = _table(HomeViewRow)
card_reveal = _table(CardRevealRow)
outbox = _table(OutboxRow)
message = _table(MessageRow)
alert = _table(AlertRow)
card = _table(CardRow)
card_word = _table(CardWordRow)
card_count = _table(CardCountRow)
card_sync = _table(CardSyncRow)
reading = _table(ReadingRow)
audit = _table(AuditRow)
audit_head = _table(AuditHeadRow)
row_signature = _table(RowSignatureRow)
metadata = SQLModel.metadata
