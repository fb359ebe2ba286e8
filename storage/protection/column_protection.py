"""Why whoever can write to the database, and has no master key, gains nothing by changing a column.

Every column of every table is here, in one of four classes: sealed, signed, chained, or harmless with the reason. A
test walks the tables, so that no column is added without a class; docs/security.md draws its table from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from storage.protection import SIGNED_TABLES
from storage.sealed_columns import SEALED_COLUMNS


class Class(StrEnum):
    """How a column is protected."""

    SEALED = "sealed"
    SIGNED = "signed"
    CHAINED = "chained"
    HARMLESS = "harmless"


@dataclass(frozen=True, slots=True)
class Protection:
    """The class of a column, and in a sentence what stops whoever changes it."""

    by: Class
    why: str


_SEALED = Protection(Class.SEALED, "encrypted for this cell alone; moved or changed it does not open")
_BOUND = Protection(
    Class.SEALED, "bound to the sealed key of the row, which does not open with another value"
)
_SIGNED_ROW = Protection(Class.SIGNED, "the row's signature in row_signature covers it")
_PASSKEY = Protection(
    Class.SEALED, "sealed with the public key; a passkey whose row says otherwise does not count"
)
_DIGEST = Protection(
    Class.SIGNED, "the request's keyed fingerprint covers it, and it is checked before each send"
)
_DECISION = Protection(Class.SIGNED, "the decision's MAC covers it")
_LABEL = Protection(
    Class.SIGNED,
    "the card's MAC covers it, and the card provider is asked who the card is before each send; no call of the API"
    " changes it, so an older row of the card has the same",
)
_MAC = Protection(Class.SIGNED, "it is the MAC itself")
_KEY_OF_SIGNED = Protection(Class.SIGNED, "the signature names the row, so it fits no other")
_CHAIN = Protection(Class.CHAINED, "the entry's hash and MAC cover it")


def _harmless(why: str) -> Protection:
    return Protection(Class.HARMLESS, why)


_PROGRESS = _harmless("when it is due and who works on it: it can stop or delay a send, and causes none")
_CALLS = Protection(
    Class.CHAINED,
    "each entry of the audit log has how it left this, and a step that follows from something else is refused",
)
_ENDED = Protection(
    Class.CHAINED,
    "the entry by which a request ends has the fingerprint of it, and `audit verify --deep` compares it; of one that is"
    " open it is a text for people",
)
_FENCE = _harmless(
    "for people, and to see who made a call; what follows from the calls is held against the audit log"
)
_SHOWN = _harmless("a text for people about what is over; the audit chain keeps what was done")
_FACT = _harmless("what the card provider said; it is read again, and nothing is sent by it")
_EVENT = _harmless(
    "names an event that gives nobody money, a key or a code; the sealed payload does not fit another"
)
_DRAWN = _harmless("drawn for people, or counted for pages; the decision is made from the request itself")
_MESSAGE = _harmless(
    "says which facts are drawn where, and the text is drawn at that moment; a link to card details goes to its"
    " requester alone, whatever the row says"
)
_DIALOG = _harmless("fills a form at most, which its writer checks and a second person approves")
_LEASE = _harmless(
    "two processes that both work send under the same idempotency key; one that is for longer than two minutes from now"
    " counts for nothing, and one of no process that is written again and again is taken by force, with an alert; a"
    " count that nothing comes to begins again"
)
_BEAT = _harmless("says that a process works, for people; of a time to come it counts for nothing")
_ALERT = _harmless("an alert may be hidden, or say something wrong; the audit chain keeps what was raised")

#: By table, then by column. What `SEALED_COLUMNS` and `SIGNED_TABLES` tell already is not written again.
_OTHERS: Mapping[str, Mapping[str, Protection]] = {
    "meta": {
        "name": _harmless("without the installation's name nothing sealed opens, so the bot does not start"),
        "value": _harmless("with another name nothing sealed opens, so the bot does not start"),
    },
    "keycheck": {
        "kid": _harmless("a mark for another key is not believed: the audit log says which keys are needed"),
        "sealed": _SEALED,
    },
    "program": {
        "base_url": _BOUND,
        "key_version": _BOUND,
        "key_prefix": _harmless("shown to operators so that they know the key; the key itself is sealed"),
        "paused_reason": _harmless("the sentence of a pause that the key itself causes"),
        "paused_at": _harmless("ended by hand, the card provider refuses the key again at the next call"),
        "created_at": _SHOWN,
        "updated_at": _SHOWN,
    },
    "orphan_debit": dict.fromkeys(
        ("program", "reference", "amount_usd", "kind", "card_id", "booked_at", "found_at", "listed_at"),
        _harmless(
            "what an older version has found; the first start of this one puts it on record, and nothing reads it after"
            " that: limits, the list of safe mode and its sentence are of the audit log"
        ),
    ),
    "passkey": {
        **dict.fromkeys(("id", "slack_id", "credential_id", "state", "version"), _PASSKEY),
        **dict.fromkeys(("name", "added_at", "used_at", "ended_at"), _SHOWN),
        **dict.fromkeys(
            ("created_at", "ended_why"),
            _harmless("how many passkeys a person makes a day; others confirm each of them before it counts"),
        ),
    },
    "passkey_link": {
        **dict.fromkeys(
            (
                *("token_digest", "slack_id", "purpose", "subject", "version", "digest", "nonce", "terms"),
                *("view_id", "made_at", "expires_at", "page_digest", "spent_at"),
            ),
            Protection(
                Class.SIGNED,
                "the link's MAC covers it, and a link that was changed opens no page; that it was used is on record, so"
                " its row of before opens none either",
            ),
        ),
        "mac": _MAC,
    },
    "person": dict.fromkeys(
        (
            *("slack_id", "name", "real_name", "team_id", "is_restricted", "is_ultra_restricted"),
            *("is_stranger", "is_bot", "deleted", "tz", "checked_at"),
        ),
        _harmless(
            "a copy for names in sentences; who may decide is asked of Slack at the click and before the send"
        ),
    ),
    "person_role": dict.fromkeys(
        ("slack_id", "role", "source", "seen_at"),
        _harmless(
            "a copy of who was in a role; who may decide is asked of Slack at the click and before the send"
        ),
    ),
    "request": {
        **dict.fromkeys(
            (
                *("id", "program", "kind", "requester", "requester_name", "reason", "terms", "subject"),
                *("subject_label", "summary", "exposure_usd", "key", "approvals_needed", "policy_version"),
                *("created_at", "expires_at", "facts", "rows", "parent_id"),
            ),
            _DIGEST,
        ),
        "break_glass": Protection(
            Class.SIGNED, "a send without approvals needs the requester's signed decision, whatever it says"
        ),
        "digest": _MAC,
        "body_mac": Protection(Class.SIGNED, "it is the MAC of the sealed body, compared before each send"),
        "approved_at": Protection(Class.SIGNED, "compared with the time under the deciding approval's MAC"),
        "valid_until": Protection(
            Class.SIGNED,
            "compared with the time under the deciding approval's MAC before each send, and with the audit log every"
            " minute",
        ),
        "state": Protection(
            Class.CHAINED,
            "an approval counts, and a send happens, only where the audit log has the same; `audit verify --deep`"
            " compares it",
        ),
        "version": Protection(
            Class.CHAINED,
            "each audit entry of the request names it: a lower one is found; a stale one changes nothing",
        ),
        **dict.fromkeys(("due_at", "remind_at", "needs_person", "purged_at"), _PROGRESS),
        **dict.fromkeys(("attempts", "fence", "lease_owner", "lease_until"), _LEASE),
        **dict.fromkeys(("first_sent_at", "key_expires_at", "outcome_unknown", "outcome"), _CALLS),
        **dict.fromkeys(("outcome_text", "finished_at", "stage"), _ENDED),
    },
    "draft": dict.fromkeys(
        ("id", "owner", "kind", "program", "created_at"),
        _harmless(
            "a form that is not submitted yet: what comes of it is shown to and approved by a second person"
        ),
    ),
    "decision": {
        **dict.fromkeys(
            (
                *("id", "request_id", "kind", "actor", "requester", "verdict"),
                *("digest", "policy_version", "decided_at", "conditions"),
            ),
            _DECISION,
        ),
        **dict.fromkeys(
            ("actor_name", "reason"),
            Protection(
                Class.CHAINED,
                "the entry of the decision has its fingerprint, and `audit verify --deep` compares it; nothing is sent"
                " by it",
            ),
        ),
        "assertion": Protection(
            Class.SIGNED, "the device of the approver signed it, and it is checked again before each send"
        ),
        "mac": _MAC,
    },
    "attempt": {
        **dict.fromkeys(("id", "owner", "detail"), _SHOWN),
        **dict.fromkeys(
            (
                *("request_id", "number", "purpose", "sent_at"),
                *("status", "code", "finding"),
            ),
            _CALLS,
        ),
        "answered_at": Protection(
            Class.CHAINED, "that it was answered is on record, and held against it; the time is for people"
        ),
        **dict.fromkeys(("fence", "certainty"), _FENCE),
    },
    "inbox": dict.fromkeys(
        (
            *("event_id", "program", "type", "created_at", "received_at", "source", "state"),
            *("processed_at", "attempts", "retry_at"),
        ),
        _EVENT,
    ),
    "webhook_secret": {
        "program": _SEALED,
        "version": _BOUND,
        **dict.fromkeys(
            ("state", "until"),
            Protection(
                Class.CHAINED,
                "a secret counts by the audit log alone, which has when it was made, replaced and dropped; the row is"
                " compared with it every minute",
            ),
        ),
        "since": _SHOWN,
    },
    "purchase": dict.fromkeys(
        ("program", "transaction_id", "card_id", "merchant", "state", "picture", "updated_at"), _FACT
    ),
    "purchase_event": dict.fromkeys(
        ("event_id", "program", "transaction_id", "card_id", "kind", "occurred_at", "facts"), _FACT
    ),
    "relay_delivery": {
        **dict.fromkeys(
            ("id", "state", "attempts", "due_at", "last_error", "created_at", "sent_at"),
            _harmless(
                "a copy of an event is sent to its destination under its id again, later or not, as a repeat may be"
            ),
        ),
        **dict.fromkeys(("destination", "event_id"), _BOUND),
    },
    "reading_history": dict.fromkeys(("program", "name", "read_at", "value"), _FACT),
    "lease": dict.fromkeys(("name", "owner", "until"), _LEASE),
    "rate_minute": dict.fromkeys(
        ("key_prefix", "minute"),
        _harmless("the pace of calls: the card provider refuses what is too fast, and it is tried again"),
    ),
    "replica": dict.fromkeys(("owner", "roles", "started_at", "beat_at"), _BEAT),
    "cursor": dict.fromkeys(("program", "name", "value", "updated_at"), _FACT),
    "alert_note": dict.fromkeys(("alert_id", "n", "at", "actor", "text"), _ALERT),
    "held_endpoint": dict.fromkeys(
        ("program", "endpoint", "message", "since"),
        _harmless("let go by hand, the card provider refuses the call again"),
    ),
    "home_view": dict.fromkeys(("slack_id", "opened_at", "published_at", "fingerprint"), _DRAWN),
    "dialog": dict.fromkeys(
        (
            *("team_id", "channel_id", "thread_ts", "user_id", "id", "intent", "asked_slot", "candidates"),
            *("last_card_id", "misses", "version", "created_at", "expires_at"),
        ),
        _DIALOG,
    ),
    "unread_text": dict.fromkeys(("id", "said_at"), _SHOWN),
    "outbox": {
        **dict.fromkeys(
            (
                *("id", "channel", "user", "kind", "subject", "dedupe", "state", "due_at"),
                *("attempts", "last_error", "created_at", "sent_at"),
            ),
            _MESSAGE,
        ),
        "body": _harmless(
            "a line of a thread may say something wrong; what people approve is drawn from the request itself"
        ),
    },
    "message": dict.fromkeys(("subject", "kind", "channel", "ts", "posted_at", "drawn_version"), _MESSAGE),
    "alert": dict.fromkeys(
        (
            *("id", "dedupe", "kind", "subject", "severity", "title", "text", "state", "count", "raised_at"),
            *("updated_at", "acknowledged_by", "snoozed_until", "assigned_to", "resolved_at", "program"),
        ),
        _ALERT,
    ),
    "card": {
        **dict.fromkeys(("id", "program", "holder", "last4", "partner_ref"), _LABEL),
        "mac": _MAC,
        "holder_key": _DRAWN,
        **dict.fromkeys(("status", "created_at", "balance_usd", "balance_at", "seen_at", "gone_at"), _FACT),
    },
    "card_word": dict.fromkeys(
        ("card_id", "word"),
        _harmless("which card a word finds; the form and the approval show whose card it is"),
    ),
    "card_count": dict.fromkeys(("id", "program", "status", "more"), _DRAWN),
    "card_sync": dict.fromkeys(("program", "synced_at", "count"), _FACT),
    "reading": dict.fromkeys(
        ("program", "name", "value", "read_at"),
        _harmless("by its name: see the table of readings"),
    ),
    "audit": {
        **dict.fromkeys(
            (
                "seq",
                "at",
                "actor",
                "action",
                "subject",
                "outcome",
                "reason_code",
                "body",
                "policy_version",
                "prev",
            ),
            _CHAIN,
        ),
        "hash": _CHAIN,
        "mac": _CHAIN,
    },
    "audit_head": {
        "id": _CHAIN,
        "seq": Protection(Class.CHAINED, "compared with the chain's last entry and with anchors outside"),
        "hash": Protection(Class.CHAINED, "compared with the chain's last entry and with anchors outside"),
    },
    "row_signature": {
        **dict.fromkeys(("table_name", "row_key", "version"), Protection(Class.SIGNED, "its MAC covers it")),
        "mac": _MAC,
    },
}


_BUILT_UPON = Protection(
    Class.SIGNED,
    "its MAC covers it; one that is changed, put back or taken out is built upon no more: all that came in since the"
    " first reading, which is on record, is looked at again",
)
_SEEN = _harmless(
    "what was reported already: an alert may be hidden or come again, and nothing is sent by it"
)
_QUEUED = _harmless("what is to be read soon: it is read a little later or once more")
_NAMES = _harmless("what names and destinations were last: a change of them is reported again, or not")
#: Of the table `reading`, by how the name begins that a row has: what somebody gains who writes another value there, a
#: later or an earlier one, or takes it out.
READINGS: Mapping[str, Protection] = {
    "ledger_watch": _BUILT_UPON,
    "looked_in_safe_mode": Protection(
        Class.SIGNED,
        "its MAC covers it; without it what was seen in an earlier safe mode is taken for new, and safe mode begins"
        " again",
    ),
    "look:": Protection(Class.SIGNED, "its MAC covers it with a time, which is over within seconds"),
    "me": _FACT,
    "funding:": _FACT,
    "funding_watch": _SEEN,
    "card_watch": _SEEN,
    "float_watch": _SEEN,
    "seen:": _SEEN,
    "alert:": _SEEN,
    "others_reported": _SEEN,
    "refused_deliveries:": _SEEN,
    "owed_card:": _QUEUED,
    "owed_balance:": _QUEUED,
    "owed_account": _QUEUED,
    "polled:": _harmless("when something was read last, for people"),
    "digest": _harmless("the digest of a day is posted once more or not, and may say something wrong"),
    "webhook_repeated": _harmless(
        "that deliveries come: a form says so to people, as do the events that were stored"
    ),
    "slack_names": _harmless("a name that was resolved once keeps the id that the audit log has"),
    "delegations": _harmless("what was reported last; delegations themselves are in the reviewed file"),
    "relay_destinations": _NAMES,
    "held_since_start": _harmless(
        "what other processes and messages say of why sending waits; each process holds by its own memory"
    ),
    "request_unseen/": _harmless(
        "that nothing more is sent of a request whose message a start did not find in Slack, after an older copy was"
        " put in place; whoever takes it out has that request sent as it was approved"
    ),
    "looked_at_start": _harmless(
        "which processes have looked for messages at their start; one counts while it is at work on this very database"
    ),
    "slack_unread_since": _harmless(
        "where a start looks in Slack for what an older copy does not know; anchors outside the database show it, too"
    ),
    "channels_named": _harmless(
        "where a start looks in Slack beside the channels of the settings; anchors outside the database show it, too"
    ),
}


def protections() -> Iterator[tuple[str, str, Protection]]:
    """Table, column and protection of every column that has a class, in the order of `_OTHERS`, then the signed."""
    for table, columns in _OTHERS.items():
        for column, protection in columns.items():
            yield table, column, protection
    for sealed in SEALED_COLUMNS:
        yield sealed.table.name, sealed.column, _SEALED
    for signed in SIGNED_TABLES:
        if signed.key not in _OTHERS.get(signed.name, {}):
            yield signed.name, signed.key, _KEY_OF_SIGNED
        for column in signed.columns:
            yield signed.name, column, _SIGNED_ROW


def of_table(table: str) -> dict[str, Protection]:
    """The protection of each column of a table, by column."""
    return {column: protection for name, column, protection in protections() if name == table}
