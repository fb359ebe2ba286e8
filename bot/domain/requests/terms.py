"""The digest of a request's terms: what people approve is what is sent, to the byte.

The digest covers everything that is fixed when a request is made and that people read or rely on,
and a keyed MAC of the frozen body, which holds the private values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from bot.domain.money.amounts import plain
from bot.domain.requests.lifecycle import Request


def terms_digest(fixed: Mapping[str, Any]) -> str:
    """SHA-256 in hex over canonical JSON (sorted keys, no spaces, UTF-8). Values are JSON values."""
    canonical = json.dumps(dict(fixed), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"countersign-terms-v1\n" + canonical.encode()).hexdigest()


def fixed_at_submit(request: Request) -> dict[str, Any]:
    """What will be sent and what approvers read, as JSON values; all that a request's digest covers."""
    batch = {"rows": request.rows, "parent_id": request.parent_id}
    return {
        **{name: value for name, value in batch.items() if value is not None},
        "id": request.id,
        "program": request.program,
        "kind": request.kind,
        "subject": request.subject,
        "subject_label": request.subject_label,
        "summary": request.summary,
        "requester": request.requester,
        "requester_name": request.requester_name,
        "reason": request.reason,
        "terms": dict(request.terms),
        "exposure_usd": plain(request.exposure_usd.normalize()),
        "key": request.key,
        "body_mac": request.body_mac,
        "approvals_needed": request.approvals_needed,
        "policy_version": request.policy_version,
        "created_at": request.created_at.isoformat(),
        "expires_at": request.expires_at.isoformat(),
        "facts": dict(request.facts),
    }


def mask_phone(phone: str) -> str:
    """`••••4567`: enough to recognise, not enough to call."""
    return "••••" + phone[-4:] if len(phone) > 6 else "••••"


def mask_email(email: str) -> str:
    """`a•••@•••.com`"""
    local, _, domain = email.partition("@")
    return f"{local[:1]}•••@•••.{domain.rpartition('.')[2]}"
