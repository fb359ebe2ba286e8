"""The digest of a request's terms: what people approve is what is sent, to the byte.

The digest covers everything that is fixed when a request is made and that people read or rely on,
and a keyed MAC of the frozen body, which holds the private values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bot.domain.money import plain
from bot.domain.requests.lifecycle import Request

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
# Everything else of a request may change after it was made: its state, its times, its outcome.
COVERED = frozenset(
    {
        "id",
        "program",
        "kind",
        "subject",
        "subject_label",
        "summary",
        "requester",
        "requester_name",
        "reason",
        "terms",
        "exposure_usd",
        "key",
        "body_mac",
        "approvals_needed",
        "policy_version",
        "created_at",
        "expires_at",
        "facts",
        "rows",
        "parent_id",
    }
)


def request_digest(request: Request) -> str:
    """The digest of the `COVERED` fields: what will be sent and what approvers read.

    Stored digests are made of these very bytes: a field of a request of one card (`rows` and `parent_id` are
    None) is not in them, an amount is plain text without needless zeros, a time is ISO 8601.
    """
    fields = {name: getattr(request, name) for name in COVERED}
    fields |= {
        "terms": dict(request.terms),
        "facts": dict(request.facts),
        "exposure_usd": plain(request.exposure_usd.normalize()),
        "created_at": request.created_at.isoformat(),
        "expires_at": request.expires_at.isoformat(),
    }
    return terms_digest({name: value for name, value in fields.items() if value is not None})


def terms_digest(fixed: Mapping[str, Any]) -> str:
    """SHA-256 in hex over canonical JSON (sorted keys, no spaces, UTF-8). Values are JSON values."""
    return hashlib.sha256(b"countersign-terms-v1\n" + _CANONICAL.encode(dict(fixed)).encode()).hexdigest()


def mask_phone(phone: str) -> str:
    """`••••4567`: enough to recognise, not enough to call."""
    return "••••" + phone[-4:] if len(phone) > 6 else "••••"


def mask_email(email: str) -> str:
    """`a•••@•••.com`"""
    local, _, domain = email.partition("@")
    return f"{local[:1]}•••@•••.{domain.rpartition('.')[2]}"
