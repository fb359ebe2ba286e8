"""What plans are drawn from: kinds of requests, calls of the API and of Slack, refusals, points to die at."""

from __future__ import annotations

from typing import Any

ASK, DECIDE = "ask", "decide"
KINDS = (
    "card_topup",
    "card_order",
    "card_unload",
    "card_close",
    "card_limits",
    "card_phone",
    "card_3ds",
    "card_freeze",
    "card_unfreeze",
    "card_reveal",
    "fees_markup",
    "funding_submit",
    "deposit_quote",
    "event_redeliver",
    "webhook_register",
    "webhook_rotate",
)
ENDPOINTS = {
    "card_order": "POST /cards",
    "card_topup": "POST /cards/{cardId}/topup",
    "card_unload": "POST /cards/{cardId}/unload",
    "card_close": "POST /cards/{cardId}/close",
    "card_limits": "PUT /cards/{cardId}/limits",
    "card_phone": "PUT /cards/{cardId}/phone",
    "card_3ds": "PUT /cards/{cardId}/3ds",
    "fees_markup": "PUT /fees",
    "event_redeliver": "POST /events/{eventId}/redeliver",
    "deposit_quote": "POST /deposits",
    "card_freeze": "POST /cards/{cardId}/freeze",
    "card_unfreeze": "POST /cards/{cardId}/freeze",
    "funding_submit": "POST /funding",
    "webhook_register": "PUT /webhook",
    "webhook_rotate": "PUT /webhook",
}
READS = (
    "GET /me",
    "GET /float",
    "GET /cards",
    "GET /cards/{cardId}",
    "GET /ledger",
    "GET /events",
    "GET /funding",
)
# Of network troubles: the names of calls that they may be about.
PATHS = ("topup", "freeze", "close", "unload", "POST /cards", "PUT", "POST", "GET /ledger", "GET", "")
SLACK_METHODS = (
    "chat.postMessage",
    "chat.update",
    "usergroups.list",
    "users.info",
    "conversations.open",
    "views.open",
    "",
)
# What cardholders do with their cards, and merchants with it.
PURCHASES = ("purchase", "purchase", "decline", "settle", "settle", "reverse", "refund", "3ds")
REFUSALS = (
    "invalid_auth",
    "not_in_channel",
    "is_archived",
    "token_revoked",
    "internal_error",
    "invalid_blocks",
)
CRASH_POINTS = (
    "execution.before_claim",
    "execution.claimed",
    "execution.answered",
    "execution.finishing",
    "execution.finished",
    "outbox.sending",
    "outbox.sent",
    "submit.before_commit",
    "submit.committed",
    "approve.received",
    "approve.before_commit",
    "approve.committed",
    "inbox.verified",
    "inbox.stored",
    "inbox.handled",
    "backfill.read",
    "relay.taken",
    "relay.sent",
)
API_FAULTS: tuple[dict[str, Any], ...] = (
    {"effect": "drop_before_commit"},
    {"effect": "drop_after_commit"},
    {"effect": "drop_midway"},
    {"effect": "garbage"},
    *(
        {"effect": "processor", "processor": code}
        for code in ("400", "401", "403", "5xx", "capacity", "timeout")
    ),
    {"effect": "status", "status": 400, "code": "BAD_REQUEST"},
    {"effect": "status", "status": 402, "code": "INSUFFICIENT_FUNDS"},
    {"effect": "status", "status": 404, "code": "NOT_FOUND"},
    {"effect": "status", "status": 409, "code": "QUOTA"},
    {"effect": "status", "status": 500, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 502, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 503, "code": "UPSTREAM_AUTH"},
    {"effect": "status", "status": 429, "code": "RATE_LIMITED"},
    {"effect": "status", "status": 401, "code": "UNAUTHORIZED"},
    {"effect": "status", "status": 403, "code": "FORBIDDEN"},
)
# Seconds before a step; 0 is in the middle of what goes on.
WAITS = (0.0, 0.0, 0.02, 0.3, 2.0, 6.0, 20.0, 70.0, 200.0, 1000.0)
FREQUENT = (6, 4, 3, 3, 3, 3, 3, 2, 1, 1)
