"""Indexes that each database has in words of its own, most of them of some rows alone: for searches that say the
condition in the same words.

Only migrations, and the test that compares them with what is declared, import this: for such words SQLAlchemy loads
the dialects of both databases.
"""

from __future__ import annotations

from sqlalchemy import Index, Table, text

from storage import tables as t
from storage.tables import metadata

__all__ = ["metadata"]

_TOP = "parent_id IS NULL"
_OPEN_ALERT = "state <> 'resolved'"


def _some(table: Table, name: str, where: str, *columns: str, unique: bool = False) -> None:
    rows = text(where)
    found = [table.c[column] for column in columns]
    Index(name, *found, unique=unique, sqlite_where=rows, postgresql_where=rows)


def _once(table: Table, name: str, where: str, *columns: str) -> None:
    _some(table, name, where, *columns, unique=True)


_some(t.request, "ix_request_parent_id", "parent_id IS NOT NULL", "parent_id")
# Pages of requests, a batch standing for its rows: each search is the front of one of these.
_some(t.request, "ix_request_page", _TOP, "created_at", "id")
_some(t.request, "ix_request_page_state", _TOP, "state", "created_at", "id")
_some(t.request, "ix_request_page_requester", _TOP, "requester", "state", "created_at", "id")
_some(t.request, "ix_request_page_kind", _TOP, "kind", "state", "created_at", "id")
_some(t.request, "ix_request_unpurged", "purged_at IS NULL", "created_at")
_some(t.request, "ix_request_in_doubt", "outcome_unknown", "finished_at")
# Once for each person, but for the outcome of an unresolved request: that can be corrected.
_once(t.decision, "uq_decision_once", "kind <> 'resolve'", "request_id", "kind", "actor")
_some(t.inbox, "ix_inbox_kept_payload", "sealed_payload IS NOT NULL", "processed_at")
_once(t.webhook_secret, "uq_webhook_secret_current", "state = 'current'", "program")
_once(t.consent, "uq_consent_open", "state = 'open'", "kind", "subject")
_once(t.alert, "uq_alert_open_dedupe", _OPEN_ALERT, "dedupe")
_some(t.alert, "ix_alert_open", _OPEN_ALERT, "raised_at", "kind")
_some(t.card, "ix_card_gone", "gone_at IS NOT NULL", "program", "gone_at")
# To be searched by the beginning of a subject, byte by byte.
Index("ix_audit_subject", t.audit.c.subject, t.audit.c.seq, postgresql_ops={"subject": "text_pattern_ops"})
